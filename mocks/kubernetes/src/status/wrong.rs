//! What is wrong with a field, in upstream's words, and how it is a cause of a `Status`.

use std::fmt;

use serde_json::{Map, Value};

/// One cause: in validation, one field that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cause {
    /// `FieldValueInvalid`, `FieldManagerConflict`, …
    pub(crate) reason: String,
    pub(crate) message: String,
    /// The path of the field, `spec.containers[0].name`; may be empty.
    pub(crate) field: String,
}

impl Cause {
    pub(super) fn to_value(&self) -> Value {
        let mut cause = Map::new();
        for (key, text) in [("reason", &self.reason), ("message", &self.message), ("field", &self.field)] {
            if !text.is_empty() {
                cause.insert(key.to_owned(), Value::from(text.as_str()));
            }
        }
        Value::Object(cause)
    }
}

/// A wrong field of an object, in upstream's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    pub(crate) cause: Cause,
}

impl Wrong {
    fn new(reason: &str, field: impl Into<String>, message: String) -> Self {
        Self { cause: Cause { reason: reason.to_owned(), message, field: field.into() } }
    }

    pub(crate) fn required(field: impl Into<String>, detail: &str) -> Self {
        let tail = if detail.is_empty() { String::new() } else { format!(": {detail}") };
        Self::new("FieldValueRequired", field, format!("Required value{tail}"))
    }

    pub(crate) fn invalid(field: impl Into<String>, value: &Value, detail: &str) -> Self {
        Self::new("FieldValueInvalid", field, format!("Invalid value: {value}: {detail}"))
    }

    /// The same for a value that upstream does not print as JSON of the wire, but as its own struct: `shown`.
    pub(crate) fn invalid_shown(field: impl Into<String>, shown: &str, detail: &str) -> Self {
        let detail = if detail.is_empty() { String::new() } else { format!(": {detail}") };
        Self::new("FieldValueInvalid", field, format!("Invalid value: {shown}{detail}"))
    }

    /// An invalid value that is too large to show.
    pub(crate) fn invalid_unshown(field: impl Into<String>, detail: &str) -> Self {
        Self::new("FieldValueInvalid", field, format!("Invalid value: {detail}"))
    }

    /// A value of the wrong JSON type.
    pub(crate) fn wrong_type(field: impl Into<String>, value: &Value, detail: &str) -> Self {
        Self::new("FieldValueTypeInvalid", field, format!("Invalid value: {value}: {detail}"))
    }

    /// The server itself failed over a field.
    pub(crate) fn internal(field: impl Into<String>, detail: &str) -> Self {
        Self::new("InternalError", field, format!("Internal error: {detail}"))
    }

    pub(crate) fn forbidden(field: impl Into<String>, detail: &str) -> Self {
        Self::new("FieldValueForbidden", field, format!("Forbidden: {detail}"))
    }

    pub(crate) fn duplicate(field: impl Into<String>, value: &Value) -> Self {
        Self::duplicate_shown(field, &value.to_string(), "")
    }

    /// A duplicate that upstream prints as its own struct.
    pub(crate) fn duplicate_shown(field: impl Into<String>, shown: &str, detail: &str) -> Self {
        let detail = if detail.is_empty() { String::new() } else { format!(": {detail}") };
        Self::new("FieldValueDuplicate", field, format!("Duplicate value: {shown}{detail}"))
    }

    pub(crate) fn not_supported(field: impl Into<String>, value: &Value, supported: &[&str]) -> Self {
        Self::not_supported_shown(field, &value.to_string(), supported)
    }

    /// A value out of a list that upstream prints as its own struct.
    pub(crate) fn not_supported_shown(field: impl Into<String>, shown: &str, supported: &[&str]) -> Self {
        let list = supported.iter().map(|value| format!("{value:?}")).collect::<Vec<_>>().join(", ");
        let message = format!("Unsupported value: {shown}: supported values: {list}");
        Self::new("FieldValueNotSupported", field, message)
    }

    pub(crate) fn not_found(field: impl Into<String>, value: &Value) -> Self {
        Self::new("FieldValueNotFound", field, format!("Not found: {value}"))
    }

    pub(crate) fn too_long(field: impl Into<String>, limit: usize) -> Self {
        let unit = if limit == 1 { "byte" } else { "bytes" };
        let detail = format!("Too long: may not be more than {limit} {unit}");
        Self::new("FieldValueTooLong", field, detail)
    }

    pub(crate) fn too_many(field: impl Into<String>, actual: usize, limit: usize) -> Self {
        let unit = if limit == 1 { "item" } else { "items" };
        let detail = format!("Too many: {actual}: must have at most {limit} {unit}");
        Self::new("FieldValueTooMany", field, detail)
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.cause.field.is_empty() {
            return f.write_str(&self.cause.message);
        }
        write!(f, "{}: {}", self.cause.field, self.cause.message)
    }
}
