//! What happens to an object between the body and the store: decoded, defaulted, admitted, validated.
//!
//! Built-in kinds go by the table of fields and by [`crate::admit`], custom resources by their definition.

use serde_json::{Value, json};

use super::{Api, Target, Write};
use crate::registry::Resource;
use crate::status::Status;

/// Reads a body as the kind it must be.
pub(super) fn decode(
    resource: &Resource,
    mut value: Value,
    _write: &Write,
    _warnings: &mut Vec<String>,
) -> Result<Value, Status> {
    if !value.is_object() {
        return Err(Status::bad_request("the body of the request is not an object"));
    }
    value["apiVersion"] = json!(resource.api_version());
    value["kind"] = json!(resource.kind);
    Ok(value)
}

/// Everything between decoding and storing a new object.
pub(super) fn for_create(
    _api: &Api,
    _resource: &Resource,
    _value: &mut Value,
    _write: &Write,
    _warnings: &mut Vec<String>,
) -> Result<(), Status> {
    Ok(())
}

/// Everything between decoding and storing a changed object.
pub(super) fn for_update(
    _api: &Api,
    _target: &Target<'_>,
    _before: &Value,
    _after: &mut Value,
    _write: &Write,
    _warnings: &mut Vec<String>,
) -> Result<(), Status> {
    Ok(())
}

pub(super) fn allows_create_on_update(_resource: &Resource) -> bool {
    false
}

pub(super) fn allows_unconditional_update(resource: &Resource) -> bool {
    resource.custom.is_none()
}

pub(super) fn structure(_resource: &Resource) -> crate::patch::Structure<'static> {
    crate::patch::Structure::Deduced
}

pub(super) fn check_kind(_resource: &Resource, _config: &Value) -> Result<(), Status> {
    Ok(())
}

pub(super) fn decode_applied(
    _resource: &Resource,
    _config: &mut Value,
    _write: &Write,
    _warnings: &mut Vec<String>,
) -> Result<(), Status> {
    Ok(())
}

pub(super) fn apply(
    _api: &Api,
    _target: &Target<'_>,
    _before: Option<&Value>,
    _config: &Value,
    _force: bool,
    _write: &Write,
) -> Result<Value, Status> {
    Err(Status::not_simulated("apply"))
}
