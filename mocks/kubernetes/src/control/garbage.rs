//! The garbage collector: what becomes of those whose owners are gone, or going.
//!
//! It keeps no graph of its own: the store knows who is owned by whom, and whether an owner is there is looked up when
//! it matters. It follows every shelf, so custom resources that come and go are owners and dependents like any other.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::amend::unless_gone;
use super::frame::{Controller, Next};
use super::queue::Queue;
use crate::api::{Api, Delete, FOREGROUND, ORPHAN, Propagation, Target, Write};
use crate::registry::{Registry, Resource};
use crate::status::Status;
use crate::store::{Change, Key, Object, Owner};

const MANAGER: &str = "generic-garbage-collector";
/// At most so many dependents are set free at a time.
const BATCH: usize = 100;
/// A definition is served a moment after its change is told.
const SERVED: Duration = Duration::from_millis(10);

pub(super) struct Collector {
    api: Api,
    /// Those whose owner's kind nobody serves: they wait for a definition.
    strangers: BTreeSet<Item>,
}

/// One object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Item {
    shelf: Arc<str>,
    key: Key,
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.shelf, self.key)
    }
}

/// What is known of an owner.
enum Standing {
    Alive,
    Absent,
    /// It goes, and waits for its dependents.
    Waiting,
    /// Nobody serves its kind.
    Unknown,
    /// It has a namespace and its dependent has none: such a reference is not followed.
    Invalid,
}

impl Collector {
    pub(super) fn new(api: Api) -> Self {
        Self { api, strangers: BTreeSet::new() }
    }

    fn add_dependents(&self, uid: &str, queue: &mut Queue<Item>) {
        for (shelf, object) in self.api.store().dependents(uid) {
            queue.add(Item { shelf, key: object.key.clone() });
        }
    }

    /// Owners that wait for this one are asked whether they still have to.
    fn add_owners(&self, object: &Object, queue: &mut Queue<Item>) {
        let registry = self.api.registry();
        for owner in &object.owners {
            if let Some((resource, key)) = place(&registry, owner, &object.key.namespace)
                && let Some(found) = self.api.store().get(&resource.shelf, &key)
                && found.deleting
                && found.finalizers
            {
                queue.add(Item { shelf: resource.shelf.as_str().into(), key });
            }
        }
    }

    /// Deletes an object whose owners are gone, or frees it of those that are.
    fn judge(&mut self, api: &Api, target: &Target<'_>, item: &Item, object: &Object) -> Result<(), Status> {
        let registry = api.registry();
        let mut gone = BTreeSet::new();
        let (mut alive, mut waiting) = (false, false);
        for owner in &object.owners {
            match standing(api, &registry, target.resource, owner, &object.key.namespace) {
                Standing::Alive => alive = true,
                Standing::Absent => _ = gone.insert(&*owner.uid),
                Standing::Waiting => {
                    waiting = true;
                    gone.insert(&*owner.uid);
                }
                Standing::Unknown => {
                    self.strangers.insert(item.clone());
                    return Ok(());
                }
                Standing::Invalid => return Ok(()),
            }
        }
        if gone.is_empty() {
            return Ok(());
        }
        if alive {
            return disown(api, target, &gone);
        }
        let finalizers = finalizers(object);
        let propagation = if waiting && has_dependents(api, &object.uid) {
            unblock_circle(api, target, object)?;
            Propagation::Foreground
        } else if finalizers.iter().any(|found| found == ORPHAN) {
            Propagation::Orphan
        } else if finalizers.iter().any(|found| found == FOREGROUND) {
            Propagation::Foreground
        } else {
            Propagation::Background
        };
        let mut delete = Delete { propagation: Some(propagation), ..Delete::default() }.only(&object.uid);
        delete.preconditions.resource_version = Some(object.revision.to_string());
        unless_gone(api.delete(target, &delete, &Write::by(MANAGER)))
    }
}

impl Controller for Collector {
    type Item = Item;

    fn observe(&mut self, shelf: &str, change: &Change, queue: &mut Queue<Item>) {
        if shelf == "events" {
            return;
        }
        let object = &change.object;
        if shelf == "customresourcedefinitions.apiextensions.k8s.io" {
            for stranger in std::mem::take(&mut self.strangers) {
                queue.add_after(stranger, SERVED);
            }
        }
        if change.deleted {
            self.add_dependents(&object.uid, queue);
            self.add_owners(object, queue);
            return;
        }
        let old = change.old.as_deref();
        let disowned = old.filter(|old| old.owners != object.owners);
        if let Some(old) = disowned {
            self.add_owners(old, queue);
        }
        let begins = object.deleting && object.finalizers && old.is_none_or(|old| !old.deleting);
        if begins {
            self.add_dependents(&object.uid, queue);
        }
        let owned = !object.owners.is_empty() && (old.is_none() || disowned.is_some());
        if owned || object.deleting && object.finalizers {
            queue.add(Item { shelf: shelf.into(), key: object.key.clone() });
        }
    }

