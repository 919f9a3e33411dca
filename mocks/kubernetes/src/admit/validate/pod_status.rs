//! An update of a pod's status.

use serde_json::{Value, json};

use super::field;
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
