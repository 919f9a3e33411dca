//! Changing an object: the one way of updates, patches, subresources and controllers.

use serde_json::{Value, json};

use super::create::{metadata, same_namespace};
use super::finish::{Written, draft};
use super::read::view;
use super::{Api, Target, Write, decode, prepare};
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
        self.rewrite(target, write, |before, warnings| {
            decode::body(target.resource, change(before)?, write, warnings)
        })
    }

    /// The same, by a function that decodes what it returns and warns of what it found.
    pub(super) fn rewrite(
        &self,
        target: &Target<'_>,
        write: &Write,
        mut change: impl FnMut(&Value, &mut Vec<String>) -> Result<Value, Status>,
    ) -> Result<Written, Status> {
        loop {
            let old = self.get(target).ok_or_else(|| target.not_found())?;
            let before = view(target.resource, &old);
            let mut warnings = Vec::new();
            let after = change(&before, &mut warnings)?;
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
            let mut body = decode::body(target.resource, body.clone(), write, &mut Vec::new())?;
            let metadata = metadata(&mut body);
            same_name(metadata.get("name"), target.name)?;
            metadata.insert("name".to_owned(), json!(target.name));
            return self.create(target.resource, target.namespace, body, write);
        }
        self.rewrite(target, write, |before, warnings| {
            let mut after = decode::body(target.resource, body.clone(), write, warnings)?;
            let metadata = metadata(&mut after);
            same_name(metadata.get("name"), target.name)?;
            same_namespace(metadata.get("namespace"), target.namespace)?;
            same_uid(target, before, metadata.get("uid"))?;
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
        keep_identity(target, old, before, &mut after)?;
        prepare::for_update(self, target, before, &mut after, write, warnings)?;
        Ok(after)
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
            return Ok(Some(Written::trial(draft.at(old.revision), false)));
        }
        let store = self.store();
        let written = if done {
            // Watchers are shown what was stored last, the writer what it wrote: that the last holder let go is
            // never stored.
            let last = super::finish::draft(resource, before.clone())?;
            store.remove(&resource.shelf, last, old).map(|object| (object, Arc::new(draft.at(old.revision))))
        } else {
            store.put(&resource.shelf, draft, Expect::This(old)).map(|object| (object.clone(), object))
        };
        Ok(written.ok().map(|(object, shown)| {
            self.after_write(resource, Some(old), &object);
            Written::stored(shown, false)
        }))
    }
}

/// Name, uid and birth stay; a stale version is refused.
fn keep_identity(target: &Target<'_>, old: &Object, before: &Value, after: &mut Value) -> Result<(), Status> {
    let resource = target.resource;
    let metadata = metadata(after);
    same_name(metadata.get("name"), target.name)?;
    same_namespace(metadata.get("namespace"), target.namespace)?;
    let text = |name: &str| metadata.get(name).and_then(Value::as_str).unwrap_or_default();
    let version = text("resourceVersion");
    if !version.is_empty() && version.parse() != Ok(old.revision) {
        if version.parse::<u64>().is_err() {
            return Err(Status::plain(format!("strconv.ParseUint: parsing {version:?}: invalid syntax")));
        }
        return Err(Status::modified(resource.name(), target.name));
    }
    // What a client says of these counts for nothing.
    let kept: &[&str] = &["name", "namespace", "creationTimestamp", "generation", "resourceVersion"];
    let uid: &[&str] = if text("uid").is_empty() { &["uid"] } else { &[] };
    for field in kept.iter().chain(uid).copied() {
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

impl Target<'_> {
    pub(crate) fn not_found(&self) -> Status {
        Status::not_found(self.resource.name(), self.name)
    }
}

/// Whether nothing holds a deleted object any more.
pub(super) fn is_gone(value: &Value) -> bool {
    let metadata = &value["metadata"];
    metadata["deletionTimestamp"].is_string()
        && metadata["deletionGracePeriodSeconds"].as_i64().unwrap_or_default() == 0
        && is_unheld(value)
}

/// Whether an object has no finalizers. Namespaces have some in their spec, too.
pub(super) fn is_unheld(value: &Value) -> bool {
    let none = |list: &Value| list.as_array().is_none_or(Vec::is_empty);
    none(&value["metadata"]["finalizers"])
        && (none(&value["spec"]["finalizers"]) || value["kind"] != "Namespace")
}

pub(crate) fn same_name(found: Option<&Value>, name: &str) -> Result<(), Status> {
    match found.and_then(Value::as_str).unwrap_or_default() {
        same if same == name => Ok(()),
        "" => Err(Status::bad_request(format!(
            "the name of the object ({name} based on URL) was undeterminable: name must be provided"
        ))),
        other => Err(Status::bad_request(format!(
            "the name of the object ({other}) does not match the name on the URL ({name})"
        ))),
    }
}

/// Who replaces an object that he has read means that one and no later one of its name.
pub(super) fn same_uid(target: &Target<'_>, before: &Value, wanted: Option<&Value>) -> Result<(), Status> {
    let wanted = wanted.and_then(Value::as_str).unwrap_or_default();
    let found = before["metadata"]["uid"].as_str().unwrap_or_default();
    if wanted.is_empty() || wanted == found {
        return Ok(());
    }
    let resource = target.resource;
    let place = match &resource.custom {
        Some(_) => format!("{}/{}", resource.group, resource.plural),
        None => resource.plural.clone(),
    };
    let parts = [place.as_str(), target.namespace, target.name];
    let path = parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join("/");
    Err(Status::other_uid(resource.name(), target.name, &path, wanted, found))
}

fn must_be_versioned(target: &Target<'_>) -> Status {
    let wrong = Wrong::invalid("metadata.resourceVersion", &json!(0), "must be specified for an update");
    let resource: &Resource = target.resource;
    // Upstream names the resource here, where the kind would be expected.
    Status::invalid(&resource.group, &resource.plural, target.name, vec![wrong])
}