    fn reconcile(&mut self, api: &Api, item: &Item) -> Result<Next, Status> {
        let Some(object) = api.store().get(&item.shelf, &item.key) else { return Ok(Next::Done) };
        let registry = api.registry();
        let Some(resource) = registry.resources().find(|resource| *resource.shelf == *item.shelf) else {
            return Ok(Next::Done);
        };
        let target =
            Target { resource, namespace: &item.key.namespace, name: &item.key.name, subresource: "" };
        if object.deleting {
            if !object.finalizers {
                return Ok(Next::Done);
            }
            let finalizers = finalizers(&object);
            if finalizers.iter().any(|found| found == ORPHAN) {
                return orphan(api, &target, &object);
            }
            if finalizers.iter().any(|found| found == FOREGROUND) {
                if !api.store().dependents(&object.uid).iter().any(|(_, held)| blocks(held, &object.uid)) {
                    drop_finalizer(api, &target, FOREGROUND)?;
                }
                return Ok(Next::Done);
            }
            return Ok(Next::Done);
        }
        self.judge(api, &target, item, &object).map(|()| Next::Done)
    }
}

fn finalizers(object: &Object) -> Vec<String> {
    if !object.finalizers {
        return Vec::new();
    }
    serde_json::from_value(object.value()["metadata"]["finalizers"].take()).unwrap_or_default()
}

/// Where an owner lies, seen from a namespace.
fn place<'a>(registry: &'a Registry, owner: &Owner, namespace: &str) -> Option<(&'a Resource, Key)> {
    let (group, version) = owner.api_version.split_once('/').unwrap_or(("", &owner.api_version));
    let resource = registry.by_kind(group, version, &owner.kind)?;
    let namespace = if resource.namespaced { namespace } else { "" };
    Some((resource, Key::new(namespace, &owner.name)))
}

fn standing(
    api: &Api,
    registry: &Registry,
    dependent: &Resource,
    owner: &Owner,
    namespace: &str,
) -> Standing {
    let Some((resource, key)) = place(registry, owner, namespace) else { return Standing::Unknown };
    if resource.namespaced && !dependent.namespaced {
        return Standing::Invalid;
    }
    match api.store().get(&resource.shelf, &key) {
        Some(found) if found.uid == owner.uid => {
            let waits = found.deleting && finalizers(&found).iter().any(|found| found == FOREGROUND);
            if waits { Standing::Waiting } else { Standing::Alive }
        }
        _ => Standing::Absent,
    }
}

fn blocks(dependent: &Object, uid: &str) -> bool {
    dependent.owners.iter().any(|owner| &*owner.uid == uid && owner.blocks)
}

fn has_dependents(api: &Api, uid: &str) -> bool {
    !api.store().dependents(uid).is_empty()
}

/// If a dependent of this object already waits for its own dependents, they may wait for each other in a circle: this
/// object no longer holds its owner up.
fn unblock_circle(api: &Api, target: &Target<'_>, object: &Object) -> Result<(), Status> {
    let waits = |held: &Object| held.deleting && finalizers(held).iter().any(|found| found == FOREGROUND);
    if !api.store().dependents(&object.uid).iter().any(|(_, held)| waits(held)) {
        return Ok(());
    }
    owners(api, target, |references| {
        for reference in references {
            if reference["blockOwnerDeletion"] == true {
                reference["blockOwnerDeletion"] = json!(false);
            }
        }
    })
}

/// Takes owners from an object.
fn disown(api: &Api, target: &Target<'_>, gone: &BTreeSet<&str>) -> Result<(), Status> {
    owners(api, target, |references| {
        references.retain(|reference| reference["uid"].as_str().is_none_or(|uid| !gone.contains(uid)));
    })
}

fn owners(api: &Api, target: &Target<'_>, change: impl Fn(&mut Vec<Value>)) -> Result<(), Status> {
    list(api, target, "ownerReferences", change)
}

fn drop_finalizer(api: &Api, target: &Target<'_>, finalizer: &str) -> Result<(), Status> {
    list(api, target, "finalizers", |list| list.retain(|found| found != finalizer))
}

/// Changes a list in the metadata of an object that may be gone.
fn list(api: &Api, target: &Target<'_>, name: &str, change: impl Fn(&mut Vec<Value>)) -> Result<(), Status> {
    unless_gone(api.change(target, &Write::by(MANAGER), |before| {
        let mut after = before.clone();
        if let Some(list) = after["metadata"][name].as_array_mut() {
            change(list);
        }
        Ok(after)
    }))
}

/// Sets the dependents of an object free, then the object itself.
fn orphan(api: &Api, target: &Target<'_>, object: &Object) -> Result<Next, Status> {
    let registry = api.registry();
    let by_shelf: BTreeMap<&str, &Arc<Resource>> =
        registry.resources().map(|resource| (resource.shelf.as_str(), resource)).collect();
    let dependents = api.store().dependents(&object.uid);
    let uid = BTreeSet::from([&*object.uid]);
    for (shelf, dependent) in dependents.iter().take(BATCH) {
        if let Some(resource) = by_shelf.get(&**shelf) {
            let Key { namespace, name } = &dependent.key;
            disown(api, &Target { resource, namespace, name, subresource: "" }, &uid)?;
        }
    }
    if dependents.len() > BATCH {
        return Ok(Next::After(Duration::ZERO));
    }
    drop_finalizer(api, target, ORPHAN).map(|()| Next::Done)
}

