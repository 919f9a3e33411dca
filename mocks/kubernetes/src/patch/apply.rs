//! Server-side apply, and the record of who wrote which field.
//!
//! The object and its `managedFields` are the whole state: what an applier owned before and no longer says goes,
//! unless another owns it. All versions of a kind are taken to have the same fields. Objects are taken to be in the
//! form in which they are stored, with what is written although it is empty. Bringing the result into that form,
//! defaulting, identity (name, namespace, uid) and resetting what a door must not write are the caller's.

mod last_applied;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::status::{Cause, Status};

use super::fields::{Fields, shown};
use super::managers::{Managers, Operation, Owned, Owner, resets, strip};
use super::structure::Structure;
use super::walk::{Changes, Emptied, check, combine, compare, fields_of, remove};

/// Who owns what an object had before anybody was recorded.
const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// Who writes what through which door.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Writer<'a> {
    /// The field manager; empty is `unknown`.
    pub(crate) manager: &'a str,
    /// The version of the request, `apps/v1`.
    pub(crate) api_version: &'a str,
    pub(crate) kind: &'a str,
    /// `status`, `scale`, or empty.
    pub(crate) subresource: &'a str,
    /// RFC 3339, seconds.
    pub(crate) time: &'a str,
    /// The fields that this door resets and so nobody owns through it: [`MAIN`], [`STATUS`].
    pub(crate) resets: &'a [&'a [&'a str]],
}

/// What the main door of a resource with a status resets.
pub(crate) const MAIN: &[&[&str]] = &[&["status"]];
/// What the door of the status resets.
pub(crate) const STATUS: &[&[&str]] = &[&["spec"], &["metadata", "labels"]];

/// Fields that are never owned.
static IDENTITY: LazyLock<Fields> = LazyLock::new(|| {
    Fields::named(&[
        &["apiVersion"],
        &["kind"],
        &["metadata"],
        &["metadata", "name"],
        &["metadata", "namespace"],
        &["metadata", "creationTimestamp"],
        &["metadata", "selfLink"],
        &["metadata", "uid"],
        &["metadata", "clusterName"],
        &["metadata", "generation"],
        &["metadata", "managedFields"],
        &["metadata", "resourceVersion"],
    ])
});

/// Applies a configuration.
pub(crate) fn apply(
    live: Option<&Value>,
    config: &Value,
    writer: Writer<'_>,
    force: bool,
    structure: Structure<'_>,
) -> Result<Value, Status> {
    writer.accepts(config)?;
    let mut object = live.cloned().unwrap_or_else(|| writer.empty(structure));
    let managers = Managers::of(&object)
        .map_err(|error| Status::plain(format!("failed to decode managed fields: {error}")))?;
    strip(&mut object);
    let application = Application { live: &object, config, writer, structure };
    let managers = application.known(managers);
    let done = match application.run(managers.clone(), force) {
        Err(Refusal::Conflicts(conflicts)) if writer.manager == last_applied::MANAGER => {
            match last_applied::unallowed(&application, conflicts) {
                conflicts if conflicts.is_empty() => application.run(managers, true),
                conflicts => Err(Refusal::Conflicts(conflicts)),
            }
        }
        done => done,
    };
    let (mut new, managers) = done.map_err(Refusal::into_status)?;
    if writer.manager == last_applied::MANAGER {
        last_applied::renew(&mut new, config);
    }
    managers.write(&mut new);
    Ok(new)
}

/// Records the writer of `new` in its `managedFields`: for every write that is not an apply.
///
/// An object without a record stays without, except at its creation if `from_creation`; what is not recorded belongs
/// to `before-first-apply` once somebody applies. A client's own `managedFields` count unless they are empty, broken
/// or come through a subresource. Who scales what nobody owns is not recorded, as a `Scale` shows only the owners of
/// the replicas and so has no record then.
pub(crate) fn track(
    live: Option<&Value>,
    new: &mut Value,
    writer: Writer<'_>,
    from_creation: bool,
    structure: Structure<'_>,
) {
    let recorded = |object: &Value| Managers::of(object).unwrap_or_default();
    let old = live.map(recorded).unwrap_or_default();
    let mut managers = match recorded(new) {
        _ if !writer.subresource.is_empty() => old,
        _ if resets(new) => Managers::default(),
        sent if sent.0.is_empty() => old,
        sent => sent,
    };
    strip(new);
    if managers.0.is_empty() && (live.is_some() || !from_creation) {
        return;
    }
    let mut before = live.cloned().unwrap_or_else(|| writer.empty(structure));
    strip(&mut before);
    if writer.subresource != "scale" || managers.own_any(&compare(&before, new, structure)) {
        writer.record(&mut managers, &before, new, structure);
    }
    managers.write(new);
}

