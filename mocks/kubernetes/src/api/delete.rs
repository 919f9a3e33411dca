//! Deleting an object: grace, finalizers, dependents.

use std::sync::Arc;
use std::time::Duration;

use mock_clock::Time;
use serde_json::{Map, Value, json};

use super::change::is_unheld;
use super::create::metadata;
use super::definition::{CLEANUP, is_definition};
use super::finish::draft;
use super::read::view;
use super::{Api, Delete, Propagation, Target, Write, prepare, stamp};
use crate::admit::{self, Verb};
use crate::registry::Resource;
use crate::status::{Name, Status};
use crate::store::{Expect, Moved, Object};

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

/// What a deletion does to an object.
enum Plan {
    /// It already leaves, and not sooner for this.
    Wait,
    /// It is marked, and stays until nobody holds it any more.
    Mark(Value),
    /// It is marked and goes at once: kinds with a grace tell of both.
    MarkAndRemove(Value),
    Remove,
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
            let plan = plan(resource, &before, delete, self.now());
            if let Some(deleted) = self.carry_out(resource, plan, before, &old, write)? {
                return Ok(deleted);
            }
        }
    }

    /// `None` if somebody else wrote in between.
    fn carry_out(
        &self,
        resource: &Resource,
        plan: Plan,
        before: Value,
        old: &Arc<Object>,
        write: &Write,
    ) -> Result<Option<Deleted>, Status> {
        let (value, marks, gone) = match plan {
            Plan::Wait => return Ok(Some(Deleted { object: old.clone(), gone: false })),
            Plan::Mark(after) if after == before => {
                return Ok(Some(Deleted { object: old.clone(), gone: false }));
            }
            Plan::Mark(after) => (after, true, false),
            Plan::MarkAndRemove(after) => (after, true, true),
            Plan::Remove => (before, false, true),
        };
        let draft = draft(resource, value)?;
        if write.dry_run {
            return Ok(Some(Deleted { object: Arc::new(draft.at(old.revision)), gone }));
        }
        let store = self.store();
        let mut object = old.clone();
        if marks {
            let Ok(marked) = store.put(&resource.shelf, draft.clone(), Expect::This(&object)) else {
                return Ok(None);
            };
            object = marked;
        }
        if gone {
            match store.remove(&resource.shelf, draft, &object) {
                Ok(removed) => object = removed,
                // Somebody saw the mark and was faster: it is gone all the same.
                Err(Moved(found)) if marks && found.as_ref().is_none_or(|found| found.uid != object.uid) => {}
                Err(_) => return Ok(None),
            }
        }
        self.after_write(resource, Some(old), &object);
        Ok(Some(Deleted { object, gone }))
    }
}

fn plan(resource: &Resource, before: &Value, delete: &Delete, now: Time) -> Plan {
    let mut after = before.clone();
    let leaves = before["metadata"]["deletionTimestamp"].is_string();
    let pod = resource.kind == "Pod" && resource.group.is_empty();
    let mut graceful = false;
    if pod {
        match (leaves, before["metadata"]["deletionGracePeriodSeconds"].as_i64().unwrap_or_default()) {
            (false, _) => {
                mark(&mut after, before, grace(before, delete), now);
                graceful = true;
            }
            (true, 0) => {}
            (true, left) => match delete.grace_period_seconds.map(at_least_a_second) {
                Some(seconds) if seconds < left => {
                    shorten(&mut after, before, seconds, left);
                    graceful = true;
                }
                _ => return Plan::Wait,
            },
        }
    }
    propagate(resource, metadata(&mut after), delete.propagation);
    if !leaves && is_definition(resource) {
        hold(metadata(&mut after), CLEANUP);
    }
    let held = !is_unheld(&after);
    let left = after["metadata"]["deletionGracePeriodSeconds"].as_i64().unwrap_or_default();
    match (graceful, held) {
        (true, false) if left == 0 => Plan::MarkAndRemove(after),
        (true, _) => Plan::Mark(after),
        (false, false) => Plan::Remove,
        (false, true) => {
            if !leaves {
                mark(&mut after, before, 0, now);
            }
            if resource.kind == "Namespace" && resource.group.is_empty() {
                // Namespaces end by their own finalizers and have no grace.
                metadata(&mut after).remove("deletionGracePeriodSeconds");
                after["status"]["phase"] = json!("Terminating");
            }
            Plan::Mark(after)
        }
    }
}

