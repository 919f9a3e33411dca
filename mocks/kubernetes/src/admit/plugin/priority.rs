//! A pod's priority comes from its class, from the default class, or is zero.

use std::sync::Arc;

use serde_json::Value;

use super::{Request, Shelf, Verb, name_of};
use crate::admit::read::{deep, inner_mut, integer, keep as keep_field, present, put, text, truth};
use crate::status::Status;

/// What a class gives to a pod.
struct Given {
    class: String,
    priority: i64,
    preemption: String,
}

impl Given {
    fn of(class: &Value) -> Self {
        Self {
            class: name_of(class).to_owned(),
            priority: integer(class, "value").unwrap_or_default(),
            preemption: text(class, "preemptionPolicy").to_owned(),
        }
    }
}

pub(super) fn resolve(request: &Request<'_>, pod: &mut Value, shelf: &dyn Shelf) -> Result<(), Status> {
    let spec = present(pod, "spec").unwrap_or(&Value::Null);
    let class = text(spec, "priorityClassName");
    let given = if class.is_empty() {
        default_class(shelf).map_or_else(nothing, |class| Given::of(&class))
    } else if let Some(found) = shelf.get("PriorityClass", "", class) {
        Given::of(&found)
    } else {
        let why = format!("no PriorityClass with name {class} was found");
        return Err(request.forbidden(pod, &why));
    };
    if let Some(asked) = integer(spec, "priority")
        && asked != given.priority
    {
        let why = format!(
            "the integer value of priority ({asked}) must not be provided in pod spec; priority admission controller \
             computed {} from the given PriorityClass name",
            given.priority
        );
        return Err(request.forbidden(pod, &why));
    }
    let asked = text(spec, "preemptionPolicy");
    if !asked.is_empty() && !given.preemption.is_empty() && asked != given.preemption {
        let why = format!(
            "the string value of PreemptionPolicy ({asked}) must not be provided in pod spec; priority admission \
             controller computed {} from the given PriorityClass name",
            given.preemption
        );
        return Err(request.forbidden(pod, &why));
    }
    let Some(spec) = inner_mut(pod, "spec") else { return Ok(()) };
    put(spec, "priority", given.priority);
    if !given.class.is_empty() {
        put(spec, "priorityClassName", given.class);
    }
    if !given.preemption.is_empty() {
        put(spec, "preemptionPolicy", given.preemption);
    }
    Ok(())
}

fn nothing() -> Given {
    Given { class: String::new(), priority: 0, preemption: "PreemptLowerPriority".to_owned() }
}

/// Of several default classes, the one with the lowest value.
fn default_class(shelf: &dyn Shelf) -> Option<Arc<Value>> {
    let classes = shelf.list("PriorityClass", "");
    let defaults = classes.into_iter().filter(|class| truth(class, "globalDefault"));
    defaults.min_by_key(|class| integer(class, "value").unwrap_or_default())
}

/// An update that does not mention the priority keeps it.
pub(super) fn keep(pod: &mut Value, old: &Value) {
    let Some(stored) = deep(old, &["spec"]) else { return };
    let Some(spec) = inner_mut(pod, "spec") else { return };
    for field in ["priority", "preemptionPolicy"] {
        if present(spec, field).is_none() {
            keep_field(spec, stored, field);
        }
    }
}

/// There is one default class.
pub(super) fn judge_class(request: &Request<'_>, class: &Value, shelf: &dyn Shelf) -> Result<(), Status> {
    if !truth(class, "globalDefault") {
        return Ok(());
    }
    match default_class(shelf) {
        Some(other) if request.verb == Verb::Create || name_of(&other) != name_of(class) => {
            let name = name_of(&other);
            let why =
                format!("PriorityClass {name} is already marked as default. Only one default can exist");
            Err(request.forbidden(class, &why))
        }
        _ => Ok(()),
    }
}
