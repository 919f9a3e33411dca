//! Deleting an object: grace, finalizers, dependents.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::change::is_gone;
use super::create::metadata;
use super::finish::draft;
use super::read::view;
use super::{Api, Delete, Propagation, Target, Write, prepare, stamp};
use crate::admit::{self, Verb};
use crate::registry::Resource;
use crate::status::Status;
use crate::store::{Expect, Object};

/// Asks the garbage collector to delete dependents first.
pub(crate) const FOREGROUND: &str = "foregroundDeletion";
/// Asks the garbage collector to set dependents free.
pub(crate) const ORPHAN: &str = "orphan";

/// What a deletion led to.
#[derive(Debug)]
pub(crate) struct Deleted {
    /// The last state that was written.
    pub(crate) object: Arc<Object>,
    /// It is no longer there.
    pub(crate) gone: bool,
}

impl Api {
    /// Deletes an object, or marks it for those who hold it.
    pub(crate) fn delete(
        &self,
        target: &Target<'_>,
        delete: &Delete,
        write: &Write,
    ) -> Result<Deleted, Status> {
        let resource = target.resource;
        loop {
            let old = self.get(target).ok_or_else(|| target.not_found())?;
            check(target, &old, delete)?;
            let mut before = view(resource, &old);
            let request = prepare::request(resource, Verb::Delete, "", (target.namespace, target.name));
            admit::admit(&request, &mut before, None, self)?;
            let after = self.mark(resource, &before, delete);
            let gone = is_gone(&after);
            if !gone && after == before {
                return Ok(Deleted { object: old, gone: false });
            }
            let draft = draft(resource, after)?;
            if write.dry_run {
                return Ok(Deleted { object: Arc::new(draft.at(old.revision)), gone });
            }
            let store = self.store();
            let written = if gone {
                store.remove(&resource.shelf, &super::finish::draft(resource, before)?, &old)
            } else {
                store.put(&resource.shelf, &draft, Expect::This(&old))
            };
            if let Ok(object) = written {
                self.after_write(resource, Some(&old), &object);
                return Ok(Deleted { object, gone });
            }
        }
    }

    /// The object as its deletion leaves it.
    fn mark(&self, resource: &Resource, before: &Value, delete: &Delete) -> Value {
        let mut after = before.clone();
        propagate(resource, metadata(&mut after), delete.propagation);
        let grace = grace(resource, before, delete);
        let since = before["metadata"]["deletionTimestamp"].as_str();
        let previous = before["metadata"]["deletionGracePeriodSeconds"].as_i64();
        let shortened = since.is_some() && previous.is_some_and(|previous| grace < previous);
        if since.is_none() || shortened {
            let metadata = metadata(&mut after);
            let seconds = u64::try_from(grace).unwrap_or_default();
            let asked = match (since.and_then(|since| since.parse::<mock_clock::Time>().ok()), previous) {
                (Some(due), Some(previous)) => {
                    let previous = Duration::from_secs(u64::try_from(previous).unwrap_or_default());
                    mock_clock::Time::from_unix_nanos(
                        due.unix_nanos()
                            .saturating_sub(u64::try_from(previous.as_nanos()).unwrap_or(u64::MAX)),
                    )
                }
                _ => self.now(),
            };
            let due = asked + Duration::from_secs(seconds);
            if since.is_none() && prepare::is_definition(resource) {
                hold(metadata, prepare::CLEANUP);
            }
            metadata.insert("deletionTimestamp".to_owned(), json!(stamp(due)));
            metadata.insert("deletionGracePeriodSeconds".to_owned(), json!(grace));
            if since.is_none()
                && let Some(generation) = before["metadata"]["generation"].as_i64()
            {
                metadata.insert("generation".to_owned(), json!(generation + 1));
            }
        }
        if resource.kind == "Namespace" && resource.group.is_empty() {
            after["status"]["phase"] = json!("Terminating");
        }
        after
    }
}

/// The conditions of the one who deletes.
fn check(target: &Target<'_>, old: &Object, delete: &Delete) -> Result<(), Status> {
    let conflict = |what: &str, asked: &str, found: &str| {
        let why =
            format!("Precondition failed: {what} in precondition: {asked}, {what} in object meta: {found}");
        Err(Status::conflict(target.resource.name(), target.name, &why))
    };
    let preconditions = &delete.preconditions;
    if let Some(uid) = preconditions.uid.as_ref().filter(|uid| ***uid != *old.uid) {
        return conflict("UID", uid, &old.uid);
    }
    let found = old.revision.to_string();
    if let Some(version) = preconditions.resource_version.as_ref().filter(|version| **version != found) {
        return conflict("ResourceVersion", version, &found);
    }
    Ok(())
}

/// The seconds an object may still take. Only pods take any.
fn grace(resource: &Resource, before: &Value, delete: &Delete) -> i64 {
    if resource.kind != "Pod" || !resource.group.is_empty() {
        return 0;
    }
    let scheduled = before["spec"]["nodeName"].as_str().is_some_and(|node| !node.is_empty());
    let finished = matches!(before["status"]["phase"].as_str(), Some("Succeeded" | "Failed"));
    if !scheduled || finished {
        return 0;
    }
    let own = || before["spec"]["terminationGracePeriodSeconds"].as_i64().unwrap_or(30);
    match delete.grace_period_seconds.unwrap_or_else(own) {
        negative if negative < 0 => 1,
        seconds => seconds,
    }
}

/// Finalizers that leave dependents to the garbage collector.
fn propagate(resource: &Resource, metadata: &mut serde_json::Map<String, Value>, asked: Option<Propagation>) {
    let mut finalizers: Vec<Value> =
        metadata.get("finalizers").and_then(Value::as_array).cloned().unwrap_or_default();
    let has = |finalizers: &[Value], name: &str| finalizers.iter().any(|found| found == name);
    let propagation = asked.unwrap_or_else(|| {
        if has(&finalizers, ORPHAN) {
            Propagation::Orphan
        } else if has(&finalizers, FOREGROUND) {
            Propagation::Foreground
        } else if orphans_by_default(resource) {
            Propagation::Orphan
        } else {
            Propagation::Background
        }
    });
    let wanted = match propagation {
        Propagation::Orphan => Some(ORPHAN),
        Propagation::Foreground => Some(FOREGROUND),
        Propagation::Background => None,
    };
    finalizers.retain(|found| {
        (found != ORPHAN && found != FOREGROUND) || wanted.is_some_and(|wanted| found == wanted)
    });
    if let Some(wanted) = wanted.filter(|wanted| !has(&finalizers, wanted)) {
        finalizers.push(json!(wanted));
    }
    if finalizers.is_empty() {
        metadata.remove("finalizers");
    } else {
        metadata.insert("finalizers".to_owned(), Value::Array(finalizers));
    }
}

/// Adds a finalizer.
fn hold(metadata: &mut serde_json::Map<String, Value>, finalizer: &str) {
    let finalizers = metadata.entry("finalizers").or_insert_with(|| json!([]));
    if let Some(finalizers) = finalizers.as_array_mut()
        && !finalizers.iter().any(|found| found == finalizer)
    {
        finalizers.push(json!(finalizer));
    }
}

/// Kinds that are older than the garbage collector.
fn orphans_by_default(resource: &Resource) -> bool {
    matches!(
        (resource.group.as_str(), resource.kind.as_str()),
        ("batch", "Job") | ("", "ReplicationController")
    )
}