/// Adds a finalizer.
fn hold(metadata: &mut Map<String, Value>, finalizer: &str) {
    let finalizers = metadata.entry("finalizers").or_insert_with(|| json!([]));
    if let Some(finalizers) = finalizers.as_array_mut()
        && !finalizers.iter().any(|found| found == finalizer)
    {
        finalizers.push(json!(finalizer));
    }
}

/// Writes down when the object is to be gone.
fn mark(after: &mut Value, before: &Value, seconds: i64, now: Time) {
    let metadata = metadata(after);
    let due = now + Duration::from_secs(u64::try_from(seconds).unwrap_or_default());
    metadata.insert("deletionTimestamp".to_owned(), json!(stamp(due)));
    metadata.insert("deletionGracePeriodSeconds".to_owned(), json!(seconds));
    if let Some(generation) = before["metadata"]["generation"].as_i64() {
        metadata.insert("generation".to_owned(), json!(generation + 1));
    }
}

/// Moves the end of a pod that already leaves to an earlier moment.
fn shorten(after: &mut Value, before: &Value, seconds: i64, left: i64) {
    let metadata = metadata(after);
    let nanos = |seconds: i64| u64::try_from(seconds).unwrap_or_default().saturating_mul(1_000_000_000);
    let due = before["metadata"]["deletionTimestamp"].as_str().and_then(|due| due.parse::<Time>().ok());
    if let Some(due) = due {
        let due = Time::from_unix_nanos(due.unix_nanos().saturating_sub(nanos(left - seconds)));
        metadata.insert("deletionTimestamp".to_owned(), json!(stamp(due)));
    }
    metadata.insert("deletionGracePeriodSeconds".to_owned(), json!(seconds));
}

/// The conditions of the one who deletes.
fn check(target: &Target<'_>, old: &Object, delete: &Delete) -> Result<(), Status> {
    let resource = target.resource;
    let conflict = |what: &str, asked: &str, found: &str, happened: &str| {
        let name = Name { group: &resource.group, resource: &resource.kind };
        let why = format!(
            "the {what} in the precondition ({asked}) does not match the {what} in record ({found}). The object might \
             have been {happened}"
        );
        Err(Status::conflict(name, target.name, &why))
    };
    let preconditions = &delete.preconditions;
    if let Some(uid) = preconditions.uid.as_ref().filter(|uid| ***uid != *old.uid) {
        return conflict("UID", uid, &old.uid, "deleted and then recreated");
    }
    let found = old.revision.to_string();
    if let Some(version) = preconditions.resource_version.as_ref().filter(|version| **version != found) {
        return conflict("ResourceVersion", version, &found, "modified");
    }
    Ok(())
}

/// The seconds a pod may still take.
fn grace(before: &Value, delete: &Delete) -> i64 {
    let scheduled = before["spec"]["nodeName"].as_str().is_some_and(|node| !node.is_empty());
    let finished = matches!(before["status"]["phase"].as_str(), Some("Succeeded" | "Failed"));
    if !scheduled || finished {
        return 0;
    }
    let own = || before["spec"]["terminationGracePeriodSeconds"].as_i64().unwrap_or(30);
    at_least_a_second(delete.grace_period_seconds.unwrap_or_else(own))
}

/// Less than nothing is a second, not nothing.
fn at_least_a_second(seconds: i64) -> i64 {
    if seconds < 0 { 1 } else { seconds }
}

/// Finalizers that leave dependents to the garbage collector.
fn propagate(resource: &Resource, metadata: &mut Map<String, Value>, asked: Option<Propagation>) {
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

/// Kinds that are older than the garbage collector.
fn orphans_by_default(resource: &Resource) -> bool {
    matches!(
        (resource.group.as_str(), resource.kind.as_str()),
        ("batch", "Job") | ("", "ReplicationController")
    )
}
