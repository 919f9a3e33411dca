//! JSON merge patch: RFC 7386 with the habits of a real API server.
//!
//! Nulls inside a list that a patch brings stay, nulls of objects inside that list go. The optimistic lock inside a
//! patch (`metadata.resourceVersion`) is the store's business, not ours.

use serde_json::{Map, Value};

use crate::status::Status;

/// The target with the patch merged in.
pub(crate) fn merge(target: &Value, patch: &Value) -> Result<Value, Status> {
    match (target, patch) {
        (Value::Object(target), Value::Object(patch)) => {
            let mut merged = target.clone();
            merge_fields(&mut merged, patch);
            Ok(Value::Object(merged))
        }
        (_, Value::Null) => Err(Status::bad_request("Invalid JSON Patch")),
        (_, patch) => Err(super::undecodable("error decoding patch: ", patch, "map[string]interface {}")),
    }
}

fn merge_fields(target: &mut Map<String, Value>, patch: &Map<String, Value>) {
    for (key, wanted) in patch {
        match (target.get_mut(key), wanted) {
            (_, Value::Null) => {
                target.remove(key);
            }
            (Some(Value::Object(current)), Value::Object(wanted)) => merge_fields(current, wanted),
            (Some(Value::Object(_)), wanted) => {
                target.insert(key.clone(), wanted.clone());
            }
            (_, wanted) => {
                target.insert(key.clone(), without_nulls(wanted));
            }
        }
    }
}

/// A value as a patch adds it: fields that are null are absent.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key.clone(), without_nulls(value)))
            .collect(),
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        scalar => scalar.clone(),
    }
}
