//! The four ways to patch: JSON, merge, strategic merge and server-side apply.
//!
//! Pure functions on values. Reading bodies, resource versions, defaulting and dropping what a kind does not know
//! are the caller's.

mod json;
mod merge;
mod strategic;
mod structure;

use serde_json::Value;

use crate::status::Status;

pub(crate) use json::json;
pub(crate) use merge::merge;
pub(crate) use strategic::strategic;
pub(crate) use structure::Structure;

/// A patch of the wrong JSON type.
fn undecodable(prefix: &str, patch: &Value, wanted: &str) -> Status {
    let wire = wire_type(patch);
    Status::bad_request(format!("{prefix}json: cannot unmarshal {wire} into Go value of type {wanted}"))
}

/// The JSON type of a value, as a decoder's error calls it.
fn wire_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
