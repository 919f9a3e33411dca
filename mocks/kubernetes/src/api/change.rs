//! Changing an object: the one way of updates, patches, subresources and controllers.

use serde_json::{Value, json};

use super::create::{metadata, same_namespace};
use super::finish::{Written, draft};
use super::read::view;
use super::{Api, Target, Write, prepare};
use crate::registry::Resource;
use crate::status::{Status, Wrong};
use crate::store::{Expect, Object};

use std::sync::Arc;

impl Api {
    /// Changes an object by a function of what it was. If somebody else wrote in between, the function is asked
    /// again; a resource version in what it returns must be that of the object.
    pub(crate) fn change(
        &self,
        target: &Target<'_>,
        write: &Write,
        mut change: impl FnMut(&Value) -> Result<Value, Status>,
    ) -> Result<Written, Status> {
        loop {
            let old = self.get(target).ok_or_else(|| target.not_found())?;
            let before = view(target.resource, &old);
            let mut warnings = Vec::new();
            let after = prepare::decode(target.resource, change(&before)?, write, &mut warnings)?;
            let after = self.prepare_change(target, write, &old, &before, after, &mut warnings)?;
            if let Some(written) = self.commit_change(target, write, &old, &before, after)? {
                return Ok(written.with(warnings));
            }
        }
    }

    /// Replaces an object; some kinds are created if they are not there.
    pub(crate) fn replace(
        &self,
        target: &Target<'_>,
        write: &Write,
        body: &Value,
    ) -> Result<Written, Status> {
        let creates = target.subresource.is_empty() && prepare::allows_create_on_update(target.resource);
        if creates && self.get(target).is_none() {
            let mut body = body.clone();
            let metadata = metadata(&mut body);
            same_name(metadata.get("name"), target.name)?;
            metadata.insert("name".to_owned(), json!(target.name));
            return self.create(target.resource, target.namespace, body, write);
        }
        self.change(target, write, |before| {
            let mut after = body.clone();
            let metadata = metadata(&mut after);
            let versioned =
                metadata.get("resourceVersion").and_then(Value::as_str).is_some_and(|v| !v.is_empty());
            if !versioned {
                if !prepare::allows_unconditional_update(target.resource) {
                    return Err(must_be_versioned(target));
                }
                metadata.insert("resourceVersion".to_owned(), before["metadata"]["resourceVersion"].clone());
            }
            Ok(after)
        })
    }

    /// Everything up to the store.
    fn prepare_change(
        &self,
        target: &Target<'_>,
        write: &Write,
        old: &Object,
        before: &Value,
        mut after: Value,
        warnings: &mut Vec<String>,
    ) -> Result<Value, Status> {
        self.keep_identity(target, old, before, &mut after)?;
        prepare::for_update(self, target, before, &mut after, write, warnings)?;
        Ok(after)
    }

    /// Name, uid and birth stay; a stale version is refused.
    fn keep_identity(
        &self,
        target: &Target<'_>,
        old: &Object,
        before: &Value,
        after: &mut Value,
    ) -> Result<(), Status> {
        let resource = target.resource;
        let metadata = metadata(after);
        same_name(metadata.get("name"), target.name)?;
        same_namespace(metadata, target.namespace)?;
        let text = |name: &str| metadata.get(name).and_then(Value::as_str).unwrap_or_default();
        let uid = text("uid");
        if !uid.is_empty() && uid != &*old.uid {
            let why =
                format!("Precondition failed: UID in precondition: {uid}, UID in object meta: {}", old.uid);
            return Err(Status::conflict(resource.name(), target.name, &why));
        }
        let version = text("resourceVersion");
        if !version.is_empty() && version.parse() != Ok(old.revision) {
            if version.parse::<u64>().is_err() {
                let wrong = Wrong::invalid(
                    "metadata.resourceVersion",
                    &json!(version),
                    "must be an unsigned integer",
                );
                return Err(Status::invalid(&resource.group, &resource.kind, target.name, vec![wrong]));
            }
            return Err(Status::modified(resource.name(), target.name));
        }
        for field in ["name", "namespace", "uid", "creationTimestamp", "generation", "resourceVersion"] {
            match &before["metadata"][field] {
                Value::Null => metadata.remove(field),
                kept => metadata.insert(field.to_owned(), kept.clone()),
            };
        }
        for field in ["deletionTimestamp", "deletionGracePeriodSeconds"] {
            if let (None, kept @ (Value::String(_) | Value::Number(_))) =
                (metadata.get(field), &before["metadata"][field])
            {
                metadata.insert(field.to_owned(), kept.clone());
            }
        }
        Ok(())
    }

    /// Writes the change down; `None` if somebody else was first.
    fn commit_change(
        &self,
        target: &Target<'_>,
        write: &Write,
        old: &Arc<Object>,
        before: &Value,
        after: Value,
    ) -> Result<Option<Written>, Status> {
        let resource = target.resource;
        let done = is_gone(&after);
        if after == *before && !done {
            return Ok(Some(Written::stored(old.clone(), false)));
        }
        let draft = draft(resource, after)?;
        if write.dry_run {
            return Ok(Some(Written::trial(draft.at(old.revision))));
        }
        let store = self.store();
        let object = if done {
            // Watchers are shown what was stored last; that the last holder let go is never stored.
            store.remove(&resource.shelf, &super::finish::draft(resource, before.clone())?, old)
        } else {
            store.put(&resource.shelf, &draft, Expect::This(old))
        };
        Ok(object.ok().map(|object| {
            self.after_write(resource, Some(old), &object);
            Written::stored(object, false)
        }))
    }
}

impl Target<'_> {
    pub(crate) fn not_found(&self) -> Status {
        Status::not_found(self.resource.name(), self.name)
    }
}

/// Whether nothing holds a deleted object any more.
pub(super) fn is_gone(value: &Value) -> bool {
    let metadata = &value["metadata"];
    metadata["deletionTimestamp"].is_string()
        && metadata["finalizers"].as_array().is_none_or(Vec::is_empty)
        && metadata["deletionGracePeriodSeconds"].as_i64().unwrap_or_default() == 0
        && value["spec"]["finalizers"]
            .as_array()
            .is_none_or(|list| list.is_empty() || value["kind"] != "Namespace")
}

fn same_name(found: Option<&Value>, name: &str) -> Result<(), Status> {
    match found.and_then(Value::as_str).unwrap_or_default() {
        same if same == name => Ok(()),
        "" => Err(Status::bad_request("name must be provided")),
        other => Err(Status::bad_request(format!(
            "the name of the object ({other}) does not match the name on the URL ({name})"
        ))),
    }
}

fn must_be_versioned(target: &Target<'_>) -> Status {
    let wrong = Wrong::invalid("metadata.resourceVersion", &json!(0), "must be specified for an update");
    let resource: &Resource = target.resource;
    Status::invalid(&resource.group, &resource.kind, target.name, vec![wrong])
}
