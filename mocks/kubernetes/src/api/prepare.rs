//! What happens to an object between the body and the store: decoded, defaulted, admitted, validated.
//!
//! Built-in kinds go by the table of fields and by [`crate::admit`], custom resources by their definition.

use serde_json::{Value, json};

use super::{Api, Fields, Target, Write};
use crate::custom::{self, Definition, Version};
use crate::registry::Resource;
use crate::schema::{conform, refusal, schema, strict_error, strict_warnings};
use crate::status::{Status, Wrong};

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
        None => custom_decode(resource, &mut value),
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

/// Prunes and defaults a custom resource.
fn custom_decode(resource: &Resource, value: &mut Value) -> Vec<String> {
    let Some((_, version)) = &resource.custom else { return Vec::new() };
    let unknown = version.prune(value);
    version.default(value);
    unknown
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
    api: &Api,
    resource: &Resource,
    value: &mut Value,
    _write: &Write,
    _warnings: &mut Vec<String>,
) -> Result<(), Status> {
    if let Some((_, version)) = &resource.custom {
        return custom_create(resource, version, value);
    }
    if is_definition(resource) {
        define(api, value, None)?;
    }
    Ok(())
}

/// Everything between decoding and storing a changed object.
pub(super) fn for_update(
    api: &Api,
    target: &Target<'_>,
    before: &Value,
    after: &mut Value,
    _write: &Write,
    _warnings: &mut Vec<String>,
) -> Result<(), Status> {
    let resource = target.resource;
    if let Some((_, version)) = &resource.custom {
        return custom_update(target, version, before, after);
    }
    if is_definition(resource) {
        define(api, after, Some(before))?;
    }
    Ok(())
}

fn custom_create(resource: &Resource, version: &Version, value: &mut Value) -> Result<(), Status> {
    version.create_without_status(value);
    value["metadata"]["generation"] = json!(1);
    refuse(resource, value, version.validate(value, None))
}

fn custom_update(
    target: &Target<'_>,
    version: &Version,
    before: &Value,
    after: &mut Value,
) -> Result<(), Status> {
    let status = target.subresource == "status";
    if status {
        Version::update_only_status(after, before);
    } else if version.status {
        version.update_without_status(after, before);
    }
    if differs(before, after, version.status) {
        let generation = before["metadata"]["generation"].as_i64().unwrap_or_default();
        after["metadata"]["generation"] = json!(generation + 1);
    }
    let wrong =
        if status { version.validate_status(after, before) } else { version.validate(after, Some(before)) };
    refuse(target.resource, after, wrong)
}

/// Whether anything differs that is neither metadata nor, if it is kept apart, status.
fn differs(before: &Value, after: &Value, status_apart: bool) -> bool {
    let rest = |value: &Value| -> Vec<(String, Value)> {
        let apart = |key: &str| key == "metadata" || status_apart && key == "status";
        let fields = value.as_object().into_iter().flatten().filter(|(key, _)| !apart(key));
        fields.map(|(key, value)| (key.clone(), value.clone())).collect()
    };
    rest(before) != rest(after)
}

fn refuse(resource: &Resource, value: &Value, wrong: Vec<Wrong>) -> Result<(), Status> {
    if wrong.is_empty() {
        return Ok(());
    }
    let name = value["metadata"]["name"].as_str().unwrap_or_default();
    Err(Status::invalid(&resource.group, &resource.kind, name, wrong))
}

fn is_definition(resource: &Resource) -> bool {
    resource.kind == "CustomResourceDefinition" && resource.group == "apiextensions.k8s.io"
}

/// Holds a definition until its objects are gone.
pub(crate) const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// A definition is established in the write that makes it, so that it is served when the writer hears of it.
fn define(api: &Api, value: &mut Value, before: Option<&Value>) -> Result<(), Status> {
    custom::complete(value);
    if let Err(wrong) = Definition::read(value) {
        let name = value["metadata"]["name"].as_str().unwrap_or_default();
        return Err(Status::invalid("apiextensions.k8s.io", "CustomResourceDefinition", name, wrong));
    }
    match before {
        None => {
            value["metadata"]["generation"] = json!(1);
            value["metadata"]["finalizers"] = json!([CLEANUP]);
        }
        Some(before) => {
            if before["spec"] != value["spec"] {
                let generation = before["metadata"]["generation"].as_i64().unwrap_or_default();
                value["metadata"]["generation"] = json!(generation + 1);
            }
            value["status"] = before["status"].clone();
        }
    }
    let conflict = taken(api, value);
    let conflict = conflict.as_ref().map(|(reason, why)| (*reason, why.as_str()));
    custom::establish(value, &super::stamp(api.now()), conflict);
    Ok(())
}

/// Why the names of a definition are not free.
fn taken(api: &Api, value: &Value) -> Option<(&'static str, String)> {
    let spec = &value["spec"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (group, plural, kind) =
        (text(&spec["group"]), text(&spec["names"]["plural"]), text(&spec["names"]["kind"]));
    let registry = api.registry();
    let others = registry.resources().filter(|resource| {
        resource.group == group && !(resource.custom.is_some() && resource.plural == plural)
    });
    for other in others {
        if other.plural == plural {
            return Some(("PluralConflict", format!("\"{plural}\" is already in use")));
        }
        if other.kind == kind {
            return Some(("KindConflict", format!("\"{kind}\" is already in use")));
        }
    }
    None
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
