//! Writes by the shelf, for controllers that have to do with many kinds: objects stay JSON, and what is gone need not be
//! written.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::api::{Api, Delete, Target, Write, stamp};
use crate::registry::Resource;
use crate::status::Status;
use crate::store::Key;

/// The resource whose objects lie there; the preferred version of it.
pub(super) fn resource(api: &Api, shelf: &str) -> Option<Arc<Resource>> {
    api.registry().resources().find(|resource| resource.shelf == shelf).cloned()
}

/// Changes an object, or one of its subresources (empty for the object itself).
pub(super) fn amend(
    api: &Api,
    (shelf, key, subresource): (&str, &Key, &str),
    manager: &str,
    edit: impl Fn(&mut Value),
) -> Result<(), Status> {
    let Some(resource) = resource(api, shelf) else { return Ok(()) };
    let target = Target { resource: &resource, namespace: &key.namespace, name: &key.name, subresource };
    unless_gone(api.change(&target, &Write::by(manager), |before| {
        let mut after = before.clone();
        edit(&mut after);
        Ok(after)
    }))
}

/// Deletes an object.
pub(super) fn erase(
    api: &Api,
    (shelf, key): (&str, &Key),
    manager: &str,
    delete: &Delete,
) -> Result<(), Status> {
    let Some(resource) = resource(api, shelf) else { return Ok(()) };
    let target = Target { resource: &resource, namespace: &key.namespace, name: &key.name, subresource: "" };
    unless_gone(api.delete(&target, delete, &Write::by(manager)))
}

/// What is gone need not be written.
pub(super) fn unless_gone<T>(result: Result<T, Status>) -> Result<(), Status> {
    match result {
        Err(status) if status.code != 404 => Err(status),
        _ => Ok(()),
    }
}

/// What a condition says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Condition<'a> {
    pub(super) kind: &'a str,
    pub(super) status: &'a str,
    pub(super) reason: &'a str,
    pub(super) message: &'a str,
}

/// Sets a condition in the status of an object. Its time moves only with its status.
pub(super) fn set_condition(api: &Api, object: &mut Value, condition: Condition<'_>) {
    let now = stamp(api.now());
    let generation = object["metadata"]["generation"].clone();
    // Budgets have conditions of the general form: nothing in them is left out.
    let (of_pod, general) = (object["kind"] == "Pod", object["kind"] == "PodDisruptionBudget");
    let conditions = &mut object["status"]["conditions"];
    if !conditions.is_array() {
        *conditions = json!([]);
    }
    let Some(list) = conditions.as_array_mut() else { return };
    let place = list.iter().position(|found| found["type"] == condition.kind).unwrap_or_else(|| {
        list.push(json!({"type": condition.kind}));
        list.len() - 1
    });
    let found = &mut list[place];
    if found["status"] != condition.status {
        found["lastTransitionTime"] = json!(now);
    }
    found["status"] = json!(condition.status);
    for (field, text) in [("reason", condition.reason), ("message", condition.message)] {
        match found.as_object_mut() {
            Some(found) if text.is_empty() && !general => _ = found.remove(field),
            _ => found[field] = json!(text),
        }
    }
    if (of_pod || general) && generation.is_number() {
        found["observedGeneration"] = generation;
    }
}

/// The condition of an object.
pub(super) fn condition<'a>(object: &'a Value, kind: &str) -> Option<&'a Value> {
    object["status"]["conditions"].as_array()?.iter().find(|found| found["type"] == kind)
}

/// Takes a finalizer from an object.
pub(super) fn drop_finalizer(object: &mut Value, finalizer: &str) {
    if let Some(list) = object["metadata"]["finalizers"].as_array_mut() {
        list.retain(|found| found != finalizer);
    }
}
