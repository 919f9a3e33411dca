//! Pods before they are stored: a pending status and a class of service, gates, and what each subresource may write.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::generation;
use super::update::{keep_metadata, reset_metadata};
use crate::admit::quantities::{self, quantity};
use crate::admit::read::{
    deep, entries, inner_mut, is_zero, items, items_mut, keep, present, put, remove, text,
};

pub(super) fn create(pod: &mut Value, now: &str) {
    let mut status = json!({"phase": "Pending", "qosClass": class_of_service(pod)});
    if deep(pod, &["spec"]).is_some_and(|spec| !items(spec, "schedulingGates").is_empty()) {
        status["conditions"] = json!([{
            "type": "PodScheduled",
            "status": "False",
            "lastProbeTime": null,
            "lastTransitionTime": now,
            "reason": "SchedulingGated",
            "message": "Scheduling is blocked due to non-empty scheduling gates",
        }]);
    }
    put(pod, "status", status);
    merge_label_keys(pod);
}

/// How well a pod is protected when its node runs short.
pub(crate) fn class_of_service(pod: &Value) -> &'static str {
    let Some(spec) = present(pod, "spec") else { return "BestEffort" };
    let (mut requests, mut limits) = (BTreeMap::new(), BTreeMap::new());
    let mut is_guaranteed = true;
    if let Some(own) = present(spec, "resources") {
        add(&mut requests, own, "requests");
        add(&mut limits, own, "limits");
        is_guaranteed = is_zero(own.get("limits")) || limits.len() == 2;
    } else {
        for container in items(spec, "containers").iter().chain(items(spec, "initContainers")) {
            let own = present(container, "resources").unwrap_or(&Value::Null);
            add(&mut requests, own, "requests");
            is_guaranteed &= add(&mut limits, own, "limits") == 2;
        }
    }
    if requests.is_empty() && limits.is_empty() {
        "BestEffort"
    } else if is_guaranteed && requests == limits {
        "Guaranteed"
    } else {
        "Burstable"
    }
}

/// Adds the processors and memory named in a list; says how many of the two it named.
fn add(sum: &mut BTreeMap<String, i128>, resources: &Value, field: &str) -> usize {
    let mut named = 0;
    for (name, amount) in entries(resources, field) {
        if matches!(name, "cpu" | "memory") && quantities::is_positive(amount) {
            named += 1;
            let held = sum.entry(name.to_owned()).or_default();
            *held = held.saturating_add(quantity(amount).nanos());
        }
    }
    named
}

/// Label keys of affinity and spreading become expressions with the pod's own values.
fn merge_label_keys(pod: &mut Value) {
    let spec = present(pod, "spec").unwrap_or(&Value::Null);
    if present(spec, "affinity").is_none() && present(spec, "topologySpreadConstraints").is_none() {
        return;
    }
    let labels = deep(pod, &["metadata", "labels"]).cloned().unwrap_or_default();
    let Some(spec) = inner_mut(pod, "spec") else { return };
    for constraint in items_mut(spec, "topologySpreadConstraints") {
        merge_keys(constraint, "matchLabelKeys", "In", &labels);
    }
    for kind in ["podAffinity", "podAntiAffinity"] {
        let Some(affinity) = spec.get_mut("affinity").and_then(|all| all.get_mut(kind)) else { continue };
        for weighted in items_mut(affinity, "preferredDuringSchedulingIgnoredDuringExecution") {
            if let Some(term) = weighted.get_mut("podAffinityTerm") {
                merge_term(term, &labels);
            }
        }
        for term in items_mut(affinity, "requiredDuringSchedulingIgnoredDuringExecution") {
            merge_term(term, &labels);
        }
    }
}

fn merge_term(term: &mut Value, labels: &Value) {
    merge_keys(term, "matchLabelKeys", "In", labels);
    merge_keys(term, "mismatchLabelKeys", "NotIn", labels);
}

fn merge_keys(term: &mut Value, keys: &str, operator: &str, labels: &Value) {
    let added: Vec<Value> = items(term, keys)
        .iter()
        .filter_map(|key| {
            let value = labels.get(key.as_str()?)?;
            Some(json!({"key": key, "operator": operator, "values": [value]}))
        })
        .collect();
    if added.is_empty() || present(term, "labelSelector").is_none() {
        return;
    }
    let Some(selector) = inner_mut(term, "labelSelector") else { return };
    match selector.get_mut("matchExpressions").and_then(Value::as_array_mut) {
        Some(list) => list.extend(added),
        None => put(selector, "matchExpressions", added),
    }
}

