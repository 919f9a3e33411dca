//! Creating an object.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::finish::{Written, draft};
use super::{Api, Write, decode, prepare, stamp};
use crate::registry::Resource;
use crate::status::{Status, Wrong};
use crate::store::{Expect, Object};

/// How often another suffix is tried when a generated name is taken.
const NAME_TRIES: usize = 8;

impl Api {
    /// Creates an object from a body that was read and nothing more.
    pub(crate) fn create(
        &self,
        resource: &Resource,
        namespace: &str,
        body: Value,
        write: &Write,
    ) -> Result<Written, Status> {
        let mut warnings = Vec::new();
        let mut body = decode::body(resource, body, write, &mut warnings)?;
        let generated = body["metadata"]["name"].as_str().is_none_or(str::is_empty);
        let mut tries = if generated { NAME_TRIES } else { 1 };
        loop {
            tries -= 1;
            let value = if tries == 0 { std::mem::take(&mut body) } else { body.clone() };
            let value = self.prepare_create(resource, namespace, value, write, &mut warnings)?;
            match self.commit_create(resource, value, write) {
                Ok(written) => return Ok(written.with(warnings)),
                Err(taken) if tries == 0 => return Err(taken),
                Err(_) => {}
            }
        }
    }

    /// Everything up to the store.
    fn prepare_create(
        &self,
        resource: &Resource,
        namespace: &str,
        mut value: Value,
        write: &Write,
        warnings: &mut Vec<String>,
    ) -> Result<Value, Status> {
        self.give_identity(resource, namespace, &mut value, write.dry_run)?;
        prepare::for_create(self, resource, &mut value, write, warnings)?;
        Ok(value)
    }

    /// Name, namespace, uid and the time of birth. Only the store minds a version, and a trial never gets there.
    fn give_identity(
        &self,
        resource: &Resource,
        namespace: &str,
        value: &mut Value,
        trial: bool,
    ) -> Result<(), Status> {
        let metadata = metadata(value);
        same_namespace(metadata.get("namespace"), namespace)?;
        let versioned = metadata
            .get("resourceVersion")
            .and_then(Value::as_str)
            .is_some_and(|version| !version.is_empty());
        if versioned && !trial {
            return Err(Status::plain("resourceVersion should not be set on objects to be created"));
        }
        let text = |name: &str| metadata.get(name).and_then(Value::as_str).unwrap_or_default();
        if text("name").is_empty() {
            let prefix = text("generateName").to_owned();
            if prefix.is_empty() {
                let wrong = Wrong::required("metadata.name", "name or generateName is required");
                return Err(Status::invalid(&resource.group, &resource.kind, "", vec![wrong]));
            }
            // As upstream: what is too long is cut, the suffix always fits.
            let room = prefix.floor_char_boundary(58);
            metadata
                .insert("name".to_owned(), json!(format!("{}{}", &prefix[..room], self.chance().suffix())));
        }
        if resource.namespaced {
            metadata.insert("namespace".to_owned(), json!(namespace));
        } else {
            metadata.remove("namespace");
        }
        for field in ["deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "generation"] {
            metadata.remove(field);
        }
        metadata.insert("uid".to_owned(), json!(self.chance().uid()));
        metadata.insert("creationTimestamp".to_owned(), json!(stamp(self.now())));
        Ok(())
    }

    fn commit_create(&self, resource: &Resource, value: Value, write: &Write) -> Result<Written, Status> {
        let sent = value["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_owned();
        let draft = draft(resource, value)?;
        let name = draft.key().name.clone();
        let taken = |by: Option<Arc<Object>>| {
            let resource = resource.name();
            match by {
                Some(object) if object.deleting => Status::still_exists(resource, &name),
                _ => Status::already_exists(resource, &name),
            }
        };
        if write.dry_run {
            return match self.store().get(&resource.shelf, draft.key()) {
                Some(object) => Err(taken(Some(object))),
                None => Ok(Written::trial(draft.trial(&sent), true)),
            };
        }
        let put = self.store().put(&resource.shelf, draft, Expect::Nothing);
        let object = put.map_err(|moved| taken(moved.0))?;
        self.after_write(resource, None, &object);
        Ok(Written::stored(object, true))
    }

    /// What the server itself must know at once.
    pub(super) fn after_write(&self, resource: &Resource, old: Option<&Arc<Object>>, object: &Object) {
        if resource.kind == "CustomResourceDefinition" {
            self.register(old.map(AsRef::as_ref), object);
        }
    }
}

/// The metadata of an object, made if it has none.
pub(super) fn metadata(value: &mut Value) -> &mut Map<String, Value> {
    let metadata = &mut value["metadata"];
    if !metadata.is_object() {
        *metadata = json!({});
    }
    match metadata {
        Value::Object(metadata) => metadata,
        _ => unreachable!("the metadata was just made an object"),
    }
}

/// The body may leave its namespace out, but not name another. What has none is forgiven one; the writer clears it.
pub(crate) fn same_namespace(found: Option<&Value>, namespace: &str) -> Result<(), Status> {
    match found.and_then(Value::as_str).unwrap_or_default() {
        _ if namespace.is_empty() => Ok(()),
        "" => Ok(()),
        same if same == namespace => Ok(()),
        _ => Err(Status::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        )),
    }
}
