//! Disruption budgets: how many pods each covers, how many of them are healthy, how many may go.

mod scale;
mod stale;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::ObjectReference;
use mock_clock::Time;
use serde_json::{Map, Value, json};

use super::amend::{Condition, amend, condition, set_condition};
use super::events::Recorder;
use super::frame::{Controller, Next};
use super::leftover::contains;
use super::queue::Queue;
use crate::api::Api;
use crate::selector::Selector;
use crate::status::Status;
use crate::store::{Change, Key, Object};

const MANAGER: &str = "disruption-controller";
const COMPONENT: &str = "controllermanager";
const BUDGETS: &str = "poddisruptionbudgets.policy";
pub(super) const SHELVES: &[&str] =
    &[BUDGETS, "pods", "replicasets.apps", "deployments.apps", "statefulsets.apps", "replicationcontrollers"];
/// How long an eviction that was granted may take.
const EVICTION: Duration = Duration::from_secs(120);

pub(super) struct Disruption {
    budgets: BTreeMap<Key, Selector>,
    /// Whether pods that budgets cover were ready, at a revision of theirs.
    ready: BTreeMap<Key, (u64, bool)>,
    recorder: Recorder,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Item {
    Budget(Key),
    /// A pod that is said to go.
    Target(Key),
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Budget(key) | Self::Target(key) => key.fmt(f),
        }
    }
}

impl Disruption {
    pub(super) fn new() -> Self {
        Self { budgets: BTreeMap::new(), ready: BTreeMap::new(), recorder: Recorder::new(COMPONENT) }
    }

    fn budgets_in<'a>(&'a self, namespace: &'a str) -> impl Iterator<Item = (&'a Key, &'a Selector)> {
        let here = self.budgets.range(Key::new(namespace, "")..);
        here.take_while(move |(key, _)| &*key.namespace == namespace)
    }

    fn observe_pod(&mut self, change: &Change, queue: &mut Queue<Item>) {
        let pod = &change.object;
        for (key, selector) in self.budgets_in(&pod.key.namespace) {
            let covered = |pod: &Object| selector.matches(&*pod.labels);
            if covered(pod) || change.old.as_ref().is_some_and(|old| covered(old)) {
                queue.add(Item::Budget(key.clone()));
            }
        }
        if change.deleted {
            self.ready.remove(&pod.key);
        } else if !pod.deleting && contains(&pod.json, "\"DisruptionTarget\"") {
            queue.add(Item::Target(pod.key.clone()));
        }
    }

    fn is_ready(&mut self, pod: &Object) -> bool {
        if let Some((_, ready)) = self.ready.get(&pod.key).filter(|(revision, _)| *revision == pod.revision) {
            return *ready;
        }
        let ready = condition(&pod.value(), "Ready").is_some_and(|ready| ready["status"] == "True");
        self.ready.insert(pod.key.clone(), (pod.revision, ready));
        ready
    }

    fn reconcile_budget(&mut self, api: &Api, key: &Key) -> Result<Next, Status> {
        let Some(object) = api.store().get(BUDGETS, key) else { return Ok(Next::Done) };
        let Some(selector) = self.budgets.get(key) else { return Ok(Next::Done) };
        let pods = api.store().list("pods", &key.namespace).objects;
        let pods: Vec<Arc<Object>> = pods.into_iter().filter(|pod| selector.matches(&*pod.labels)).collect();
        let budget = object.value();
        let about = reference(&object, "policy/v1", "PodDisruptionBudget");
        if pods.is_empty() {
            self.recorder.normal(api, &about, "NoPods", "No matching pods found");
        }
        let counts = match scale::expected(api, &budget["spec"], &pods) {
            Ok(counts) => counts,
            Err(why) => {
                let message = format!("Failed to calculate the number of expected pods: {why}");
                self.recorder.warning(api, &about, "CalculateExpectedPodCountFailed", &message);
                return fail(api, key, &why).map(|()| Next::Done);
            }
        };
        if counts.unmanaged {
            let selector = shown(&budget["spec"]["selector"]);
            let message = format!(
                "Pods selected by this PodDisruptionBudget (selector: {selector}) were found to be unmanaged. As a \
                 result, the status of the PDB cannot be calculated correctly, which may result in undefined \
                 behavior. To account for these pods please set \".spec.minAvailable\" field of the PDB to an \
                 integer value."
            );
            self.recorder.warning(api, &about, "UnmanagedPods", &message);
        }
        let healthy: BTreeSet<&str> =
            pods.iter().filter(|pod| !pod.deleting && self.is_ready(pod)).map(|pod| &*pod.key.name).collect();
        let staying: BTreeMap<&str, &Object> =
            pods.iter().filter(|pod| !pod.deleting).map(|pod| (&*pod.key.name, &**pod)).collect();
        amend(api, (BUDGETS, key, "status"), MANAGER, |budget| {
            let (disrupted, _) = disrupted(budget, &staying, api.now());
            let going = healthy.iter().filter(|name| disrupted.contains_key(**name)).count();
            write(api, budget, counts, i64::try_from(healthy.len() - going).unwrap_or(i64::MAX), disrupted);
        })?;
        self.remind(api, &budget, &staying)
    }

    /// Tells of evictions that were granted and never happened, and waits for those that may still.
    fn remind(
        &mut self,
        api: &Api,
        budget: &Value,
        staying: &BTreeMap<&str, &Object>,
    ) -> Result<Next, Status> {
        let (disrupted, overdue) = disrupted(budget, staying, api.now());
        let namespace = budget["metadata"]["namespace"].as_str().unwrap_or_default();
        for pod in overdue {
            // The namespace stands twice in upstream's message as well.
            let message =
                format!("Pod was expected by PDB {namespace}/{namespace} to be deleted but it wasn't");
            self.recorder.warning(api, &reference(pod, "v1", "Pod"), "NotDeleted", &message);
        }
        let granted = disrupted.values().filter_map(|time| time.as_str()?.parse::<Time>().ok());
        Ok(granted.min().map_or(Next::Done, |granted| Next::After(granted + EVICTION - api.now())))
    }
}

