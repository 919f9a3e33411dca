//! What a job's failure policy says of a failed pod.

use k8s_openapi::api::batch::v1::{PodFailurePolicy, PodFailurePolicyOnExitCodesRequirement as ExitCodes};
use k8s_openapi::api::core::v1::{ContainerStatus, Pod, PodStatus};

/// The first rule that speaks of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Matched {
    pub(super) action: String,
    pub(super) message: String,
}

pub(super) fn matched(policy: &PodFailurePolicy, pod: &Pod) -> Option<Matched> {
    let status = pod.status.as_ref()?;
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let name = format!("{}/{}", text(&pod.metadata.namespace), text(&pod.metadata.name));
    policy.rules.iter().enumerate().find_map(|(index, rule)| {
        let action = rule.action.clone();
        if let Some(codes) = &rule.on_exit_codes {
            let (container, code) = exit(status, codes)?;
            let message = format!(
                "Container {container} for pod {name} failed with exit code {code} matching {action} rule at index {index}"
            );
            return Some(Matched { action, message });
        }
        let patterns = rule.on_pod_conditions.iter().flatten();
        let mut kinds = patterns.filter(|pattern| {
            let wanted = pattern.status.as_deref().unwrap_or("True");
            let mut conditions = status.conditions.iter().flatten();
            conditions.any(|condition| condition.type_ == pattern.type_ && condition.status == wanted)
        });
        let kind = &kinds.next()?.type_;
        let message = format!("Pod {name} has condition {kind} matching {action} rule at index {index}");
        Some(Matched { action, message })
    })
}

/// The first container that failed with one of the codes.
fn exit<'a>(status: &'a PodStatus, codes: &ExitCodes) -> Option<(&'a str, i32)> {
    let containers = status.container_statuses.iter().chain(&status.init_container_statuses).flatten();
    let meant = containers
        .filter(|container| codes.container_name.as_ref().is_none_or(|name| *name == container.name));
    let code = |container: &ContainerStatus| {
        let code = container.state.as_ref()?.terminated.as_ref()?.exit_code;
        let listed = codes.values.contains(&code);
        (code != 0 && listed == (codes.operator == "In")).then_some(code)
    };
    meant.filter_map(|container| Some((&*container.name, code(container)?))).next()
}
