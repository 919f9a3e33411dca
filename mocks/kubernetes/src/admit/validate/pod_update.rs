//! What of a pod may change: images, the deadline, more tolerations, fewer gates; and more while it is gated.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::field;
use super::pod::SPEC;
use crate::admit::names;
use crate::admit::read::{deep, entries, integer, items, items_mut, keep, present, put, remove, text};
use crate::admit::same::{same, same_field};
use crate::status::Wrong;

const CHANGEABLE: &str = "pod updates may not change fields other than `spec.containers[*].image`,\
                          `spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only \
                          additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be \
                          set to 1 if it was previously negative)";

pub(super) fn pod(pod: &Value, old: &Value, wrong: &mut Vec<Wrong>) {
    let (now, before) = (field::part(pod, "spec"), field::part(old, "spec"));
    for list in ["containers", "initContainers"] {
        if items(now, list).len() != items(before, list).len() {
            // Upstream points at the list and goes no further.
            wrong.push(Wrong::forbidden(SPEC.field(list), "pod updates may not add or remove containers"));
            return;
        }
        images(now, list, wrong);
    }
    if !deadline(now, before, wrong) {
        return;
    }
    tolerations(now, before, wrong);
    gates(now, before, wrong);
    if same(now, before) {
        return;
    }
    let mut munged = now.clone();
    for list in ["containers", "initContainers"] {
        for (container, was) in items_mut(&mut munged, list).zip(items(before, list)) {
            keep(container, was, "image");
        }
    }
    for name in ["activeDeadlineSeconds", "schedulingGates", "tolerations"] {
        keep(&mut munged, before, name);
    }
    let was_negative = integer(before, "terminationGracePeriodSeconds").is_some_and(|seconds| seconds < 0);
    if was_negative && integer(&munged, "terminationGracePeriodSeconds") == Some(1) {
        keep(&mut munged, before, "terminationGracePeriodSeconds");
    }
    if !items(before, "schedulingGates").is_empty() {
        while_gated(&mut munged, before, wrong);
    }
    if !same(&munged, before) {
        wrong.push(Wrong::forbidden(SPEC, &format!("{CHANGEABLE}\n{}", difference(before, &munged))));
    }
}

fn images(spec: &Value, list: &str, wrong: &mut Vec<Wrong>) {
    for (index, container) in items(spec, list).iter().enumerate() {
        let path = SPEC.field(list);
        let path = path.index(index);
        let image = text(container, "image");
        if image.is_empty() {
            wrong.push(Wrong::required(path.field("image"), ""));
        } else if image.trim() != image {
            let why = "must not have leading or trailing whitespace";
            wrong.push(Wrong::invalid(path.field("image"), &json!(image), why));
        }
    }
}

/// A deadline may come nearer. Says whether to go on.
fn deadline(now: &Value, before: &Value, wrong: &mut Vec<Wrong>) -> bool {
    const NAME: &str = "activeDeadlineSeconds";
    let path = SPEC.field(NAME);
    let (is, was) = (integer(now, NAME), integer(before, NAME));
    let why = match (is, was) {
        (Some(is), _) if !(0..=i64::from(i32::MAX)).contains(&is) => names::between(0, i64::from(i32::MAX)),
        (Some(is), Some(was)) if was < is => "must be less than or equal to previous value".to_owned(),
        (None, Some(_)) => {
            let why = "must not update from a positive integer to nil value";
            wrong.push(Wrong::invalid(path, &Value::Null, why));
            return true;
        }
        _ => return true,
    };
    wrong.push(Wrong::invalid(path, &json!(is), &why));
    false
}

fn tolerations(now: &Value, before: &Value, wrong: &mut Vec<Wrong>) {
    let without_seconds = |toleration: &Value| {
        let mut toleration = toleration.clone();
        remove(&mut toleration, "tolerationSeconds");
        toleration
    };
    let kept: Vec<Value> = items(now, "tolerations").iter().map(without_seconds).collect();
    if items(before, "tolerations").iter().any(|was| !kept.contains(&without_seconds(was))) {
        let why = "existing toleration can not be modified except its tolerationSeconds";
        wrong.push(Wrong::forbidden(SPEC.field("tolerations"), why));
    }
}

fn gates(now: &Value, before: &Value, wrong: &mut Vec<Wrong>) {
    let stored: BTreeSet<&str> =
        items(before, "schedulingGates").iter().map(|gate| text(gate, "name")).collect();
    for (index, gate) in items(now, "schedulingGates").iter().enumerate() {
        let name = text(gate, "name");
        if !stored.contains(name) {
            let why = format!("only deletion is allowed, but found new scheduling gate '{name}'");
            let path = SPEC.field("schedulingGates");
            wrong.push(Wrong::forbidden(path.index(index).field("name"), &why));
        }
    }
}

