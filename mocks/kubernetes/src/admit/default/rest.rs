//! Defaults of kinds that have few: namespaces, nodes, secrets, limits, classes, bindings, budgets.

use base64::Engine as _;
use serde_json::{Map, Value, json};

use super::resources;
use crate::admit::read::{
    deep, entries, fill, fill_zero, inner_mut, items, items_mut, present, put, remove, text,
};

/// The label that every namespace carries its name in.
pub(in crate::admit) const NAMESPACE_NAME: &str = "kubernetes.io/metadata.name";

pub(super) fn namespace(object: &mut Value) {
    if let Some(status) = inner_mut(object, "status") {
        fill_zero(status, "phase", "Active");
    }
    inner_mut(object, "spec");
    let name = deep(object, &["metadata", "name"]).and_then(Value::as_str).unwrap_or_default().to_owned();
    if !name.is_empty()
        && let Some(labels) = inner_mut(object, "metadata").and_then(|all| inner_mut(all, "labels"))
    {
        put(labels, NAMESPACE_NAME, name);
    }
}

pub(super) fn node(object: &mut Value) {
    if let Some(spec) = inner_mut(object, "spec") {
        pod_ranges(spec);
    }
    let Some(status) = inner_mut(object, "status") else { return };
    resources::round(status, "capacity");
    resources::round(status, "allocatable");
    if present(status, "allocatable").is_none()
        && let Some(capacity) = present(status, "capacity").cloned()
    {
        put(status, "allocatable", capacity);
    }
    fill(status, "daemonEndpoints", json!({"kubeletEndpoint": {"Port": 0}}));
    if let Some(info) = inner_mut(status, "nodeInfo") {
        for name in [
            "machineID",
            "systemUUID",
            "bootID",
            "kernelVersion",
            "osImage",
            "containerRuntimeVersion",
            "kubeletVersion",
            "kubeProxyVersion",
            "operatingSystem",
            "architecture",
        ] {
            fill(info, name, "");
        }
    }
}

/// `podCIDR` and `podCIDRs` tell the same; where they do not, the single one counts.
fn pod_ranges(spec: &mut Value) {
    let first = items(spec, "podCIDRs").first().cloned();
    let single = text(spec, "podCIDR");
    match first {
        Some(first) if single.is_empty() => put(spec, "podCIDR", first),
        Some(first) if first == single => {}
        _ if single.is_empty() => {}
        _ => {
            let list = json!([single]);
            put(spec, "podCIDRs", list);
        }
    }
}

pub(super) fn secret(object: &mut Value) {
    fill_zero(object, "type", "Opaque");
    if present(object, "stringData").is_none() {
        return;
    }
    let encoded: Vec<(String, Value)> = entries(object, "stringData")
        .filter_map(|(key, value)| {
            let text = base64::engine::general_purpose::STANDARD.encode(value.as_str()?);
            Some((key.to_owned(), Value::from(text)))
        })
        .collect();
    if !encoded.is_empty()
        && let Some(data) = inner_mut(object, "data").and_then(Value::as_object_mut)
    {
        data.extend(encoded);
    }
    remove(object, "stringData");
}

pub(super) fn limit_range(object: &mut Value) {
    let Some(spec) = object.get_mut("spec") else { return };
    for limit in items_mut(spec, "limits") {
        for field in ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"] {
            resources::round(limit, field);
        }
        if text(limit, "type") == "Container" {
            copy_missing(limit, "max", "default");
            copy_missing(limit, "default", "defaultRequest");
            copy_missing(limit, "min", "defaultRequest");
        }
    }
}

fn copy_missing(limit: &mut Value, from: &str, to: &str) {
    let Some(source) = limit.get(from).and_then(Value::as_object).cloned() else { return };
    if source.is_empty() {
        return;
    }
    if let Some(list) = inner_mut(limit, to).and_then(Value::as_object_mut) {
        for (name, quantity) in source {
            list.entry(name).or_insert(quantity);
        }
    }
}

pub(super) fn resource_quota(object: &mut Value) {
    if let Some(spec) = inner_mut(object, "spec") {
        resources::round(spec, "hard");
    }
}

pub(super) fn disruption_budget(object: &mut Value) {
    inner_mut(object, "spec");
}

pub(super) fn priority_class(object: &mut Value) {
    fill(object, "preemptionPolicy", "PreemptLowerPriority");
}

pub(super) fn binding(object: &mut Value) {
    const GROUP: &str = "rbac.authorization.k8s.io";
    if let Some(role) = inner_mut(object, "roleRef") {
        fill_zero(role, "apiGroup", GROUP);
    }
    for subject in items_mut(object, "subjects") {
        if matches!(text(subject, "kind"), "User" | "Group") {
            fill_zero(subject, "apiGroup", GROUP);
        }
    }
}

pub(super) fn device_claim(kind: &str, object: &mut Value) {
    let Some(mut spec) = inner_mut(object, "spec") else { return };
    if kind == "ResourceClaimTemplate" {
        fill(spec, "metadata", Map::new());
        let Some(inner) = inner_mut(spec, "spec") else { return };
        spec = inner;
    }
    let Some(devices) = spec.get_mut("devices") else { return };
    for request in items_mut(devices, "requests") {
        if let Some(exactly) = request.get_mut("exactly") {
            device_count(exactly);
        }
        for alternative in items_mut(request, "firstAvailable") {
            device_count(alternative);
        }
    }
}

fn device_count(request: &mut Value) {
    fill_zero(request, "allocationMode", "ExactCount");
    if text(request, "allocationMode") == "ExactCount" {
        fill_zero(request, "count", 1);
    }
}
