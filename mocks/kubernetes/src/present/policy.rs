//! Rows of autoscalers, admission and flow control.

use serde_json::Value;

use super::view::{Cells, View};

pub(super) fn printer(shelf: &str) -> Option<fn(View<'_>) -> Cells> {
    Some(match shelf {
        "horizontalpodautoscalers.autoscaling" => autoscaler,
        "mutatingwebhookconfigurations.admissionregistration.k8s.io"
        | "validatingwebhookconfigurations.admissionregistration.k8s.io" => {
            |view| vec![view.name(), view.count("/webhooks").into(), view.age()]
        }
        "validatingadmissionpolicies.admissionregistration.k8s.io" => admission_policy,
        "validatingadmissionpolicybindings.admissionregistration.k8s.io" => admission_binding,
        "flowschemas.flowcontrol.apiserver.k8s.io" => flow_schema,
        "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io" => priority_level,
        _ => return None,
    })
}

fn autoscaler(view: View<'_>) -> Cells {
    let target = view.part(view.at("/spec/scaleTargetRef").unwrap_or(&Value::Null));
    vec![
        view.name(),
        format!("{}/{}", target.text("/kind"), target.text("/name")).into(),
        metrics(view).into(),
        view.plain("/spec/minReplicas", "<unset>").into(),
        view.number("/spec/maxReplicas").into(),
        view.number("/status/currentReplicas").into(),
        view.age(),
    ]
}

/// Current and wanted values of an autoscaler's metrics, in the form of either version.
fn metrics(view: View<'_>) -> String {
    if let Some(wanted) = view.at("/spec/targetCPUUtilizationPercentage") {
        let now = view.at("/status/currentCPUUtilizationPercentage");
        let now = now.map_or_else(|| "<unknown>".to_owned(), |now| format!("{now}%"));
        return format!("cpu: {now}/{wanted}%");
    }
    let all: Vec<String> = view
        .list("/spec/metrics")
        .iter()
        .enumerate()
        .map(|(index, spec)| {
            let current = view.list("/status/currentMetrics").get(index).unwrap_or(&Value::Null);
            metric(view.part(spec), view.part(current))
        })
        .collect();
    match &all[..] {
        [] => "<none>".to_owned(),
        [first, second, rest @ ..] if !rest.is_empty() => {
            format!("{first}, {second} + {} more...", rest.len())
        }
        all => all.join(", "),
    }
}

fn metric(spec: View<'_>, status: View<'_>) -> String {
    let key = match spec.text("/type") {
        "External" => "external",
        "Pods" => "pods",
        "Object" => "object",
        "Resource" => "resource",
        "ContainerResource" => "containerResource",
        _ => return "<unknown type>".to_owned(),
    };
    let current = |field: &str| status.plain(&format!("/{key}/current/{field}"), "<unknown>");
    let target = |field: &str, word: &str| spec.plain(&format!("/{key}/target/{field}"), word);
    let average = spec.at(&format!("/{key}/target/averageValue")).is_some();
    match key {
        "resource" | "containerResource" => {
            let name = spec.text(&format!("/{key}/name"));
            if average {
                return format!("{name}: {}/{}", current("averageValue"), target("averageValue", ""));
            }
            let percent = |text: String| if text.starts_with('<') { text } else { format!("{text}%") };
            let wanted = percent(target("averageUtilization", "<auto>"));
            format!("{name}: {}/{wanted}", percent(current("averageUtilization")))
        }
        "pods" => format!("{}/{}", current("averageValue"), target("averageValue", "0")),
        _ if average => format!("{}/{} (avg)", current("averageValue"), target("averageValue", "")),
        _ => format!("{}/{}", current("value"), target("value", "0")),
    }
}

fn admission_policy(view: View<'_>) -> Cells {
    let kind = view.at("/spec/paramKind").map(|kind| view.part(kind));
    let kind = kind.map(|kind| format!("{}/{}", kind.text("/apiVersion"), kind.text("/kind")));
    let kind = kind.unwrap_or_else(|| "<unset>".to_owned());
    vec![view.name(), view.count("/spec/validations").into(), kind.into(), view.age()]
}

fn admission_binding(view: View<'_>) -> Cells {
    let parameter = view.at("/spec/paramRef").map(|parameter| view.part(parameter));
    let parameter = match parameter.map(|one| (one.or("/namespace", "*"), one.text("/name"), one)) {
        Some((_, "", one)) if one.at("/selector").is_some() => one.selector("/selector"),
        None | Some((_, "", _)) => "<unset>".to_owned(),
        Some((namespace, name, _)) => format!("{namespace}/{name}"),
    };
    vec![view.name(), view.text("/spec/policyName").into(), parameter.into(), view.age()]
}

fn flow_schema(view: View<'_>) -> Cells {
    vec![
        view.name(),
        view.text("/spec/priorityLevelConfiguration/name").into(),
        view.number("/spec/matchingPrecedence").into(),
        view.or("/spec/distinguisherMethod/type", "<none>").into(),
        view.age(),
        view.condition("/status/conditions", "Dangling").unwrap_or("?").into(),
    ]
}

fn priority_level(view: View<'_>) -> Cells {
    let or_none = |pointer: &str| view.at(pointer).cloned().unwrap_or_else(|| "<none>".into());
    vec![
        view.name(),
        view.text("/spec/type").into(),
        or_none("/spec/limited/nominalConcurrencyShares"),
        or_none("/spec/limited/limitResponse/queuing/queues"),
        or_none("/spec/limited/limitResponse/queuing/handSize"),
        or_none("/spec/limited/limitResponse/queuing/queueLengthLimit"),
        view.age(),
    ]
}
