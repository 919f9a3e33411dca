//! The four ways to patch: JSON, merge, strategic merge and server-side apply.
//!
//! Pure functions on values. Reading bodies, resource versions, defaulting and dropping what a kind does not know
//! are the caller's.

mod apply;
mod fields;
mod json;
mod managers;
mod merge;
mod strategic;
mod structure;
mod walk;

#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::status::Status;

pub(crate) use apply::{MAIN, STATUS, Writer, apply, track};
pub(crate) use json::json;
pub(crate) use managers::settle;
pub(crate) use merge::merge;
pub(crate) use strategic::strategic;
pub(crate) use structure::Structure;

/// A patch of the wrong JSON type.
fn undecodable(prefix: &str, patch: &Value, wanted: &str) -> Status {
    let wire = wire_type(patch);
    Status::bad_request(format!("{prefix}json: cannot unmarshal {wire} into Go value of type {wanted}"))
}

/// The JSON type of a value, as a decoder's error calls it.
pub(crate) fn wire_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The Go type of a decoded value, as errors show it.
fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "%!s(<nil>)",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

/// A value as Go's `%v` prints it.
pub(crate) fn as_go(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(as_go).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(fields) => {
            let fields: Vec<String> =
                fields.iter().map(|(key, value)| format!("{key}:{}", as_go(value))).collect();
            format!("map[{}]", fields.join(" "))
        }
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}
