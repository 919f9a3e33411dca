//! What a pod's runtime class adds: overhead, a node selector, tolerations.

use std::sync::Arc;

use serde_json::Value;

use super::{Request, Shelf};
use crate::admit::read::{deep, entries, inner_mut, is_zero, items, put, text};
use crate::admit::same::same_field;
use crate::status::Status;

fn class(request: &Request<'_>, pod: &Value, shelf: &dyn Shelf) -> Result<Option<Arc<Value>>, Status> {
    let Some(name) = deep(pod, &["spec", "runtimeClassName"]).and_then(Value::as_str) else {
        return Ok(None);
    };
    match shelf.get("RuntimeClass", "", name) {
        Some(class) => Ok(Some(class)),
        None => Err(request.forbidden(pod, &format!("pod rejected: RuntimeClass {name:?} not found"))),
    }
}

pub(super) fn overhead(request: &Request<'_>, pod: &mut Value, shelf: &dyn Shelf) -> Result<(), Status> {
    let Some(class) = class(request, pod, shelf)? else { return Ok(()) };
    if let Some(fixed) = deep(&class, &["overhead", "podFixed"]) {
        let given = deep(pod, &["spec", "overhead"]);
        if !is_zero(given) && !same_field(given, Some(fixed)) {
            let why = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";
            return Err(request.forbidden(pod, why));
        }
        if let Some(spec) = inner_mut(pod, "spec") {
            put(spec, "overhead", fixed.clone());
        }
    }
    match deep(&class, &["scheduling"]) {
        Some(scheduling) => place(request, pod, scheduling),
        None => Ok(()),
    }
}

fn place(request: &Request<'_>, pod: &mut Value, scheduling: &Value) -> Result<(), Status> {
    for (key, value) in entries(scheduling, "nodeSelector") {
        let wanted = value.as_str().unwrap_or_default();
        let given = deep(pod, &["spec", "nodeSelector", key]).and_then(Value::as_str);
        if let Some(given) = given.filter(|given| *given != wanted) {
            let why = format!(
                "conflict: runtimeClass.scheduling.nodeSelector[{key}] = {wanted}; pod.spec.nodeSelector[{key}] = \
                 {given}"
            );
            return Err(request.forbidden(pod, &why));
        }
        if let Some(selector) = inner_mut(pod, "spec").and_then(|spec| inner_mut(spec, "nodeSelector")) {
            put(selector, key, wanted);
        }
    }
    let Some(spec) = inner_mut(pod, "spec") else { return Ok(()) };
    let given = items(spec, "tolerations");
    let covered = |added: &Value| given.iter().any(|toleration| is_superset(toleration, added));
    let added: Vec<Value> =
        items(scheduling, "tolerations").iter().filter(|added| !covered(added)).cloned().collect();
    if !added.is_empty() {
        let merged: Vec<Value> = given.iter().cloned().chain(added).collect();
        put(spec, "tolerations", merged);
    }
    Ok(())
}

/// Whether one toleration tolerates all that another does.
fn is_superset(wide: &Value, narrow: &Value) -> bool {
    let either = |field: &str| text(wide, field).is_empty() || text(wide, field) == text(narrow, field);
    let exists = text(wide, "operator") == "Exists";
    let is_key = text(wide, "key") == text(narrow, "key") || (text(wide, "key").is_empty() && exists);
    let lasts = same_field(wide.get("tolerationSeconds"), narrow.get("tolerationSeconds"))
        || wide.get("tolerationSeconds").is_none();
    let is_value =
        exists || (text(narrow, "operator") != "Exists" && text(wide, "value") == text(narrow, "value"));
    is_key && either("effect") && lasts && is_value
}

/// Overhead comes from a class only.
pub(super) fn judge(request: &Request<'_>, pod: &Value, shelf: &dyn Shelf) -> Result<(), Status> {
    let given = deep(pod, &["spec", "overhead"]);
    if is_zero(given) {
        return Ok(());
    }
    let class = class(request, pod, shelf)?;
    if class.as_ref().is_none_or(|class| deep(class, &["overhead"]).is_none()) {
        let why = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";
        return Err(request.forbidden(pod, why));
    }
    Ok(())
}