/// Where a gated pod may go can be narrowed.
fn while_gated(spec: &mut Value, before: &Value, wrong: &mut Vec<Wrong>) {
    if !same_field(spec.get("nodeSelector"), before.get("nodeSelector")) {
        let now = field::part(spec, "nodeSelector");
        if entries(before, "nodeSelector").any(|(key, value)| now.get(key) != Some(value)) {
            let why = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
            wrong.push(Wrong::invalid(SPEC.field("nodeSelector"), now, why));
        }
        keep(spec, before, "nodeSelector");
    }
    let of = |spec: &Value| deep(spec, &["affinity", "nodeAffinity"]).cloned();
    let (is, was) = (of(spec), of(before));
    if same_field(is.as_ref(), was.as_ref()) {
        return;
    }
    narrowed(is.as_ref(), was.as_ref(), wrong);
    let others = present(spec, "affinity")
        .and_then(Value::as_object)
        .is_some_and(|all| all.iter().any(|(name, value)| name != "nodeAffinity" && !value.is_null()));
    match was {
        Some(was) => {
            if let Some(affinity) = crate::admit::read::inner_mut(spec, "affinity") {
                put(affinity, "nodeAffinity", was);
            }
        }
        None if others || present(before, "affinity").is_some() => {
            if let Some(affinity) = spec.get_mut("affinity") {
                remove(affinity, "nodeAffinity");
            }
        }
        None => remove(spec, "affinity"),
    }
}

fn narrowed(is: Option<&Value>, was: Option<&Value>, wrong: &mut Vec<Wrong>) {
    const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
    let terms = |affinity: Option<&Value>| {
        let required = affinity.and_then(|affinity| present(affinity, REQUIRED));
        required.map(|required| items(required, "nodeSelectorTerms").to_vec()).unwrap_or_default()
    };
    let (is, was) = (terms(is), terms(was));
    let path = SPEC.field("affinity");
    let path = path.field("nodeAffinity");
    let path = path.field(REQUIRED);
    let path = path.field("nodeSelectorTerms");
    if !was.is_empty() && was.len() != is.len() {
        let why = "no additions/deletions to non-empty NodeSelectorTerms list are allowed";
        wrong.push(Wrong::invalid(path, &json!(is), why));
        return;
    }
    for (index, (is, was)) in is.iter().zip(&was).enumerate() {
        if !only_adds(is, was) {
            let why = "only additions are allowed (no mutations or deletions)";
            wrong.push(Wrong::invalid(path.index(index), is, why));
        }
    }
}

fn only_adds(is: &Value, was: &Value) -> bool {
    const LISTS: [&str; 2] = ["matchExpressions", "matchFields"];
    let was_empty = LISTS.iter().all(|list| items(was, list).is_empty());
    if was_empty {
        return LISTS.iter().all(|list| items(is, list).is_empty());
    }
    LISTS.iter().all(|list| items(is, list).starts_with(items(was, list)))
}

/// The fields that differ. Upstream prints a diff of its own structs here; clients only show it.
fn difference(old: &Value, new: &Value) -> String {
    let names: BTreeSet<&String> =
        [old, new].into_iter().filter_map(Value::as_object).flat_map(serde_json::Map::keys).collect();
    let changed = names.into_iter().filter(|name| !same_field(old.get(*name), new.get(*name)));
    let lines = changed.map(|name| {
        let of = |spec: &Value| present(spec, name).unwrap_or(&Value::Null).to_string();
        format!("- {name}: {}\n+ {name}: {}\n", of(old), of(new))
    });
    lines.collect()
}

/// Updates through the endpoints of their own.
pub(super) fn subresource(name: &str, pod: &Value, old: &Value, wrong: &mut Vec<Wrong>) {
    if name == "resize" {
        return super::pod_resize::pod(pod, old, wrong);
    }
    super::pod::pod(pod, wrong);
    let (now, before) = (field::part(pod, "spec"), field::part(old, "spec"));
    let path = SPEC.field("ephemeralContainers");
    let list = items(now, "ephemeralContainers");
    for was in items(before, "ephemeralContainers") {
        let same_name = list.iter().find(|is| text(is, "name") == text(was, "name"));
        let done = match same_name {
            None => "removed",
            Some(is) if !same(is, was) => "changed",
            Some(_) => continue,
        };
        let why = format!("existing ephemeral containers {:?} may not be {done}\n", text(was, "name"));
        wrong.push(Wrong::forbidden(path, &why));
    }
}
