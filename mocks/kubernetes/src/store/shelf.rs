//! All objects of one resource, and the log of their changes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::sync::watch;

use super::log::{Compacted, Log};
use super::object::{Key, Object};

/// What happened to one object.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) revision: u64,
    pub(crate) old: Option<Arc<Object>>,
    /// The object after the change; for a deletion its last state, with the revision of the deletion.
    pub(crate) object: Arc<Object>,
    pub(crate) deleted: bool,
}

#[derive(Debug)]
pub(super) struct Shelf {
    objects: BTreeMap<Key, Arc<Object>>,
    by_owner: BTreeMap<Box<str>, BTreeSet<Key>>,
    log: Log<Arc<Change>>,
}

impl Shelf {
    pub(super) fn new() -> Self {
        Self { objects: BTreeMap::new(), by_owner: BTreeMap::new(), log: Log::new() }
    }

    pub(super) fn get(&self, key: &Key) -> Option<&Arc<Object>> {
        self.objects.get(key)
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<u64> {
        self.log.subscribe()
    }

    /// All objects of a namespace, or of all if it is empty.
    pub(super) fn list(&self, namespace: &str) -> Vec<Arc<Object>> {
        if namespace.is_empty() {
            return self.objects.values().cloned().collect();
        }
        let from = Key::new(namespace, "");
        let here = self.objects.range(from..).take_while(|(key, _)| &*key.namespace == namespace);
        here.map(|(_, object)| object.clone()).collect()
    }

    pub(super) fn owned_by(&self, uid: &str) -> Vec<Arc<Object>> {
        let keys = self.by_owner.get(uid).into_iter().flatten();
        keys.filter_map(|key| self.objects.get(key).cloned()).collect()
    }

    /// The objects as they were: what happened since is undone.
    pub(super) fn list_at(&self, namespace: &str, revision: u64) -> Result<Vec<Arc<Object>>, Compacted> {
        let mut undone: BTreeMap<&Key, Option<&Arc<Object>>> = BTreeMap::new();
        for change in self.since(revision)?.rev() {
            undone.insert(&change.object.key, change.old.as_ref());
        }
        let mut then: BTreeMap<&Key, &Arc<Object>> = self.objects.iter().collect();
        for (key, old) in undone {
            match old {
                Some(old) => then.insert(key, old),
                None => then.remove(key),
            };
        }
        let here = |key: &Key| namespace.is_empty() || &*key.namespace == namespace;
        Ok(then.into_iter().filter(|(key, _)| here(key)).map(|(_, object)| object.clone()).collect())
    }

    /// The changes after a revision, oldest first.
    pub(super) fn since(
        &self,
        revision: u64,
    ) -> Result<impl DoubleEndedIterator<Item = &Arc<Change>> + ExactSizeIterator, Compacted> {
        Ok(self.log.since(revision)?.map(|(_, change)| change))
    }

    /// Writes one change down and tells everybody.
    pub(super) fn record(&mut self, object: Object, deleted: bool) -> Arc<Change> {
        let object = Arc::new(object);
        let key = &object.key;
        let old =
            if deleted { self.objects.remove(key) } else { self.objects.insert(key.clone(), object.clone()) };
        self.index(old.as_deref(), (!deleted).then_some(&*object));
        let revision = object.revision;
        let change = Arc::new(Change { revision, old, object, deleted });
        self.log.record(revision, change.clone());
        change
    }

    /// Forgets all changes.
    pub(super) fn compact(&mut self) {
        self.log.keep(0);
    }

    fn index(&mut self, old: Option<&Object>, new: Option<&Object>) {
        if old.map(|old| &old.owners) == new.map(|new| &new.owners) {
            return;
        }
        if let Some(object) = old {
            for owner in &object.owners {
                let Some(keys) = self.by_owner.get_mut(&owner.uid) else { continue };
                keys.remove(&object.key);
                if keys.is_empty() {
                    self.by_owner.remove(&owner.uid);
                }
            }
        }
        if let Some(object) = new {
            for owner in &object.owners {
                self.by_owner.entry(owner.uid.clone()).or_default().insert(object.key.clone());
            }
        }
    }
}
