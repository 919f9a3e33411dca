//! Definitions of custom resources: what they define is served from the moment they are stored.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{Api, stamp};
use crate::custom::{self, Definition, Taken};
use crate::registry::Resource;
use crate::status::{Status, Wrong};
use crate::store::{Key, Object};

const SHELF: &str = "customresourcedefinitions.apiextensions.k8s.io";

/// Holds a definition until its objects are gone.
pub(crate) const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

pub(super) fn is_definition(resource: &Resource) -> bool {
    resource.kind == "CustomResourceDefinition" && resource.group == "apiextensions.k8s.io"
}

/// A definition is established in the write that makes it, so that it is served when the writer hears of it.
pub(super) fn define(
    api: &Api,
    subresource: &str,
    value: &mut Value,
    before: Option<&Value>,
) -> Result<(), Status> {
    custom::complete(value);
    let mut wrong = Definition::read(value).err().unwrap_or_default();
    if let Some(before) = before {
        // The name cannot change; if it no longer fits, something else has changed that must not.
        wrong.retain(|wrong| wrong.cause.field != "metadata.name");
        wrong.extend(unchangeable(value, before));
    }
    if !wrong.is_empty() {
        let name = value["metadata"]["name"].as_str().unwrap_or_default();
        return Err(Status::invalid("apiextensions.k8s.io", "CustomResourceDefinition", name, wrong));
    }
    match before {
        None => {
            value["metadata"]["generation"] = json!(1);
        }
        Some(before) => {
            if before["spec"] != value["spec"] {
                let generation = before["metadata"]["generation"].as_i64().unwrap_or_default();
                value["metadata"]["generation"] = json!(generation + 1);
            }
            if subresource != "status" {
                value["status"] = before["status"].clone();
            }
        }
    }
    custom::establish(value, &stamp(api.now()), &taken(api, value));
    Ok(())
}

/// What a definition must keep: its paths, and once it is established what its objects are.
fn unchangeable(value: &Value, before: &Value) -> Vec<Wrong> {
    let mut kept = vec![("spec.group", "/spec/group"), ("spec.names.plural", "/spec/names/plural")];
    if custom::is_established(before) {
        kept.extend([("spec.scope", "/spec/scope"), ("spec.names.kind", "/spec/names/kind")]);
    }
    let changed = kept.into_iter().filter(|(_, at)| value.pointer(at) != before.pointer(at));
    let wrong =
        |(field, at)| Wrong::invalid(field, value.pointer(at).unwrap_or(&Value::Null), "field is immutable");
    changed.map(wrong).collect()
}

/// Of what a definition that goes has defined, nothing more is made.
pub(super) fn refuse_if_it_ends(api: &Api, resource: &Resource) -> Result<(), Status> {
    let name = format!("{}.{}", resource.plural, resource.group);
    let definition = api.store().get(SHELF, &Key::new("", &name));
    if definition.is_some_and(|definition| definition.deleting) {
        return Err(Status::ending_definition(resource.name()));
    }
    Ok(())
}

/// The names that others of the group have.
fn taken(api: &Api, value: &Value) -> Taken {
    let (group, plural) = (&value["spec"]["group"], &value["spec"]["names"]["plural"]);
    let mut taken = Taken { resources: BTreeSet::new(), kinds: BTreeSet::new() };
    let registry = api.registry();
    let others = registry.resources().filter(|resource| {
        *group == resource.group && !(resource.custom.is_some() && *plural == resource.plural)
    });
    for other in others {
        taken.resources.extend([other.plural.clone(), other.singular.clone()]);
        taken.resources.extend(other.short_names.iter().cloned());
        taken.kinds.extend([other.kind.clone(), other.list_kind.clone()]);
    }
    taken
}

impl Api {
    /// Serves what a definition says, and no longer what it said.
    pub(super) fn register(&self, old: Option<&Object>, object: &Object) {
        let value = object.value();
        let still_there = self.store().get(SHELF, &object.key).is_some();
        if still_there && old.is_some_and(|old| old.value()["spec"] == value["spec"]) {
            return;
        }
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (group, plural) = (text(&value["spec"]["group"]), text(&value["spec"]["names"]["plural"]));
        if !still_there {
            self.reregister(|registry| registry.without(&group, &plural));
            return;
        }
        match Definition::read(&value) {
            // Its names are another's.
            Ok(_) if !custom::is_established(&value) => {}
            Ok(definition) => {
                let definition = Arc::new(definition);
                self.reregister(|registry| registry.with(&definition));
            }
            Err(wrong) => tracing::error!(name = %object.key, ?wrong, "a stored definition cannot be read"),
        }
    }
}
