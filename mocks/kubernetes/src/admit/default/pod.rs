//! Defaults of a pod: those of every pod spec, and those that only a pod itself gets.

use serde_json::{Value, json};

use super::{container, resources, template};
use crate::admit::read::{deep, fill, inner_mut, integer, items, items_mut, present, put, text, truth};

/// A pod as it came: requests from limits, then the defaults every pod spec has.
pub(super) fn pod(pod: &mut Value) {
    let Some(spec) = inner_mut(pod, "spec") else { return };
    for list in ["containers", "initContainers"] {
        for container in items_mut(spec, list) {
            requests_from_limits(container);
        }
    }
    pod_level_resources(spec);
    fill(spec, "enableServiceLinks", true);
    if truth(spec, "hostNetwork") {
        host_ports(spec);
    }
    template::pod_spec(spec);
    if integer(spec, "terminationGracePeriodSeconds").is_some_and(|seconds| seconds < 0) {
        put(spec, "terminationGracePeriodSeconds", 1);
    }
    if let Some(status) = inner_mut(pod, "status") {
        addresses(status);
    }
}

/// Only what a limit names and a request does not.
fn requests_from_limits(container: &mut Value) {
    let Some(limits) = deep(container, &["resources", "limits"]).and_then(Value::as_object) else { return };
    let requests = deep(container, &["resources", "requests"]);
    let missing: Vec<(String, Value)> = limits
        .iter()
        .filter(|(name, _)| requests.is_none_or(|requests| requests.get(name.as_str()).is_none()))
        .map(|(name, quantity)| (name.clone(), quantity.clone()))
        .collect();
    if missing.is_empty() {
        return;
    }
    if let Some(requests) = inner_mut(container, "resources").and_then(|all| inner_mut(all, "requests"))
        && let Some(requests) = requests.as_object_mut()
    {
        requests.extend(missing);
    }
}

fn host_ports(spec: &mut Value) {
    for list in ["containers", "initContainers"] {
        for container in items_mut(spec, list) {
            for port in items_mut(container, "ports") {
                if integer(port, "hostPort").unwrap_or_default() == 0
                    && let Some(number) = integer(port, "containerPort")
                {
                    put(port, "hostPort", number);
                }
            }
        }
    }
}

/// Requests and huge-page limits of the pod as a whole, where some of them were given.
fn pod_level_resources(spec: &mut Value) {
    let Some(given) = present(spec, "resources") else { return };
    let (limits, requests) = (resources::list(given, "limits"), resources::list(given, "requests"));
    if limits.is_empty() && requests.is_empty() {
        return;
    }
    let mut all_limits = limits;
    for (name, quantity) in container::total(spec, "limits") {
        if name.starts_with("hugepages-") {
            all_limits.entry(name).or_insert(quantity);
        }
    }
    let mut all_requests = requests;
    if !all_limits.is_empty() {
        for (name, quantity) in container::total(spec, "requests") {
            if matches!(name.as_str(), "cpu" | "memory") {
                all_requests.entry(name).or_insert(quantity);
            }
        }
        for (name, quantity) in &all_limits {
            if matches!(name.as_str(), "cpu" | "memory") || name.starts_with("hugepages-") {
                all_requests.entry(name.clone()).or_insert_with(|| quantity.clone());
            }
        }
    }
    let Some(given) = inner_mut(spec, "resources") else { return };
    for (field, list) in [("limits", all_limits), ("requests", all_requests)] {
        if !list.is_empty() {
            put(given, field, list.into_iter().map(|(name, q)| (name, Value::from(q))).collect::<Value>());
        }
    }
}

/// `podIP` and `podIPs` tell the same; where they do not, the single one counts.
fn addresses(status: &mut Value) {
    let first = items(status, "podIPs").first().map(|first| text(first, "ip").to_owned());
    let single = text(status, "podIP");
    match first {
        Some(first) if single.is_empty() => put(status, "podIP", first),
        Some(first) if first == single => {}
        _ if single.is_empty() => {}
        _ => {
            let list = json!([{"ip": single}]);
            put(status, "podIPs", list);
        }
    }
}
