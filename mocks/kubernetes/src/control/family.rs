//! Who belongs to whom: the children of all controllers of one kind, by owner reference, and the orphans that one of
//! them may adopt by its selector.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;

use crate::api::{Api, Kind, Write};
use crate::selector::Selector;
use crate::status::Status;
use crate::store::{Change, Key, Object};

/// What is kept of a child.
pub(super) trait Child: Sized {
    type Kind: Kind;

    fn of(object: &Arc<Object>) -> Option<Self>;
    fn object(&self) -> &Arc<Object>;
    /// Whether a parent may take it if nobody has it.
    fn is_adoptable(&self) -> bool;

    /// Whether a parent of that name may have it.
    fn fits(&self, _parent: &str) -> bool {
        true
    }
}

#[derive(Debug)]
pub(super) struct Family<C> {
    /// The kind of the parents.
    kind: &'static str,
    parents: BTreeMap<Key, Parent>,
    /// By the parent's uid, then by name.
    children: BTreeMap<Box<str>, BTreeMap<Arc<str>, C>>,
    orphans: BTreeMap<Key, C>,
}

#[derive(Debug)]
struct Parent {
    uid: Box<str>,
    selector: Selector,
}

impl<C: Child> Family<C> {
    pub(super) fn new(kind: &'static str) -> Self {
        Self { kind, parents: BTreeMap::new(), children: BTreeMap::new(), orphans: BTreeMap::new() }
    }

    /// A parent has changed.
    pub(super) fn parent(&mut self, change: &Change, selector: Selector, mut tell: impl FnMut(Key)) {
        let key = &change.object.key;
        if change.deleted {
            self.parents.remove(key);
        } else {
            self.parents.insert(key.clone(), Parent { uid: change.object.uid.clone(), selector });
        }
        tell(key.clone());
    }

    /// A child, or a stranger, has changed.
    pub(super) fn child(&mut self, change: &Change, mut tell: impl FnMut(Key)) {
        let object = &change.object;
        for old in change.old.iter().chain(change.deleted.then_some(object)) {
            if let Some(parent) = self.parent_of(old) {
                tell(parent.0);
                self.forget(&parent.1, &object.key.name);
            }
        }
        self.orphans.remove(&object.key);
        if change.deleted {
            return;
        }
        if let Some((key, uid)) = self.parent_of(object) {
            if let Some(child) = C::of(object) {
                self.children.entry(uid).or_default().insert(object.key.name.clone(), child);
            }
            tell(key);
        } else if object.controller().is_none()
            && let Some(child) = C::of(object)
        {
            for (key, _) in self.parents_for(object) {
                tell(key.clone());
            }
            self.orphans.insert(object.key.clone(), child);
        }
    }

    /// The key and the uid of the parent, if it is of our kind.
    pub(super) fn parent_of(&self, object: &Object) -> Option<(Key, Box<str>)> {
        let owner = object.controller().filter(|owner| &*owner.kind == self.kind)?;
        Some((Key { namespace: object.key.namespace.clone(), name: (*owner.name).into() }, owner.uid.clone()))
    }