impl Controller for Disruption {
    type Item = Item;

    fn observe(&mut self, shelf: &str, change: &Change, queue: &mut Queue<Item>) {
        let key = &change.object.key;
        match shelf {
            "pods" => self.observe_pod(change, queue),
            BUDGETS if change.deleted => _ = self.budgets.remove(key),
            BUDGETS => {
                let selector = Selector::from_value(&change.object.value()["spec"]["selector"]);
                self.budgets.insert(key.clone(), selector.unwrap_or_else(|_| Selector::nothing()));
                queue.add(Item::Budget(key.clone()));
            }
            _ => {
                for (budget, _) in self.budgets_in(&key.namespace) {
                    queue.add(Item::Budget(budget.clone()));
                }
            }
        }
    }

    fn reconcile(&mut self, api: &Api, item: &Item) -> Result<Next, Status> {
        match item {
            Item::Budget(key) => self.reconcile_budget(api, key),
            Item::Target(key) => stale::clear(api, key),
        }
    }
}

/// Which evictions that were granted are still to come, and which pods should be gone by now.
fn disrupted<'a>(
    budget: &Value,
    staying: &BTreeMap<&str, &'a Object>,
    now: Time,
) -> (Map<String, Value>, Vec<&'a Object>) {
    let mut disrupted = budget["status"]["disruptedPods"].as_object().cloned().unwrap_or_default();
    let mut overdue = Vec::new();
    disrupted.retain(|name, time| {
        let Some(pod) = staying.get(name.as_str()) else { return false };
        let granted: Option<Time> = time.as_str().and_then(|time| time.parse().ok());
        let due = granted.is_none_or(|granted| granted + EVICTION <= now);
        if due {
            overdue.push(*pod);
        }
        !due
    });
    (disrupted, overdue)
}

/// Writes a status down.
fn write(api: &Api, budget: &mut Value, counts: scale::Counts, healthy: i64, disrupted: Map<String, Value>) {
    let allowed = if counts.expected <= 0 { 0 } else { (healthy - counts.desired).max(0) };
    let conditions = budget["status"]["conditions"].take();
    let mut status = json!({
        "currentHealthy": healthy,
        "desiredHealthy": counts.desired,
        "expectedPods": counts.expected,
        "disruptionsAllowed": allowed,
        "observedGeneration": budget["metadata"]["generation"],
        "conditions": conditions,
    });
    if !disrupted.is_empty() {
        status["disruptedPods"] = Value::Object(disrupted);
    }
    budget["status"] = status;
    let (status, reason) =
        if allowed > 0 { ("True", "SufficientPods") } else { ("False", "InsufficientPods") };
    set_condition(api, budget, Condition { kind: "DisruptionAllowed", status, reason, message: "" });
}

/// What cannot be counted must not go.
fn fail(api: &Api, key: &Key, why: &str) -> Result<(), Status> {
    amend(api, (BUDGETS, key, "status"), MANAGER, |budget| {
        budget["status"]["disruptionsAllowed"] = json!(0);
        let (kind, status, reason) = ("DisruptionAllowed", "False", "SyncFailed");
        set_condition(api, budget, Condition { kind, status, reason, message: why });
    })
}

fn reference(object: &Object, api_version: &str, kind: &str) -> ObjectReference {
    ObjectReference {
        api_version: Some(api_version.to_owned()),
        kind: Some(kind.to_owned()),
        name: Some(object.key.name.to_string()),
        namespace: Some(object.key.namespace.to_string()),
        uid: Some(object.uid.to_string()),
        resource_version: Some(object.revision.to_string()),
        field_path: None,
    }
}

/// A selector as Go prints it.
fn shown(selector: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let labels: String = selector["matchLabels"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| format!("{key}: {},", text(value)))
        .collect();
    let one = |expression: &Value| {
        let values: Vec<String> = expression["values"].as_array().into_iter().flatten().map(text).collect();
        let (key, operator) = (text(&expression["key"]), text(&expression["operator"]));
        format!("{{{key} {operator} [{}]}},", values.join(" "))
    };
    let expressions: String =
        selector["matchExpressions"].as_array().into_iter().flatten().map(one).collect();
    format!(
        "&LabelSelector{{MatchLabels:map[string]string{{{labels}}},MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )
}

#[cfg(test)]
mod tests;
