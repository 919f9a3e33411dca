//! Eviction: a deletion that asks the disruption budgets first.

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Pod, PodCondition};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time as MetaTime};
use serde_json::Value;

use super::{Api, Delete, Target, Write, read};
use crate::selector::Selector;
use crate::status::Status;

/// More pods than this are not kept under "being evicted": the controller of budgets must catch up first.
const DISRUPTED_MAX: usize = 2000;

impl Api {
    /// Evicts a pod, if the budgets that cover it let it go.
    pub(crate) fn evict(&self, target: &Target<'_>, delete: &Delete, write: &Write) -> Result<(), Status> {
        let pods = Target { subresource: "", ..*target };
        let object = self.get(&pods).ok_or_else(|| pods.not_found())?;
        let pod: Pod = read(&object).ok_or_else(|| Status::internal("the pod cannot be read"))?;
        if !ignores_budgets(&pod) {
            self.ask_budgets(target, &pod, write)?;
        }
        if !write.dry_run {
            self.tell_disruption(&pods, write)?;
        }
        let mut delete = delete.clone();
        if delete.preconditions.uid.is_none() {
            delete.preconditions.uid = pod.metadata.uid;
        }
        self.delete(&pods, &delete, write).map(|_| ())
    }

    /// Writes down why the pod goes, before it does.
    fn tell_disruption(&self, pods: &Target<'_>, write: &Write) -> Result<(), Status> {
        let now = Timestamp::from(self.now());
        let place = (pods.namespace, pods.name, "status");
        let told = self.edit::<Pod>(place, write, |pod| {
            let conditions = pod.status.get_or_insert_default().conditions.get_or_insert_default();
            let mut evicted = PodCondition {
                type_: "DisruptionTarget".to_owned(),
                status: "True".to_owned(),
                reason: Some("EvictionByEvictionAPI".to_owned()),
                message: Some("Eviction API: evicting".to_owned()),
                last_transition_time: Some(MetaTime(now)),
                ..PodCondition::default()
            };
            match conditions.iter_mut().find(|condition| condition.type_ == evicted.type_) {
                Some(found) => {
                    if found.status == evicted.status {
                        evicted.last_transition_time = found.last_transition_time.take();
                    }
                    *found = evicted;
                }
                None => conditions.push(evicted),
            }
            Ok(())
        });
        told.map(|_| ())
    }

    fn ask_budgets(&self, target: &Target<'_>, pod: &Pod, write: &Write) -> Result<(), Status> {
        let budgets = self.budgets_of(pod);
        let budget = match &budgets[..] {
            [] => return Ok(()),
            [one] => one,
            _ => {
                return Err(Status::plain(
                    "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
                ));
            }
        };
        if is_ready(pod) || !spares_unready(budget) {
            self.take_one(target, budget, write)?;
        }
        Ok(())
    }

    /// The budgets of the namespace whose selector covers the pod. No selector covers nothing, an empty one all.
    fn budgets_of(&self, pod: &Pod) -> Vec<PodDisruptionBudget> {
        let namespace = pod.metadata.namespace.as_deref().unwrap_or_default();
        let labels = pod.metadata.labels.clone().unwrap_or_default();
        let covers = |budget: &PodDisruptionBudget| {
            let selector = budget.spec.as_ref().and_then(|spec| spec.selector.as_ref());
            selector.is_some()
                && Selector::from_typed(selector).is_ok_and(|selector| selector.matches(&labels))
        };
        self.read_all::<PodDisruptionBudget>(namespace).into_iter().filter(covers).collect()
    }

    /// Takes one disruption from a budget and writes down for whom.
    fn take_one(
        &self,
        target: &Target<'_>,
        budget: &PodDisruptionBudget,
        write: &Write,
    ) -> Result<(), Status> {
        let name = budget.metadata.name.as_deref().unwrap_or_default();
        let now = Timestamp::from(self.now());
        let place = (target.namespace, name, "status");
        self.edit::<PodDisruptionBudget>(place, write, |budget| take(budget, target.name, now)).map(|_| ())
    }
}

