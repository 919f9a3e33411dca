//! What happens to an object on its way to the store: admitted, prepared, validated, its writers recorded.
//!
//! Built-in kinds go by the table of fields and by [`crate::admit`], custom resources by their definition.

use std::sync::Arc;

use serde_json::{Value, json};

use super::definition::{self, is_definition};
use super::{Api, Target, Write, stamp, view};
use crate::admit::{self, Request, Shelf, Verb};
use crate::custom::Version;
use crate::patch::{self, Structure, Writer};
use crate::registry::Resource;
use crate::status::{Status, Wrong};

/// Everything between decoding and storing a new object.
pub(super) fn for_create(
    api: &Api,
    resource: &Resource,
    value: &mut Value,
    write: &Write,
    warnings: &mut Vec<String>,
) -> Result<(), Status> {
    let (group, version, kind) = (&*resource.group, &*resource.version, &*resource.kind);
    let (namespace, name) = identity(value);
    let request = request(resource, Verb::Create, "", (&namespace, &name));
    warnings.extend(admit::admit(&request, value, None, api)?);
    if let Some((_, version)) = &resource.custom {
        custom_create(api, resource, version, value)?;
    } else {
        admit::for_create(group, version, kind, value, &stamp(api.now()));
        if kind == "Service" && group.is_empty() {
            admit::allocate(value, None, api);
        }
        if is_definition(resource) {
            definition::define(api, "", value, None)?;
        }
        refuse(resource, value, admit::validate(group, version, kind, "", value, None))?;
        admit::review(&request, value, None, api)?;
        warnings.extend(admit::warnings(group, kind, value, None));
    }
    if !write.applies {
        track(api, resource, "", None, value, write);
    }
    Ok(())
}

/// Everything between decoding and storing a changed object.
pub(super) fn for_update(
    api: &Api,
    target: &Target<'_>,
    before: &Value,
    after: &mut Value,
    write: &Write,
    warnings: &mut Vec<String>,
) -> Result<(), Status> {
    let (resource, subresource) = (target.resource, target.subresource);
    let (group, version, kind) = (&*resource.group, &*resource.version, &*resource.kind);
    // Binding is the server's own doing: nothing of it is the client's to get wrong.
    if subresource == "binding" {
        return Ok(());
    }
    let request = request(resource, Verb::Update, subresource, (target.namespace, target.name));
    warnings.extend(admit::admit(&request, after, Some(before), api)?);
    if let Some((_, version)) = &resource.custom {
        custom_update(target, version, before, after)?;
    } else {
        admit::for_update(group, kind, subresource, after, before, &stamp(api.now()));
        if kind == "Service" && group.is_empty() && subresource.is_empty() {
            admit::allocate(after, Some(before), api);
        }
        if is_definition(resource) {
            definition::define(api, subresource, after, Some(before))?;
        }
        refuse(resource, after, admit::validate(group, version, kind, subresource, after, Some(before)))?;
        admit::review(&request, after, Some(before), api)?;
        if subresource.is_empty() {
            warnings.extend(admit::warnings(group, kind, after, Some(before)));
        }
    }
    if !write.applies {
        track(api, resource, subresource, Some(before), after, write);
    }
    patch::settle(before, after);
    Ok(())
}

/// The namespace and the name of an object.
fn identity(value: &Value) -> (String, String) {
    let text = |field: &str| value["metadata"][field].as_str().unwrap_or_default().to_owned();
    (text("namespace"), text("name"))
}

/// What is asked, as the plugins want to know it.
pub(super) fn request<'a>(
    resource: &'a Resource,
    verb: Verb,
    subresource: &'a str,
    (namespace, name): (&'a str, &'a str),
) -> Request<'a> {
    Request {
        verb,
        group: &resource.group,
        kind: &resource.kind,
        resource: &resource.plural,
        subresource,
        namespace,
        name,
    }
}

/// Who writes, for the record of who manages which field.
fn record<T>(
    api: &Api,
    resource: &Resource,
    subresource: &str,
    write: &Write,
    with: impl FnOnce(Writer<'_>, Structure<'_>) -> T,
) -> T {
    // Upstream loses the time on the way through a `Scale`.
    let time = if subresource == "scale" { String::new() } else { stamp(api.now()) };
    let api_version = resource.api_version();
    let status = resource.subresource("status").is_some();
    let resets = match subresource {
        "status" => patch::STATUS,
        _ if status => patch::MAIN,
        _ => &[],
    };
    let writer = Writer {
        manager: &write.manager,
        api_version: &api_version,
        kind: &resource.kind,
        subresource,
        time: &time,
        resets,
    };
    with(writer, structure(resource))
}