    fn parents_for<'a>(&'a self, object: &'a Object) -> impl Iterator<Item = (&'a Key, &'a Parent)> {
        let from = Key::new(&object.key.namespace, "");
        let here = self.parents.range(from..).take_while(|(key, _)| key.namespace == object.key.namespace);
        here.filter(|(_, parent)| parent.selector.matches(&object.labels[..]))
    }

    fn forget(&mut self, uid: &str, name: &str) {
        let Some(children) = self.children.get_mut(uid) else { return };
        children.remove(name);
        if children.is_empty() {
            self.children.remove(uid);
        }
    }

    /// Whether there is this very parent.
    pub(super) fn knows(&self, key: &Key, uid: &str) -> bool {
        self.parents.get(key).is_some_and(|parent| *parent.uid == *uid)
    }

    /// All children of a parent, whatever their labels.
    pub(super) fn of(&self, uid: &str) -> impl Iterator<Item = &C> {
        self.children.get(uid).into_iter().flat_map(BTreeMap::values)
    }

    /// The children that a parent's selector still selects.
    pub(super) fn selected(&self, key: &Key, uid: &str) -> impl Iterator<Item = &C> {
        let selector = self.parents.get(key).map(|parent| &parent.selector);
        self.of(uid).filter(move |child| {
            selector.is_some_and(|selector| selector.matches(&child.object().labels[..]))
        })
    }

    /// Adopts orphans and lets go whom the selector no longer selects. True if anything was written: the changes
    /// bring the parent back.
    pub(super) fn claim<P: Kind>(
        &self,
        api: &Api,
        key: &Key,
        parent: &P,
        adopt: &dyn Fn(&mut C::Kind),
    ) -> Result<bool, Status> {
        let Some(known) = self.parents.get(key) else { return Ok(false) };
        let uid = parent.metadata().uid.as_deref().unwrap_or_default();
        if *known.uid != *uid {
            return Ok(false);
        }
        let mut written = false;
        for child in self.of(uid) {
            if !child.object().deleting && !known.selector.matches(&child.object().labels[..]) {
                release::<C::Kind>(api, child.object(), uid)?;
                written = true;
            }
        }
        if parent.metadata().deletion_timestamp.is_some() || self.orphans.is_empty() {
            return Ok(written);
        }
        let from = Key::new(&key.namespace, "");
        let here = self.orphans.range(from..).take_while(|(orphan, _)| orphan.namespace == key.namespace);
        for child in here.map(|(_, child)| child) {
            let matches = known.selector.matches(&child.object().labels[..]);
            if matches && child.is_adoptable() && child.fits(&key.name) && !child.object().deleting {
                self::adopt(api, child.object(), parent, adopt)?;
                written = true;
            }
        }
        Ok(written)
    }
}

fn adopt<K: Kind, P: Kind>(
    api: &Api,
    object: &Object,
    parent: &P,
    adopt: &dyn Fn(&mut K),
) -> Result<(), Status> {
    let reference = controller_ref(parent);
    edit::<K>(api, object, |child| {
        let owners = child.metadata_mut().owner_references.get_or_insert_default();
        if !owners.iter().any(|owner| owner.controller == Some(true)) {
            owners.push(reference.clone());
            adopt(child);
        }
    })
}

fn release<K: Kind>(api: &Api, object: &Object, uid: &str) -> Result<(), Status> {
    edit::<K>(api, object, |child| {
        let owners = &mut child.metadata_mut().owner_references;
        if let Some(list) = owners {
            list.retain(|owner| owner.uid != uid);
        }
    })
}

/// Changes this very object; it may be gone.
pub(super) fn edit<K: Kind>(
    api: &Api,
    object: &Object,
    mut change: impl FnMut(&mut K),
) -> Result<(), Status> {
    let place = (&*object.key.namespace, &*object.key.name, "");
    let edited = api.edit::<K>(place, &writes(), |found| {
        if found.metadata().uid.as_deref() == Some(&object.uid) {
            change(found);
        }
        Ok(())
    });
    match edited {
        Err(status) if status.code == 404 => Ok(()),
        other => other.map(|_| ()),
    }
}

/// How the controller manager writes.
pub(super) fn writes() -> Write {
    Write::by("kube-controller-manager")
}

/// A reference to the parent that manages an object.
pub(super) fn controller_ref<P: Kind>(parent: &P) -> OwnerReference {
    let metadata = parent.metadata();
    OwnerReference {
        api_version: P::API_VERSION.to_owned(),
        kind: P::KIND.to_owned(),
        name: metadata.name.clone().unwrap_or_default(),
        uid: metadata.uid.clone().unwrap_or_default(),
        controller: Some(true),
        block_owner_deletion: Some(true),
    }
}
