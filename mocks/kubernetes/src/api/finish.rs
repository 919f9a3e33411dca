//! The last steps of a write: the form in which an object is stored, and what the writer gets back.

use std::sync::Arc;

use serde_json::Value;

use super::event;
use crate::registry::{self, Resource};
use crate::status::Status;
use crate::store::{Draft, Object};

/// No object may be larger: etcd's limit for a request.
const SIZE_MAX: usize = 1_572_864;

/// What a write led to.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) object: Arc<Object>,
    pub(crate) created: bool,
    pub(crate) warnings: Vec<String>,
}

impl Written {
    pub(super) fn stored(object: Arc<Object>, created: bool) -> Self {
        Self { object, created, warnings: Vec::new() }
    }

    /// What would have been stored.
    pub(super) fn trial(object: Object, created: bool) -> Self {
        Self::stored(Arc::new(object), created)
    }

    pub(super) fn with(mut self, warnings: Vec<String>) -> Self {
        self.warnings = warnings;
        self
    }
}

/// A finished object in the version it is stored in.
pub(super) fn draft(resource: &Resource, mut value: Value) -> Result<Draft, Status> {
    let mut made_by = None;
    if resource.group == "events.k8s.io" {
        event::to_core(&mut value);
    }
    if let Some((definition, version)) = &resource.custom {
        made_by = Some(version.clone());
        if let Some(storage) = definition.storage()
            && !Arc::ptr_eq(storage, version)
        {
            value["apiVersion"] = Value::from(storage.api_version.as_str());
            storage.prune(&mut value);
            storage.default(&mut value);
            made_by = Some(storage.clone());
        }
    }
    let draft = Draft::new(&value, registry::values(resource, &value), made_by);
    if draft.size() > SIZE_MAX {
        return Err(Status::plain("etcdserver: request is too large"));
    }
    Ok(draft)
}
