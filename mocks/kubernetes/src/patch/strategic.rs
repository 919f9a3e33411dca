//! Strategic merge patch: a merge patch that knows which lists are merged and by which key.
//!
//! Directives: `$patch`, `$retainKeys`, `$setElementOrder/<field>`, `$deleteFromPrimitiveList/<field>`. As on a real
//! server, new items of a list are taken as they come, with nulls and directives inside, and a directive beside a
//! field that was absent stays: reading the result as the kind it is drops both, and that is the caller's.

mod list;

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::status::Status;

use super::as_go;
use super::structure::{Structure, Way};

type Object = Map<String, Value>;

const PATCH: &str = "$patch";
const RETAIN: &str = "$retainKeys";
const DELETE: &str = "$deleteFromPrimitiveList";
const ORDER: &str = "$setElementOrder";

/// The target with the patch merged in by the strategies of its kind.
pub(crate) fn strategic(target: &Value, patch: &Value, kind: Structure<'_>) -> Result<Value, Status> {
    let patch = match patch {
        Value::Object(patch) => patch.clone(),
        Value::Null => Object::new(),
        other => return Err(super::undecodable("", other, "map[string]interface {}")),
    };
    let target = target.as_object().cloned().unwrap_or_default();
    merge(target, patch, kind).map(Value::Object)
}

fn merge(mut target: Object, mut patch: Object, place: Structure<'_>) -> Result<Object, Status> {
    if let Some(directive) = patch.remove(PATCH) {
        return match directive.as_str() {
            Some("replace") => Ok(patch),
            Some("delete") => Ok(Object::new()),
            _ => {
                patch.insert(PATCH.to_owned(), directive.clone());
                Err(unknown_directive(&directive, patch))
            }
        };
    }
    retain_keys(&mut target, &mut patch)?;
    list::put_in_order(&mut target, &mut patch, place)?;
    for (key, wanted) in patch {
        let (field, deleting) = match key.strip_prefix(DELETE) {
            Some(rest) => (rest.strip_prefix('/').ok_or_else(bad_primitive_list)?, true),
            None => (key.as_str(), false),
        };
        if wanted.is_null() {
            target.remove(field);
            continue;
        }
        let merged = match (target.remove(field), wanted) {
            (Some(Value::Object(current)), Value::Object(wanted)) => {
                merge_field(current, wanted, field, place).map(Value::Object).map(Some)?
            }
            (Some(Value::Array(current)), Value::Array(wanted)) => {
                let rule = rule(place, field)?;
                list::merge_field(current, wanted, rule, deleting).map(Value::Array).map(Some)?
            }
            (current, _) if deleting => current,
            (_, wanted) => without_directives(without_nulls(wanted)),
        };
        if let Some(merged) = merged {
            target.insert(field.to_owned(), merged);
        }
    }
    Ok(target)
}

fn merge_field(current: Object, wanted: Object, field: &str, place: Structure<'_>) -> Result<Object, Status> {
    let place = rule(place, field)?;
    match place.strategy().way {
        Way::Replace => Ok(wanted),
        Way::Merge | Way::Unsaid => merge(current, wanted, place),
    }
}

/// The place of a field that is to be merged.
fn rule<'a>(place: Structure<'a>, field: &str) -> Result<Structure<'a>, Status> {
    place.named_field(field).ok_or_else(|| Status::plain(place.unmergeable(field)))
}

/// Drops what the patch does not list, and refuses a patch that sets what it does not list.
fn retain_keys(target: &mut Object, patch: &mut Object) -> Result<(), Status> {
    let bad = || Status::bad_request("invalid patch format of retainKeys");
    let Some(retained) = patch.remove(RETAIN) else { return Ok(()) };
    let retained: BTreeSet<&str> =
        retained.as_array().ok_or_else(bad)?.iter().filter_map(Value::as_str).collect();
    let listed = |(key, value): (&String, &Value)| {
        value.is_null()
            || key.starts_with(DELETE)
            || key.starts_with(ORDER)
            || retained.contains(key.as_str())
    };
    if !patch.iter().all(listed) {
        return Err(bad());
    }
    target.retain(|key, _| retained.contains(key.as_str()));
    Ok(())
}

/// What a patch adds where nothing was: without fields that are null.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key, without_nulls(value)))
            .collect(),
        Value::Array(items) => items.into_iter().map(without_nulls).collect(),
        scalar => scalar,
    }
}

/// The same without maps that carry a `$patch`; `None` if the whole is one.
fn without_directives(value: Value) -> Option<Value> {
    match value {
        Value::Object(fields) if fields.contains_key(PATCH) => None,
        Value::Object(fields) => Some(
            fields
                .into_iter()
                .filter_map(|(key, value)| without_directives(value).map(|value| (key, value)))
                .collect(),
        ),
        Value::Array(items) => Some(items.into_iter().filter_map(without_directives).collect()),
        scalar => Some(scalar),
    }
}

fn bad_primitive_list() -> Status {
    Status::bad_request("invalid patch format of primitive list")
}

fn unknown_directive(directive: &Value, map: Object) -> Status {
    let (directive, map) = (as_go(directive), as_go(&Value::Object(map)));
    Status::plain(format!("unknown patch type: {directive} in map: {map}"))
}