#[cfg(test)]
mod tests {
    use super::super::rig::Rig;
    use super::*;
    use crate::control::frame::EVERY_SHELF;

    fn rig() -> Rig {
        let mut rig = Rig::new();
        let api = rig.api.clone();
        rig.start("garbage", &[EVERY_SHELF], move || Collector::new(api.clone()));
        rig
    }

    async fn owner(rig: &Rig, name: &str) -> String {
        let written = rig.put("configmaps", "default", json!({"metadata": {"name": name}}));
        rig.settle().await;
        written["metadata"]["uid"].as_str().unwrap().to_owned()
    }

    fn reference(name: &str, uid: &str) -> Value {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid, "blockOwnerDeletion": true})
    }

    fn owned(name: &str, references: &[Value]) -> Value {
        json!({"metadata": {"name": name, "ownerReferences": references}})
    }

    #[tokio::test]
    async fn dependents_follow_their_owner_through_all_generations() {
        let rig = rig();
        let top = owner(&rig, "top").await;
        let middle = rig.put("secrets", "default", owned("middle", &[reference("top", &top)]));
        let uid = middle["metadata"]["uid"].as_str().unwrap();
        let by_secret = json!({"apiVersion": "v1", "kind": "Secret", "name": "middle", "uid": uid});
        rig.put("services", "default", {
            let mut low = owned("low", &[by_secret]);
            low["spec"] = json!({"ports": [{"port": 80}]});
            low
        });
        rig.settle().await;
        assert!(rig.get("services", "default", "low").is_some());
        rig.delete("configmaps", "default", "top", Delete::background());
        rig.settle().await;
        assert!(rig.get("secrets", "default", "middle").is_none());
        assert!(rig.get("services", "default", "low").is_none());
    }

    #[tokio::test]
    async fn an_owner_that_is_not_there_is_as_good_as_deleted() {
        let rig = rig();
        let here = owner(&rig, "here").await;
        rig.put("secrets", "default", owned("other", &[reference("here", "another-uid")]));
        rig.put("secrets", "kube-system", owned("elsewhere", &[reference("here", &here)]));
        rig.put(
            "secrets",
            "default",
            owned("half", &[reference("here", &here), reference("gone", "gone-uid")]),
        );
        rig.settle().await;
        assert!(rig.get("secrets", "default", "other").is_none());
        assert!(rig.get("secrets", "kube-system", "elsewhere").is_none());
        let half = rig.get("secrets", "default", "half").unwrap();
        assert_eq!(half["metadata"]["ownerReferences"].as_array().unwrap().len(), 1);
    }

    #[tokio::test]
    async fn an_owner_with_a_namespace_does_not_own_what_has_none() {
        let rig = rig();
        let uid = owner(&rig, "here").await;
        rig.put("nodes", "", owned("n", &[reference("here", &uid)]));
        rig.delete("configmaps", "default", "here", Delete::background());
        rig.settle().await;
        assert!(rig.get("nodes", "", "n").is_some());
    }

    #[tokio::test]
    async fn orphans_are_set_free_before_their_owner_goes() {
        let rig = rig();
        let uid = owner(&rig, "here").await;
        rig.put("secrets", "default", owned("free", &[reference("here", &uid)]));
        let orphan = Delete { propagation: Some(Propagation::Orphan), ..Delete::default() };
        rig.delete("configmaps", "default", "here", orphan);
        rig.settle().await;
        assert!(rig.get("configmaps", "default", "here").is_none());
        let free = rig.get("secrets", "default", "free").unwrap();
        assert_eq!(free["metadata"]["ownerReferences"], Value::Null);
    }

    #[tokio::test]
    async fn in_the_foreground_the_owner_goes_last() {
        let rig = rig();
        let uid = owner(&rig, "here").await;
        let mut held = owned("held", &[reference("here", &uid)]);
        held["metadata"]["finalizers"] = json!(["x/y"]);
        rig.put("secrets", "default", held);
        let mut light = owned("light", &[reference("here", &uid)]);
        light["metadata"]["ownerReferences"][0]["blockOwnerDeletion"] = json!(false);
        rig.put("secrets", "default", light);
        let foreground = Delete { propagation: Some(Propagation::Foreground), ..Delete::default() };
        rig.delete("configmaps", "default", "here", foreground);
        rig.settle().await;
        assert!(rig.get("secrets", "default", "light").is_none());
        assert!(rig.get("configmaps", "default", "here").is_some());
        rig.edit("secrets", "default", "held", "", |secret| secret["metadata"]["finalizers"] = Value::Null);
        rig.settle().await;
        assert!(rig.get("secrets", "default", "held").is_none());
        assert!(rig.get("configmaps", "default", "here").is_none());
    }
}
