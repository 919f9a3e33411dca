//! What happens to an object between the body and the store: decoded, defaulted, admitted, validated.
//!
//! Built-in kinds go by the table of fields and by [`crate::admit`], custom resources by their definition.

use serde_json::{Value, json};

use super::{Api, Fields, Target, Write};
use crate::registry::Resource;
use crate::schema::{conform, refusal, schema, strict_error, strict_warnings};
use crate::status::Status;

/// Reads a body as the kind it must be. Fields that nobody knows are dropped, and told as the writer wished.
pub(super) fn decode(
    resource: &Resource,
    mut value: Value,
    write: &Write,
    warnings: &mut Vec<String>,
) -> Result<Value, Status> {
    check_kind(resource, &value)?;
    value["apiVersion"] = json!(resource.api_version());
    value["kind"] = json!(resource.kind);
    let unknown = match schema().kind(&resource.group, &resource.version, &resource.kind) {
        Some(message) => conform(message.id.message(), &mut value)
            .map_err(|error| refusal(&resource.version, &resource.kind, &error))?,
        None => Vec::new(),
    };
    match write.fields {
        Fields::Ignore => {}
        Fields::Warn => warnings.extend(strict_warnings(&unknown, &write.doubles)),
        Fields::Strict => {
            if let Some(error) = strict_error(&unknown, &write.doubles) {
                return Err(Status::bad_request(error));
            }
        }
    }
    Ok(value)
}

/// The body may leave its kind out, but not be another.
pub(super) fn check_kind(resource: &Resource, value: &Value) -> Result<(), Status> {
    if !value.is_object() {
        return Err(Status::bad_request("the body of the request is not an object"));
    }
    let text = |name: &str| value[name].as_str().unwrap_or_default();
    let (version, kind) = (text("apiVersion"), text("kind"));
    let expected = resource.api_version();
    if !version.is_empty() && version != expected {
        return Err(Status::bad_request(format!(
            "the API version in the data ({version}) does not match the expected API version ({expected})"
        )));
    }
    if !kind.is_empty() && kind != resource.kind {
        let (group, found) = (&resource.group, &resource.kind);
        let version = &resource.version;
        return Err(Status::bad_request(format!(
            "{kind} in version {version:?} cannot be handled as a {found}: converting ({group}/{version}, Kind={kind}) to a {found} is unknown"
        )));
    }
    Ok(())
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