/// The status endpoint writes the status only; owners and a request to delete are not its business.
pub(super) fn status(pod: &mut Value, old: &Value) {
    keep_metadata(pod, old, &["ownerReferences"]);
    if let Some(metadata) = inner_mut(pod, "metadata") {
        remove(metadata, "deletionTimestamp");
    }
    let empty = Value::Object(Map::new());
    let stored = present(old, "status").unwrap_or(&empty);
    let Some(status) = inner_mut(pod, "status") else { return };
    for name in ["qosClass", "observedGeneration"] {
        if is_zero(status.get(name)) {
            keep(status, stored, name);
        }
    }
    let mut unused: Vec<&Value> = items(stored, "conditions").iter().collect();
    for condition in items_mut(status, "conditions") {
        let kind = text(condition, "type");
        let Some(at) = unused.iter().position(|old| text(old, "type") == kind) else { continue };
        let before = unused.remove(at);
        if is_zero(condition.get("observedGeneration")) {
            keep(condition, before, "observedGeneration");
        }
    }
}

pub(super) fn ephemeral_containers(pod: &mut Value, old: &Value) {
    let given = deep(pod, &["spec", "ephemeralContainers"]).cloned();
    restore(pod, old);
    if let Some(spec) = inner_mut(pod, "spec") {
        match given {
            Some(list) => put(spec, "ephemeralContainers", list),
            None => remove(spec, "ephemeralContainers"),
        }
    }
    generation::count("", "Pod", pod, old);
}

/// Resizing writes the resources of containers that are there already.
pub(super) fn resize(pod: &mut Value, old: &Value) {
    const LISTS: [&str; 2] = ["containers", "initContainers"];
    let names = |pod: &Value, list: &str| -> Vec<String> {
        let containers = present(pod, "spec").map(|spec| items(spec, list)).unwrap_or_default();
        containers.iter().map(|container| text(container, "name").to_owned()).collect()
    };
    if LISTS.iter().any(|list| names(pod, list) != names(old, list)) {
        return;
    }
    let given = present(pod, "spec").cloned().unwrap_or_default();
    restore(pod, old);
    if let Some(spec) = inner_mut(pod, "spec") {
        for list in LISTS {
            for (container, given) in items_mut(spec, list).zip(items(&given, list)) {
                keep(container, given, "resources");
                keep(container, given, "resizePolicy");
            }
        }
    }
    generation::count("", "Pod", pod, old);
}

fn restore(pod: &mut Value, old: &Value) {
    keep(pod, old, "spec");
    keep(pod, old, "status");
    reset_metadata(pod, old);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(containers: &Value) -> Value {
        json!({"spec": {"containers": containers}})
    }

    #[test]
    fn the_class_of_service_follows_requests_and_limits() {
        let none = pod(&json!([{"name": "a"}]));
        assert_eq!(class_of_service(&none), "BestEffort");
        let asked = pod(&json!([{"resources": {"requests": {"cpu": "1"}}}]));
        assert_eq!(class_of_service(&asked), "Burstable");
        let both = json!({"cpu": "1", "memory": "1Gi"});
        let same = json!({"cpu": "1000m", "memory": "1024Mi"});
        let full = pod(&json!([{"resources": {"requests": both, "limits": same}}]));
        assert_eq!(class_of_service(&full), "Guaranteed");
        let mixed = pod(&json!([{"resources": {"requests": both, "limits": same}}, {"name": "b"}]));
        assert_eq!(class_of_service(&mixed), "Burstable");
    }

    #[test]
    fn a_status_update_keeps_the_spec_and_the_owners() {
        let old = json!({
            "metadata": {"name": "a", "ownerReferences": [{"uid": "1"}]},
            "spec": {"nodeName": "n"},
            "status": {"qosClass": "Burstable"},
        });
        let mut new =
            json!({"metadata": {"name": "a"}, "spec": {"nodeName": "x"}, "status": {"phase": "Running"}});
        super::super::for_update("", "Pod", "status", &mut new, &old, "2026-01-01T00:00:00Z");
        assert_eq!(new["spec"], old["spec"]);
        assert_eq!(new["metadata"], old["metadata"]);
        assert_eq!(new["status"], json!({"phase": "Running", "qosClass": "Burstable"}));
    }
}
