//! Reading a value as the kind it must be: a body, what a patch made of an object, or an applied configuration.
//!
//! Fields that nobody knows are dropped, and told as the writer wished. Built-in kinds go by the table of fields,
//! custom resources by their definition. Nothing is admitted or validated here.

use serde_json::{Value, json};

use super::{Fields, Write};
use crate::admit;
use crate::protobuf::unregistered;
use crate::registry::{Resource, api_version};
use crate::schema::{conform, schema, strict_error, strict_warnings};
use crate::status::Status;

/// Who wrote which fields of an object.
const RECORD: &str = "/metadata/managedFields";

/// What a value says it is.
struct Said {
    api_version: String,
    kind: String,
}

/// Reads a body.
pub(super) fn body(
    resource: &Resource,
    mut value: Value,
    write: &Write,
    warnings: &mut Vec<String>,
) -> Result<Value, Status> {
    if value.is_null() {
        value = json!({});
    }
    let said = Said::read(resource, &value);
    let version = said.api_version.rsplit('/').next().unwrap_or_default();
    let refused = |why: String| Status::unreadable(version, &said.kind, &resource.kind, &why);
    let unknown = said.decode(resource, &mut value).map_err(refused)?;
    let expected = resource.api_version();
    if said.api_version != expected {
        return Err(Status::bad_request(format!(
            "the API version in the data ({}) does not match the expected API version ({expected})",
            said.api_version
        )));
    }
    strictly(write, &unknown, warnings).map_err(refused)?;
    Ok(defaulted(resource, value))
}

/// Reads the body of a subresource or of a question: group, version and kind are what it should be.
pub(crate) fn read_as((group, version, kind): (&str, &str, &str), mut value: Value) -> Result<Value, Status> {
    if value.is_null() {
        value = json!({});
    }
    // The options of requests are not of any group.
    let wanted = if group == "meta.k8s.io" { "v1".to_owned() } else { api_version(group, version) };
    let said = Said::of(&value, &wanted, kind);
    if group == "meta.k8s.io" && said.kind != kind {
        return Err(Status::bad_request(said.unregistered()));
    }
    let found = said.api_version.rsplit('/').next().unwrap_or_default();
    said.decode_built_in(group, kind, &mut value)
        .map_err(|why| Status::unreadable(found, &said.kind, kind, &why))?;
    Ok(value)
}

/// Reads what a patch made of an object. `shown` is how its errors show it.
pub(super) fn patched(
    resource: &Resource,
    mut value: Value,
    shown: impl Fn() -> String,
    write: &Write,
    warnings: &mut Vec<String>,
) -> Result<Value, Status> {
    let refused = |why: String| Status::bad_patch(&shown(), &why);
    let said = Said::read(resource, &value);
    let unknown = said.decode(resource, &mut value).map_err(refused)?;
    strictly(write, &unknown, warnings).map_err(refused)?;
    Ok(defaulted(resource, value))
}

/// Whether a configuration is of the kind it is applied to, and says nothing twice. What that kind does not know,
/// whoever merges it tells.
pub(super) fn applied(resource: &Resource, config: &Value, write: &Write) -> Result<(), Status> {
    let said = Said::read(resource, config);
    if !said.is(resource) {
        let (group, version) = said.api_version.split_once('/').unwrap_or(("", &said.api_version));
        return Err(Status::bad_request(format!(
            "invalid object type: {group}/{version}, Kind={}",
            said.kind
        )));
    }
    // What is only warned of is told when the result is decoded.
    strictly(write, &[], &mut Vec::new()).map_err(Status::bad_request)
}

impl Said {
    /// What a value leaves unsaid it takes from where it was sent.
    fn read(resource: &Resource, value: &Value) -> Self {
        Self::of(value, &resource.api_version(), &resource.kind)
    }

    fn of(value: &Value, api_version: &str, kind: &str) -> Self {
        let text = |name: &str, unsaid: &str| {
            let said = value[name].as_str().filter(|said| !said.is_empty());
            said.unwrap_or(unsaid).to_owned()
        };
        Self { api_version: text("apiVersion", api_version), kind: text("kind", kind) }
    }

    fn is(&self, resource: &Resource) -> bool {
        self.kind == resource.kind && self.api_version == resource.api_version()
    }

    /// The unknown fields; the error is a sentence of Go's.
    fn decode(&self, resource: &Resource, value: &mut Value) -> Result<Vec<String>, String> {
        // An empty record of writers says that it is to be forgotten; read as a struct it would be no record at all.
        let forgets = value.pointer(RECORD).and_then(Value::as_array).is_some_and(Vec::is_empty);
        let unknown = self.decode_kind(resource, value)?;
        if forgets {
            value["metadata"]["managedFields"] = json!([]);
        }
        Ok(unknown)
    }

    fn decode_kind(&self, resource: &Resource, value: &mut Value) -> Result<Vec<String>, String> {
        if let Some((_, version)) = &resource.custom {
            value["apiVersion"] = json!(self.api_version);
            value["kind"] = json!(self.kind);
            let mut unknown = metadata(value)?;
            // Of another kind nobody knows the fields; that it is another is said when it is validated.
            if self.is(resource) {
                unknown.extend(version.prune(value));
            }
            return Ok(unknown);
        }
        self.decode_built_in(&resource.group, &resource.kind, value)
    }

    fn decode_built_in(&self, group: &str, kind: &str, value: &mut Value) -> Result<Vec<String>, String> {
        let Some(message) = schema().api_kind(&self.api_version, &self.kind) else {
            return Err(self.unregistered());
        };
        let unknown = conform(message.id.message(), value)?;
        if self.kind != kind {
            let (found, internal) = (message.go(), internal_package(group));
            return Err(format!("converting ({found}) to ({internal}.{kind}): unknown conversion"));
        }
        value["apiVersion"] = json!(self.api_version);
        value["kind"] = json!(self.kind);
        Ok(unknown)
    }

    fn unregistered(&self) -> String {
        unregistered(&self.api_version, &self.kind)
    }
}

/// Brings the metadata of a custom resource into the form that all metadata has.
fn metadata(value: &mut Value) -> Result<Vec<String>, String> {
    let Some(message) = schema().message("k8s.io.apimachinery.pkg.apis.meta.v1", "ObjectMeta") else {
        return Ok(Vec::new());
    };
    match value.get_mut("metadata") {
        None => Ok(Vec::new()),
        Some(metadata) => {
            let unknown = conform(message.id.message(), metadata)?;
            Ok(unknown.into_iter().map(|field| format!("metadata.{field}")).collect())
        }
    }
}

/// The Go package of a group's own types, as errors spell it.
pub(crate) fn internal_package(group: &str) -> &str {
    match group.split('.').next() {
        Some("" | "events") | None => "core",
        Some(first) => first,
    }
}

fn defaulted(resource: &Resource, mut value: Value) -> Value {
    match &resource.custom {
        Some((_, version)) if value["kind"] == resource.kind => version.default(&mut value),
        Some(_) => {}
        None => admit::default(&resource.group, &resource.version, &resource.kind, &mut value),
    }
    value
}

/// Tells of fields that nobody knows or that come twice, as the writer wished.
fn strictly(write: &Write, unknown: &[String], warnings: &mut Vec<String>) -> Result<(), String> {
    match write.fields {
        Fields::Ignore => Ok(()),
        Fields::Warn => {
            warnings.extend(strict_warnings(unknown, &write.doubles));
            Ok(())
        }
        Fields::Strict => strict_error(unknown, &write.doubles).map_or(Ok(()), Err),
    }
}
