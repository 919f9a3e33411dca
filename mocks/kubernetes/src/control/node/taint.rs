//! Which taints the conditions of a node want.

use serde_json::{Value, json};

use crate::api::{Api, stamp};
use crate::control::amend::amend;
use crate::status::Status;
use crate::store::Key;

pub(super) const NOT_READY: &str = "node.kubernetes.io/not-ready";
pub(super) const UNREACHABLE: &str = "node.kubernetes.io/unreachable";
const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";

/// Condition, its status, the taint.
const BY_CONDITION: [(&str, &str, &str); 6] = [
    ("Ready", "False", NOT_READY),
    ("Ready", "Unknown", UNREACHABLE),
    ("MemoryPressure", "True", "node.kubernetes.io/memory-pressure"),
    ("DiskPressure", "True", "node.kubernetes.io/disk-pressure"),
    ("NetworkUnavailable", "True", "node.kubernetes.io/network-unavailable"),
    ("PIDPressure", "True", "node.kubernetes.io/pid-pressure"),
];

/// Which of the two taints that evict the node has.
pub(super) fn evicting(node: &Value) -> Vec<&'static str> {
    [NOT_READY, UNREACHABLE].into_iter().filter(|key| has(node, key, "NoExecute")).collect()
}

fn has(node: &Value, key: &str, effect: &str) -> bool {
    let mut taints = node["spec"]["taints"].as_array().into_iter().flatten();
    taints.any(|taint| taint["key"] == key && taint["effect"] == effect)
}

/// Gives a node the taints its conditions want, and this one of those that evict; takes the others of ours.
pub(super) fn bring(api: &Api, key: &Key, node: &Value, evicting: Option<&str>) -> Result<(), Status> {
    if settled(node, evicting) {
        return Ok(());
    }
    let now = stamp(api.now());
    amend(api, ("nodes", key, ""), super::MANAGER, |node| {
        let wanted = wanted(node, evicting);
        let taints = &mut node["spec"]["taints"];
        let mut list = taints.as_array().cloned().unwrap_or_default();
        list.retain(|taint| !is_ours(taint) || wanted.iter().any(|wanted| is(taint, *wanted)));
        for (key, effect) in wanted {
            if !list.iter().any(|taint| is(taint, (key, effect))) {
                list.push(json!({"key": key, "effect": effect, "timeAdded": now}));
            }
        }
        *taints = if list.is_empty() { Value::Null } else { Value::Array(list) };
    })
}

fn settled(node: &Value, evicting: Option<&str>) -> bool {
    let wanted = wanted(node, evicting);
    let taints = node["spec"]["taints"].as_array().map(Vec::as_slice).unwrap_or_default();
    let ours = taints.iter().filter(|taint| is_ours(taint));
    ours.clone().count() == wanted.len()
        && wanted.iter().all(|wanted| ours.clone().any(|taint| is(taint, *wanted)))
}

fn wanted<'a>(node: &Value, evicting: Option<&'a str>) -> Vec<(&'a str, &'static str)> {
    let conditions = node["status"]["conditions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let says = |kind: &str, status: &str| {
        conditions.iter().any(|found| found["type"] == kind && found["status"] == status)
    };
    let by_condition = BY_CONDITION.iter().filter(|(kind, status, _)| says(kind, status));
    let mut wanted: Vec<(&str, &str)> = by_condition.map(|(_, _, key)| (*key, "NoSchedule")).collect();
    if node["spec"]["unschedulable"] == true {
        wanted.push((UNSCHEDULABLE, "NoSchedule"));
    }
    wanted.extend(evicting.map(|key| (key, "NoExecute")));
    wanted
}

fn is(taint: &Value, (key, effect): (&str, &str)) -> bool {
    taint["key"] == key && taint["effect"] == effect
}

/// Only these are given and taken here: the others belong to somebody else.
fn is_ours(taint: &Value) -> bool {
    let key = taint["key"].as_str().unwrap_or_default();
    match taint["effect"].as_str() {
        Some("NoSchedule") => key == UNSCHEDULABLE || BY_CONDITION.iter().any(|(_, _, own)| *own == key),
        Some("NoExecute") => key == NOT_READY || key == UNREACHABLE,
        _ => false,
    }
}
