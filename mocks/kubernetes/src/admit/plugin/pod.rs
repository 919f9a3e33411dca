//! What every pod gets: five minutes on a node that fails, and the zone and region of the node it is bound to.

use serde_json::{Value, json};

use super::{Shelf, Warnings, name_of};
use crate::admit::names;
use crate::admit::read::{deep, entries, inner_mut, items, put, text};

const GRACE_SECONDS: i64 = 300;
const TOPOLOGY: [&str; 2] = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"];

/// A toleration of 300 seconds for a node that is not ready or not reachable, unless the pod says something else.
pub(super) fn tolerations(pod: &mut Value) {
    let Some(spec) = inner_mut(pod, "spec") else { return };
    for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        let covers = |toleration: &Value| {
            let (given, effect) = (text(toleration, "key"), text(toleration, "effect"));
            (given == key || given.is_empty()) && matches!(effect, "NoExecute" | "")
        };
        if items(spec, "tolerations").iter().any(covers) {
            continue;
        }
        let added = json!({
            "key": key,
            "operator": "Exists",
            "effect": "NoExecute",
            "tolerationSeconds": GRACE_SECONDS,
        });
        match spec.get_mut("tolerations").and_then(Value::as_array_mut) {
            Some(list) => list.push(added),
            None => put(spec, "tolerations", json!([added])),
        }
    }
}

/// A pod created on a node.
pub(super) fn topology_labels(pod: &mut Value, shelf: &dyn Shelf) {
    let name = deep(pod, &["spec", "nodeName"]).and_then(Value::as_str).unwrap_or_default().to_owned();
    copy_labels(&name, pod, shelf);
}

/// A binding carries the labels to its pod.
pub(super) fn binding_labels(binding: &mut Value, shelf: &dyn Shelf) {
    let target = deep(binding, &["target"]).cloned().unwrap_or_default();
    if text(&target, "kind") == "Node" {
        copy_labels(text(&target, "name"), binding, shelf);
    }
}

fn copy_labels(node: &str, object: &mut Value, shelf: &dyn Shelf) {
    if node.is_empty() {
        return;
    }
    let Some(node) = shelf.get("Node", "", node) else { return };
    let Some(metadata) = node.get("metadata") else { return };
    for (key, value) in entries(metadata, "labels").filter(|(key, _)| TOPOLOGY.contains(key)) {
        if let Some(labels) = inner_mut(object, "metadata").and_then(|all| inner_mut(all, "labels")) {
            put(labels, key, value.clone());
        }
    }
}

pub(super) fn warnings(pod: &Value) -> Warnings {
    let name = name_of(pod);
    let wrong = if name.is_empty() { Vec::new() } else { names::label(name) };
    if wrong.is_empty() {
        return Warnings::new();
    }
    vec![format!(
        "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is \
         recommended: [{}]",
        wrong.join(" ")
    )]
}
