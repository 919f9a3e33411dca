//! Resizing a pod: only the processors and memory of containers, and only where the node can do it.

use serde_json::{Value, json};

use super::field;
use super::pod::SPEC;
use crate::admit::read::{deep, entries, items, present, put, text};
use crate::admit::same::same;
use crate::status::Wrong;

/// What upstream calls the object as a whole here.
const WHOLE: &str = "[]";
/// The annotation of pods that a kubelet runs by itself.
const STATIC: &str = "kubernetes.io/config.mirror";

pub(super) fn pod(pod: &Value, old: &Value, wrong: &mut Vec<Wrong>) {
    super::pod::pod(pod, wrong);
    if let Some(why) = never(old) {
        *wrong = vec![Wrong::forbidden(WHOLE, why)];
        return;
    }
    let class = text(field::part(pod, "status"), "qosClass");
    if text(field::part(old, "status"), "qosClass") != crate::admit::class_of_service(pod) {
        let why = "Pod QOS Class may not change as a result of resizing";
        wrong.push(Wrong::invalid(SPEC, &json!(class), why));
    }
    if !node_can(old) {
        wrong.push(Wrong::forbidden(SPEC, "Pod running on node without support for resize"));
    }
    let (now, before) = (field::part(pod, "spec"), field::part(old, "spec"));
    if has_own_resources(now) || has_own_resources(before) {
        let why = "resize of pods with pod-level resources is forbidden when \
                   InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled";
        wrong.push(Wrong::forbidden(WHOLE, why));
        return;
    }
    if !same_containers(now, before, wrong) {
        return;
    }
    for list in ["initContainers", "containers"] {
        removed(now, before, list, wrong);
    }
    for list in ["containers", "initContainers"] {
        others(now, before, list, wrong);
    }
}

/// Why a pod can never be resized.
fn never(old: &Value) -> Option<&'static str> {
    if deep(old, &["metadata", "annotations", STATIC]).is_some() {
        return Some("static pods cannot be resized");
    }
    let system = deep(old, &["spec", "os", "name"]).and_then(Value::as_str);
    (system == Some("windows")).then_some("windows pods cannot be resized")
}

/// A node that can resize tells what each running container has.
fn node_can(old: &Value) -> bool {
    let statuses = items(field::part(old, "status"), "containerStatuses");
    let running = statuses.iter().find(|status| deep(status, &["state", "running"]).is_some());
    running.is_none_or(|status| present(status, "resources").is_some())
}

fn has_own_resources(spec: &Value) -> bool {
    let own = field::part(spec, "resources");
    ["requests", "limits"].iter().any(|list| entries(own, list).next().is_some())
}

fn same_containers(now: &Value, before: &Value, wrong: &mut Vec<Wrong>) -> bool {
    let found = wrong.len();
    for list in ["containers", "initContainers"] {
        let (is, was) = (items(now, list), items(before, list));
        let path = SPEC.field(list);
        if is.len() != was.len() {
            wrong.push(Wrong::forbidden(path, &format!("{list} may not be added or removed on resize")));
            continue;
        }
        for (index, (is, was)) in is.iter().zip(was).enumerate() {
            if text(is, "name") != text(was, "name") {
                let why = format!("{list} may not be renamed or reordered on resize");
                wrong.push(Wrong::forbidden(path.index(index).field("name"), &why));
            }
        }
    }
    wrong.len() == found
}

fn is_side_car(container: &Value) -> bool {
    text(container, "restartPolicy") == "Always"
}

/// What was asked for or limited cannot be left out.
fn removed(now: &Value, before: &Value, list: &str, wrong: &mut Vec<Wrong>) {
    for (index, (is, was)) in items(now, list).iter().zip(items(before, list)).enumerate() {
        if list == "initContainers" && !is_side_car(was) {
            continue;
        }
        let (is, was) = (field::part(is, "resources"), field::part(was, "resources"));
        for sort in ["requests", "limits"] {
            let kept = field::part(is, sort);
            if entries(was, sort).any(|(name, _)| present(kept, name).is_none()) {
                let path = SPEC.field(list);
                let path = path.index(index);
                let path = path.field("resources");
                let why = format!("resource {sort} cannot be removed");
                wrong.push(Wrong::forbidden(path.field(sort), &why));
            }
        }
    }
}

fn others(now: &Value, before: &Value, list: &str, wrong: &mut Vec<Wrong>) {
    for (is, was) in items(now, list).iter().zip(items(before, list)) {
        let (differs, why) = if list == "containers" {
            (differs(is, was), "only cpu and memory resources are mutable")
        } else if is_side_car(is) {
            (differs(is, was), "only cpu and memory resources for sidecar containers are mutable")
        } else {
            (!same(is, was), "resources for non-sidecar init containers are immutable")
        };
        if differs {
            wrong.push(Wrong::forbidden(SPEC, why));
        }
    }
}

/// Whether anything but processors and memory differs.
fn differs(is: &Value, was: &Value) -> bool {
    !same(&without_scalable(is), &without_scalable(was))
}

fn without_scalable(container: &Value) -> Value {
    let mut container = container.clone();
    let mut kept = json!({});
    for sort in ["requests", "limits"] {
        let all = entries(field::part(&container, "resources"), sort);
        let rest: serde_json::Map<_, _> = all
            .filter(|(name, _)| !matches!(*name, "cpu" | "memory"))
            .map(|(name, amount)| (name.to_owned(), amount.clone()))
            .collect();
        kept[sort] = Value::Object(rest);
    }
    put(&mut container, "resources", kept);
    container
}
