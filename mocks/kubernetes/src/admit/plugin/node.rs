//! A new node takes no pods until the node controller has seen that it is ready.

use serde_json::{Value, json};

use crate::admit::read::{inner_mut, items, put, text};

const NOT_READY: &str = "node.kubernetes.io/not-ready";

pub(super) fn not_ready(node: &mut Value) {
    let Some(spec) = inner_mut(node, "spec") else { return };
    let is_there = |taint: &Value| text(taint, "key") == NOT_READY && text(taint, "effect") == "NoSchedule";
    if items(spec, "taints").iter().any(is_there) {
        return;
    }
    let taint = json!({"key": NOT_READY, "effect": "NoSchedule"});
    match spec.get_mut("taints").and_then(Value::as_array_mut) {
        Some(taints) => taints.push(taint),
        None => put(spec, "taints", json!([taint])),
    }
}
