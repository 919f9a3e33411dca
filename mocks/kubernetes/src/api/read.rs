//! An object as a client of one version sees it.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;

use super::Api;
use crate::protobuf;
use crate::registry::Resource;
use crate::store::{Key, Object};

impl Api {
    /// All objects of a namespace, or of all namespaces if it is empty.
    pub(crate) fn list(&self, resource: &Resource, namespace: &str) -> Vec<Arc<Object>> {
        self.store().list(&resource.shelf, namespace).objects
    }

    pub(crate) fn find(&self, resource: &Resource, namespace: &str, name: &str) -> Option<Arc<Object>> {
        self.store().get(&resource.shelf, &Key::new(namespace, name))
    }
}

/// The object in the version of the resource.
pub(crate) fn view(resource: &Resource, object: &Object) -> Value {
    let mut value = object.value();
    if !as_stored(resource, object) {
        convert(resource, &mut value);
    }
    value
}

/// The same as JSON; the stored bytes wherever they will do.
pub(crate) fn view_json(resource: &Resource, object: &Object) -> Bytes {
    if as_stored(resource, object) {
        return object.json.clone();
    }
    serde_json::to_vec(&view(resource, object)).unwrap_or_default().into()
}

/// The same as protobuf without an envelope, kept with the object if it is stored as it is shown.
pub(crate) fn view_protobuf(resource: &Resource, object: &Object) -> Result<Bytes, protobuf::Error> {
    if as_stored(resource, object) {
        return object.protobuf(|| protobuf::bare(&object.value())).cloned();
    }
    protobuf::bare(&view(resource, object)).map(Bytes::from)
}

fn as_stored(resource: &Resource, object: &Object) -> bool {
    match (&resource.custom, &object.made_by) {
        (Some((_, version)), Some(made_by)) => Arc::ptr_eq(version, made_by),
        (None, None) => resource.group != "events.k8s.io",
        _ => false,
    }
}

/// Brings an object into the version of the resource.
fn convert(resource: &Resource, value: &mut Value) {
    if resource.group == "events.k8s.io" {
        super::event::to_events(value);
    }
    value["apiVersion"] = Value::from(resource.api_version());
    if let Some((definition, version)) = &resource.custom {
        // What was stored has the defaults of the version it is stored in, and gets no others on the way.
        match definition.storage() {
            Some(storage) if !Arc::ptr_eq(storage, version) => drop(version.prune(value)),
            _ => version.default(value),
        }
    }
}