fn take(budget: &mut PodDisruptionBudget, pod: &str, now: Timestamp) -> Result<(), Status> {
    let name = budget.metadata.name.clone().unwrap_or_default();
    let generation = budget.metadata.generation.unwrap_or_default();
    let status = budget.status.get_or_insert_default();
    if status.observed_generation.unwrap_or_default() < generation {
        return Err(refused(
            &format!("The disruption budget {name} is still being processed by the server."),
            10,
        ));
    }
    let disrupted = status.disrupted_pods.get_or_insert_default();
    if status.disruptions_allowed < 0 {
        let why = "pdb disruptions allowed is negative";
        return Err(Status::forbidden(BUDGETS, &name, why));
    }
    if disrupted.len() > DISRUPTED_MAX {
        return Err(Status::forbidden(
            BUDGETS,
            &name,
            "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
        ));
    }
    if status.disruptions_allowed == 0 {
        let sentence = match &status.conditions {
            Some(conditions)
                if conditions.iter().any(|c| {
                    c.type_ == "DisruptionAllowed" && c.status == "False" && c.reason == "SyncFailed"
                }) =>
            {
                let why = conditions
                    .iter()
                    .find(|c| c.type_ == "DisruptionAllowed")
                    .map(|c| c.message.clone())
                    .unwrap_or_default();
                format!(
                    "The disruption budget {name} does not allow evicting pods currently because it failed sync: {why}"
                )
            }
            _ => format!(
                "The disruption budget {name} needs {} healthy pods and has {} currently",
                status.desired_healthy, status.current_healthy
            ),
        };
        return Err(refused(&sentence, 0));
    }
    disrupted.insert(pod.to_owned(), MetaTime(now));
    status.disruptions_allowed -= 1;
    if status.disruptions_allowed == 0 {
        let observed = status.observed_generation;
        let conditions = status.conditions.get_or_insert_default();
        let mut spent = Condition {
            type_: "DisruptionAllowed".to_owned(),
            status: "False".to_owned(),
            reason: "InsufficientPods".to_owned(),
            message: String::new(),
            last_transition_time: MetaTime(now),
            observed_generation: observed,
        };
        match conditions.iter_mut().find(|condition| condition.type_ == spent.type_) {
            Some(found) => {
                if found.status == spent.status {
                    spent.last_transition_time = found.last_transition_time.clone();
                }
                *found = spent;
            }
            None => conditions.push(spent),
        }
    }
    Ok(())
}

const BUDGETS: crate::status::Name<'static> =
    crate::status::Name { group: "policy", resource: "poddisruptionbudgets" };

fn refused(why: &str, retry_after_seconds: u32) -> Status {
    Status::too_many_requests(
        "Cannot evict pod as it would violate the pod's disruption budget.",
        retry_after_seconds,
    )
    .because("DisruptionBudget", why)
}

/// Pods that do not run any more, or not yet, or that go anyway.
fn ignores_budgets(pod: &Pod) -> bool {
    let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
    matches!(phase, Some("Succeeded" | "Failed" | "Pending")) || pod.metadata.deletion_timestamp.is_some()
}

fn is_ready(pod: &Pod) -> bool {
    let conditions = pod.status.as_ref().and_then(|status| status.conditions.as_ref());
    conditions.into_iter().flatten().any(|condition| condition.type_ == "Ready" && condition.status == "True")
}

/// Whether pods that are not ready may go without being counted.
fn spares_unready(budget: &PodDisruptionBudget) -> bool {
    let policy = budget.spec.as_ref().and_then(|spec| spec.unhealthy_pod_eviction_policy.as_deref());
    let healthy = budget
        .status
        .as_ref()
        .is_some_and(|status| status.current_healthy >= status.desired_healthy && status.desired_healthy > 0);
    policy == Some("AlwaysAllow") || healthy
}

/// The deletion an `Eviction` asks for. Its dry run is not looked at closer: whatever it names, nothing is written.
pub(crate) fn read_eviction(body: &Value) -> Result<Delete, Status> {
    let mut options = body["deleteOptions"].clone();
    let stages = options.as_object_mut().and_then(|options| options.remove("dryRun"));
    let dry_run = stages.as_ref().and_then(Value::as_array).is_some_and(|stages| !stages.is_empty());
    Ok(Delete { dry_run, ..Delete::read(&options)? })
}