impl Writer<'_> {
    /// Whether a configuration may be applied at all.
    fn accepts(&self, config: &Value) -> Result<(), Status> {
        let text = |key: &str| config.get(key).and_then(Value::as_str).unwrap_or("");
        let (version, kind) = (text("apiVersion"), text("kind"));
        if version != self.api_version || kind != self.kind {
            return Err(Status::bad_request(format!("invalid object type: {}", full_kind(version, kind))));
        }
        match config.pointer("/metadata/managedFields") {
            None | Some(Value::Null) => Ok(()),
            Some(_) => Err(Status::bad_request("metadata.managedFields must be nil")),
        }
    }

    /// What is there before the object is.
    fn empty(&self, structure: Structure<'_>) -> Value {
        let mut empty = structure.empty();
        empty["apiVersion"] = Value::from(self.api_version);
        empty["kind"] = Value::from(self.kind);
        empty
    }

    fn owner(&self, operation: Operation) -> Owner {
        Owner::new(self.manager, operation, self.api_version, self.subresource)
    }

    /// Moves what differs between two objects to this writer's update entry.
    fn record(&self, managers: &mut Managers, old: &Value, new: &Value, structure: Structure<'_>) {
        let changes = compare(old, new, structure);
        let resets = Fields::named(self.resets);
        let taken = changes.modified.union(&changes.added).without(&resets);
        managers.give_way(&changes, &resets, None);
        let taken = taken.difference(&IDENTITY);
        if !taken.is_empty() {
            let owner = self.owner(Operation::Update);
            let before = managers.0.get(&owner);
            let fields = before.map_or_else(|| taken.clone(), |before| before.fields.union(&taken));
            let (version, time) = (self.api_version.to_owned(), Some(self.time.to_owned()));
            managers.0.insert(owner, Owned { fields, version, time });
        }
        managers.cap();
    }
}

impl Managers {
    /// Whether anybody owns any of what changed.
    fn own_any(&self, changes: &Changes) -> bool {
        let touched = changes.modified.union(&changes.added);
        self.0.values().any(|owned| !owned.fields.intersection(&touched).is_empty())
    }

    /// Takes from all owners but one what changed.
    fn give_way(&mut self, changes: &Changes, resets: &Fields, but: Option<&Owner>) {
        let gone = changes.modified.union(&changes.added).union(&changes.removed).without(resets);
        for (owner, owned) in &mut self.0 {
            if Some(owner) != but {
                owned.fields = owned.fields.difference(&gone);
            }
        }
        self.0.retain(|_, owned| !owned.fields.is_empty());
    }
}

/// A field somebody else owns.
struct Conflict {
    owner: Owner,
    path: Vec<super::fields::Element>,
}

impl Conflict {
    fn cause(&self) -> Cause {
        Cause {
            reason: "FieldManagerConflict".to_owned(),
            message: format!("conflict with {}", self.owner.shown()),
            field: shown(&self.path),
        }
    }
}

enum Refusal {
    Conflicts(Vec<Conflict>),
    Other(Status),
}

impl Refusal {
    fn into_status(self) -> Status {
        match self {
            Self::Conflicts(mut conflicts) => {
                conflicts.sort_by_key(|conflict| conflict.owner.identity());
                Status::apply_conflict(conflicts.iter().map(Conflict::cause).collect())
            }
            Self::Other(status) => status,
        }
    }
}

/// One configuration on its way into one object.
struct Application<'a> {
    live: &'a Value,
    config: &'a Value,
    writer: Writer<'a>,
    structure: Structure<'a>,
}

