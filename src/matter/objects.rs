//! The objects of the cluster that something is about, as they are at a moment.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::history::query::DEPLOYMENT_LABEL;
use crate::history::{Change, ObjectEvent};
use crate::scenario::{NodeState, PodState};
use crate::terms::Provider;

/// The label by which a pod says to which workload it belongs.
pub(super) const WORKLOAD: &str = crate::terms::WORKLOAD_LABEL;

/// Objects of some kinds, by kind, namespace and name.
pub(super) struct Objects {
    kinds: Vec<String>,
    there: BTreeMap<(String, String, String), Value>,
}

impl Objects {
    pub(super) fn of(kinds: Vec<String>) -> Self {
        Self { kinds, there: BTreeMap::new() }
    }

    /// Sees how an object has changed; says whether it is of one of the kinds.
    pub(super) fn see(&mut self, event: &ObjectEvent) -> bool {
        if !self.kinds.contains(&event.kind) {
            return false;
        }
        let key = (event.kind.clone(), event.namespace.clone(), event.name.clone());
        match event.change {
            Change::Deleted => self.there.remove(&key),
            Change::Added | Change::Modified => self.there.insert(key, event.object.clone()),
        };
        true
    }

    pub(super) fn of_kind<'s>(&'s self, kind: &'s str) -> impl Iterator<Item = &'s Value> {
        self.named(kind, None, None)
    }

    /// The objects of a kind, in a namespace and of a name if these are said.
    pub(super) fn named<'s>(
        &'s self,
        kind: &'s str,
        namespace: Option<&'s str>,
        name: Option<&'s str>,
    ) -> impl Iterator<Item = &'s Value> {
        let is = move |((of, within, called), _): &(&(String, String, String), &Value)| {
            of == kind
                && namespace.is_none_or(|namespace| namespace == within)
                && name.is_none_or(|name| name == called)
        };
        self.there.iter().filter(is).map(|(_, object)| object)
    }
}

/// So many.
pub(super) fn many(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

pub(super) fn pod_is(pod: &Value, state: PodState) -> bool {
    let phase = pod["status"]["phase"].as_str().unwrap_or("Pending");
    let ending = !pod["metadata"]["deletionTimestamp"].is_null();
    match state {
        PodState::Running => phase == "Running" && !ending && is_true(pod, "Ready"),
        PodState::Pending => phase == "Pending",
        PodState::Unschedulable => condition(pod, "PodScheduled")
            .is_some_and(|it| it["status"] == "False" && it["reason"] == "Unschedulable"),
        PodState::Ending => ending,
    }
}

pub(super) fn node_is(node: &Value, state: NodeState) -> bool {
    match state {
        NodeState::Ready => is_true(node, "Ready"),
        NodeState::Unready => !is_true(node, "Ready"),
        NodeState::Cordoned => node["spec"]["unschedulable"] == true,
        NodeState::Ending => !node["metadata"]["deletionTimestamp"].is_null(),
    }
}

/// The pool of a node, a machine or a claim.
pub(super) fn pool_of(object: &Value) -> Option<&str> {
    let labels = &object["metadata"]["labels"];
    Provider::pool_in(labels).or_else(|| labels[DEPLOYMENT_LABEL].as_str())
}

fn is_true(object: &Value, kind: &str) -> bool {
    condition(object, kind).is_some_and(|it| it["status"] == "True")
}

fn condition<'a>(object: &'a Value, kind: &str) -> Option<&'a Value> {
    object["status"]["conditions"].as_array()?.iter().find(|it| it["type"] == kind)
}