/// Only objects that somebody has applied have a record of who wrote what; keeping one for all of them would double
/// their size for nobody.
fn track(
    api: &Api,
    resource: &Resource,
    subresource: &str,
    before: Option<&Value>,
    after: &mut Value,
    write: &Write,
) {
    record(api, resource, subresource, write, |writer, structure| {
        patch::track(before, after, writer, false, structure);
    });
}

/// What a patch finds where in an object.
pub(super) fn structure(resource: &Resource) -> Structure<'_> {
    match &resource.custom {
        Some((_, version)) => Structure::custom(&version.schema),
        None => Structure::builtin(&resource.api_version(), &resource.kind).unwrap_or(Structure::Deduced),
    }
}

impl Shelf for Api {
    fn get(&self, kind: &str, namespace: &str, name: &str) -> Option<Arc<Value>> {
        let resource = built_in(self, kind)?;
        let object = self.find(&resource, namespace, name)?;
        // Every pod asks for its node, but there are too many nodes to keep them read.
        Some(if kind == "Node" { Arc::new(view(&resource, &object)) } else { object.kept_value() })
    }

    fn list(&self, kind: &str, namespace: &str) -> Vec<Arc<Value>> {
        let objects = built_in(self, kind).map(|resource| self.list(&resource, namespace));
        objects.into_iter().flatten().map(|object| object.kept_value()).collect()
    }
}

/// The built-in resource of a kind, in the version that comes first.
fn built_in(api: &Api, kind: &str) -> Option<Arc<Resource>> {
    let registry = api.registry();
    registry.resources().find(|resource| resource.kind == kind && resource.custom.is_none()).cloned()
}

fn custom_create(api: &Api, resource: &Resource, version: &Version, value: &mut Value) -> Result<(), Status> {
    definition::refuse_if_it_ends(api, resource)?;
    version.create_without_status(value);
    version.default(value);
    value["metadata"]["generation"] = json!(1);
    let mut wrong = admit::validate_metadata(resource.namespaced, value, None);
    wrong.extend(version.validate(value, None));
    refuse(resource, value, wrong)
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
        version.default(after);
    }
    if differs(before, after, version.status) {
        let generation = before["metadata"]["generation"].as_i64().unwrap_or_default();
        after["metadata"]["generation"] = json!(generation + 1);
    }
    let mut wrong = admit::validate_metadata(target.resource.namespaced, after, Some(before));
    wrong.extend(if status {
        version.validate_status(after, before)
    } else {
        version.validate(after, Some(before))
    });
    refuse(target.resource, after, wrong)?;
    if status {
        // All but the status is as it was found, and what is stored in another version has not the defaults of this.
        version.default(after);
    }
    Ok(())
}

/// Whether anything differs that is neither metadata nor, if it is kept apart, status.
fn differs(before: &Value, after: &Value, status_apart: bool) -> bool {
    let apart = |key: &str| key == "metadata" || status_apart && key == "status";
    let [before, after] = [before, after].map(|object| {
        let fields = object.as_object().into_iter().flatten();
        fields.filter(|(key, _)| !apart(key))
    });
    before.ne(after)
}

fn refuse(resource: &Resource, value: &Value, wrong: Vec<Wrong>) -> Result<(), Status> {
    if wrong.is_empty() {
        return Ok(());
    }
    let name = value["metadata"]["name"].as_str().unwrap_or_default();
    // Events are of the core group, whichever they are shown in.
    let group = if resource.shelf == "events" { "" } else { &resource.group };
    // A custom resource is called what it calls itself.
    let kind = value["kind"].as_str().unwrap_or(&resource.kind);
    Err(Status::invalid(group, kind, name, wrong))
}

pub(super) fn allows_create_on_update(resource: &Resource) -> bool {
    resource.custom.is_none() && admit::nature(&resource.group, &resource.kind).allows_create_on_update
}

pub(super) fn allows_unconditional_update(resource: &Resource) -> bool {
    resource.custom.is_none() && admit::nature(&resource.group, &resource.kind).allows_unconditional_update
}

/// What a configuration makes of an object.
pub(super) fn apply(
    api: &Api,
    target: &Target<'_>,
    before: Option<&Value>,
    config: &Value,
    force: bool,
    write: &Write,
) -> Result<Value, Status> {
    record(api, target.resource, target.subresource, write, |writer, structure| {
        patch::apply(before, config, writer, force, structure)
    })
}