impl Application<'_> {
    /// The managers; if there are none, one who owns all that is there.
    fn known(&self, mut managers: Managers) -> Managers {
        if managers.0.is_empty() {
            let before = Writer { manager: BEFORE_FIRST_APPLY, ..self.writer };
            let empty = before.empty(self.structure);
            before.record(&mut managers, &empty, self.live, self.structure);
            self.split(&mut managers, &before);
        }
        managers
    }

    /// Who has the annotation of `kubectl apply` was applied by it: what the annotation lists is that manager's, the
    /// rest is somebody's. `kubectl` takes over what it believes to have applied, and drops what it no longer says.
    fn split(&self, managers: &mut Managers, before: &Writer<'_>) {
        let Some(said) = last_applied::said(self) else { return };
        let Some(all) = managers.0.remove(&before.owner(Operation::Update)) else { return };
        let (applied, rest) = (all.fields.intersection(&said), all.fields.difference(&said));
        for (manager, fields) in [(last_applied::CLIENT_SIDE, applied), ("unknown", rest)] {
            let owner = Writer { manager, ..*before }.owner(Operation::Update);
            if !fields.is_empty() {
                managers
                    .0
                    .insert(owner, Owned { fields, version: all.version.clone(), time: all.time.clone() });
            }
        }
    }

    fn run(&self, mut managers: Managers, force: bool) -> Result<(Value, Managers), Refusal> {
        let merged = self.merged().map_err(Refusal::Other)?;
        let resets = Fields::named(self.writer.resets);
        let owner = self.writer.owner(Operation::Apply);
        let fields = fields_of(self.config, self.structure).without(&resets);
        let before = managers.0.remove(&owner);
        let time = before.as_ref().and_then(|before| before.time.clone());
        let version = self.writer.api_version.to_owned();
        managers.0.insert(owner.clone(), Owned { fields, version, time });
        let gone = before.map(|before| self.disowned(&merged, &before.fields, &managers)).unwrap_or_default();
        let new = self.without(&merged, &gone, Emptied::Null);
        let changes = compare(self.live, &new, self.structure);
        if !force {
            let conflicts = conflicts(&managers, &changes, &resets, &owner);
            if !conflicts.is_empty() {
                return Err(Refusal::Conflicts(conflicts));
            }
        }
        managers.give_way(&changes, &resets, Some(&owner));
        if let Some(mut owned) = managers.0.remove(&owner) {
            owned.fields = owned.fields.difference(&IDENTITY);
            if new != *self.live {
                owned.time = Some(self.writer.time.to_owned());
            }
            if !owned.fields.is_empty() {
                managers.0.insert(owner, owned);
            }
        }
        Ok((self.settled(new, &merged, &gone)?, managers))
    }

    /// The result without nulls in the place of what was emptied; what the configuration wants empty is empty.
    fn settled(&self, new: Value, merged: &Value, gone: &Fields) -> Result<Value, Refusal> {
        if gone.is_empty() {
            return Ok(new);
        }
        let kept = self.without(merged, gone, Emptied::Gone);
        self.onto(&kept).map_err(Refusal::Other)
    }

    fn merged(&self) -> Result<Value, Status> {
        match check(self.config, self.structure) {
            Some(error) => Err(self.failed("patch", self.config, &error)),
            None => self.onto(self.live),
        }
    }

    fn onto(&self, object: &Value) -> Result<Value, Status> {
        combine(object, self.config, self.structure).map_err(|error| self.failed("live", object, &error))
    }

    fn failed(&self, what: &str, object: &Value, error: &str) -> Status {
        let text = |path| object.pointer(path).and_then(Value::as_str).unwrap_or("");
        let (namespace, name) = (text("/metadata/namespace"), text("/metadata/name"));
        let kind = full_kind(self.writer.api_version, self.writer.kind);
        Status::plain(format!("failed to create typed {what} object ({namespace}/{name}; {kind}): {error}"))
    }

    fn without(&self, object: &Value, gone: &Fields, emptied: Emptied) -> Value {
        if gone.is_empty() {
            return object.clone();
        }
        remove(object, gone, self.structure, emptied).unwrap_or_else(|| json!({}))
    }

    /// The fields this manager owned before, says no longer, and nobody else owns.
    fn disowned(&self, merged: &Value, before: &Fields, managers: &Managers) -> Fields {
        let place = self.structure;
        let all = |object: &Value| fields_of(object, place).with_parents(place);
        let all_without = |gone: &Fields| all(&self.without(merged, gone, Emptied::Null));
        let before = before.with_parents(place);
        let has = all(merged);
        let owned = managers.0.values().fold(Fields::default(), |all, owned| all.union(&owned.fields));
        let kept = all_without(&before).union(&owned.with_parents(place));
        let kept = all_without(&has.difference(&kept));
        has.difference(&kept).intersection(&before)
    }
}

/// A kind as errors call it: `/v1, Kind=Pod`.
fn full_kind(version: &str, kind: &str) -> String {
    let slash = if version.contains('/') { "" } else { "/" };
    format!("{slash}{version}, Kind={kind}")
}

fn conflicts(managers: &Managers, changes: &Changes, resets: &Fields, owner: &Owner) -> Vec<Conflict> {
    let touched = changes.modified.union(&changes.added).without(resets);
    let others = managers.0.iter().filter(|(other, _)| *other != owner);
    others
        .flat_map(|(other, owned)| {
            let paths = owned.fields.intersection(&touched).paths();
            paths.into_iter().map(|path| Conflict { owner: other.clone(), path })
        })
        .collect()
}
