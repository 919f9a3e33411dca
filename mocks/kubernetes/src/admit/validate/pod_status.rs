//! An update of a pod's status.

use serde_json::{Value, json};

use super::field;
use crate::admit::addresses::{NO_ADDRESS, address, both_families};
use crate::admit::names;
use crate::admit::path::Path;
use crate::admit::read::{deep, integer, items, text};
use crate::status::Wrong;

const STATUS: Path<'static> = Path::Top("status");

pub(super) fn pod(pod: &Value, old: &Value, wrong: &mut Vec<Wrong>) {
    let (now, before) = (field::part(pod, "status"), field::part(old, "status"));
    for (index, condition) in items(now, "conditions").iter().enumerate() {
        let path = STATUS.field("conditions");
        let path = path.index(index);
        negative(condition, &path, wrong);
        let kind = text(condition, "type");
        if !matches!(kind, "PodScheduled" | "Ready" | "Initialized") {
            field::key(&path.field("Type"), kind, wrong);
        }
    }
    nominated(now, before, old, wrong);
    negative(now, &STATUS, wrong);
    field::immutable(&STATUS.field("qosClass"), &["qosClass"], now, before, wrong);
    let policy = deep(old, &["spec", "restartPolicy"]).and_then(Value::as_str).unwrap_or_default();
    for list in ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"] {
        if list == "ephemeralContainerStatuses" || policy != "Always" {
            transitions(now, before, old, list, policy, wrong);
        }
    }
    addresses(now, before, "podIPs", wrong);
    if let Some(first) =
        items(now, "hostIPs").first().filter(|first| text(first, "ip") != text(now, "hostIP"))
    {
        let path = STATUS.field("hostIPs");
        let path = path.index(0);
        wrong.push(Wrong::invalid(path.field("ip"), &json!(text(first, "ip")), "must be equal to `hostIP`"));
    }
    addresses(now, before, "hostIPs", wrong);
}

/// Addresses are addresses, unless they were none before; one of each family at most.
fn addresses(now: &Value, before: &Value, list: &str, wrong: &mut Vec<Wrong>) {
    let all = |status| items(status, list).iter().map(|one| text(one, "ip")).collect::<Vec<_>>();
    let (is, was) = (all(now), all(before));
    let path = STATUS.field(list);
    for (index, text) in is.iter().enumerate().filter(|(_, text)| !was.contains(text)) {
        if address(text).is_none() {
            wrong.push(Wrong::invalid(path.index(index), &json!(text), NO_ADDRESS));
        }
    }
    if is.len() < 2 {
        return;
    }
    let read: Vec<_> = is.iter().map_while(|text| address(text)).collect();
    if let Some(bad) = is.get(read.len()) {
        let why = format!("failed to check for dual stack with error:invalid IP[{}]: {bad}", read.len());
        wrong.push(Wrong::internal(path, &why));
    }
    if read.len() != is.len() || is.len() > 2 || !both_families(&read) {
        let shown: Vec<Value> = is.iter().map(|text| json!({"IP": text})).collect();
        let why = "may specify no more than one IP for each IP family";
        wrong.push(Wrong::invalid(path, &json!(shown), why));
    }
}

fn negative(object: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    if let Some(generation) = integer(object, "observedGeneration").filter(|number| *number < 0) {
        let path = path.field("observedGeneration");
        wrong.push(Wrong::invalid(path, &json!(generation), "must be a non-negative integer"));
    }
}

fn nominated(now: &Value, before: &Value, old: &Value, wrong: &mut Vec<Wrong>) {
    let name = text(now, "nominatedNodeName");
    if name.is_empty() || name == text(before, "nominatedNodeName") {
        return;
    }
    let path = STATUS.field("nominatedNodeName");
    field::invalid(&path, name, names::subdomain(name), wrong);
    if deep(old, &["spec", "nodeName"]).and_then(Value::as_str).is_some_and(|node| !node.is_empty()) {
        wrong.push(Wrong::forbidden(path, "may not be set on pods that are already bound to a node"));
    }
}

/// A container that ended and will not be restarted stays ended.
fn transitions(now: &Value, before: &Value, old: &Value, list: &str, policy: &str, wrong: &mut Vec<Wrong>) {
    for (index, was) in items(before, list).iter().enumerate() {
        let Some(ended) = deep(was, &["state", "terminated"]) else { continue };
        let code = integer(ended, "exitCode").unwrap_or_default();
        let name = text(was, "name");
        let may_restart = list != "ephemeralContainerStatuses"
            && ((policy == "OnFailure" && code != 0) || restarts_itself(old, name));
        let runs = items(now, list)
            .iter()
            .any(|is| text(is, "name") == name && deep(is, &["state", "terminated"]).is_none());
        if runs && !may_restart {
            let why = "may not be transitioned to non-terminated state";
            let path = STATUS.field(list);
            wrong.push(Wrong::forbidden(path.index(index).field("state"), why));
        }
    }
}

/// A container with a restart policy of its own, as side-cars have.
fn restarts_itself(pod: &Value, name: &str) -> bool {
    let spec = field::part(pod, "spec");
    let mut all = items(spec, "containers").iter().chain(items(spec, "initContainers"));
    all.any(|container| {
        text(container, "name") == name && matches!(text(container, "restartPolicy"), "Always" | "OnFailure")
    })
}
