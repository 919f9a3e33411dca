//! Events of both groups: old ones agree with their object's namespace, new ones say who reports and what was done.

use serde_json::{Value, json};

use super::field;
use crate::admit::names;
use crate::admit::path::Path;
use crate::admit::read::{deep, present, text};
use crate::status::Wrong;

const MOST_CHARACTERS: usize = 128;
const MOST_OF_MESSAGE: usize = 1024;

/// The field of either group.
fn either<'a>(event: &'a Value, core: &str, new: &str) -> &'a str {
    let value = text(event, core);
    if value.is_empty() { text(event, new) } else { value }
}

/// What both groups ask. The object is told from its fields, whichever group they are of.
pub(super) fn event(_version: &str, event: &Value, wrong: &mut Vec<Wrong>) {
    let namespace = text(field::part(event, "metadata"), "namespace");
    let involved = deep(event, &["involvedObject"]).or_else(|| deep(event, &["regarding"]));
    let of_object = involved.map(|object| text(object, "namespace")).unwrap_or_default();
    let mut mismatch = || {
        let path = Path::Top("involvedObject");
        wrong.push(Wrong::invalid(
            path.field("namespace"),
            &json!(of_object),
            "does not match event.namespace",
        ));
    };
    if present(event, "eventTime").is_none() {
        let is_fine =
            if of_object.is_empty() { matches!(namespace, "" | "default") } else { of_object == namespace };
        if !is_fine {
            mismatch();
        }
    } else {
        if of_object.is_empty() && !matches!(namespace, "default" | "kube-system") {
            mismatch();
        }
        reported(event, wrong);
    }
    field::invalid(&Path::Top("namespace"), namespace, names::subdomain(namespace), wrong);
}

fn reported(event: &Value, wrong: &mut Vec<Wrong>) {
    let is_core = present(event, "involvedObject").is_some();
    let name = if is_core { "reportingComponent" } else { "reportingController" };
    let controller = text(event, name);
    let path = Path::Top(name);
    if controller.is_empty() {
        wrong.push(Wrong::required(path, ""));
    }
    field::key(&path, controller, wrong);
    for (name, value) in [
        ("reportingInstance", text(event, "reportingInstance")),
        ("action", text(event, "action")),
        ("reason", text(event, "reason")),
    ] {
        if value.is_empty() {
            wrong.push(Wrong::required(name, ""));
        }
        at_most(name, value, MOST_CHARACTERS, wrong);
    }
    at_most("message", either(event, "message", "note"), MOST_OF_MESSAGE, wrong);
}

fn at_most(name: &str, value: &str, limit: usize, wrong: &mut Vec<Wrong>) {
    if value.len() > limit {
        wrong.push(Wrong::invalid(name, &json!(""), &format!("can have at most {limit} characters")));
    }
}

/// What a new event in the new group must have, and must not have.
pub(super) fn event_v1(event: &Value, wrong: &mut Vec<Wrong>) {
    if present(event, "eventTime").is_none() {
        wrong.push(Wrong::required("eventTime", ""));
    }
    let kind = text(event, "type");
    if !matches!(kind, "Normal" | "Warning") {
        wrong.push(Wrong::invalid("type", &json!(""), &format!("has invalid value: {kind}")));
    }
    for (field, name) in [
        ("deprecatedFirstTimestamp", "firstTimestamp"),
        ("deprecatedLastTimestamp", "lastTimestamp"),
        ("deprecatedCount", "count"),
    ] {
        if !crate::admit::read::is_zero(event.get(field)) {
            wrong.push(Wrong::invalid(name, &json!(""), "needs to be unset"));
        }
    }
}
