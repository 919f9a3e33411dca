//! What the cluster is: one revision, one shelf a resource, one lock.
//!
//! Reading a shelf and learning its revision happen under the same lock, so that whoever lists and then follows sees
//! every change exactly once. Nothing here knows what an object means.

mod log;
mod object;
mod shelf;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use tokio::sync::watch;

pub(crate) use log::Compacted;
use log::Log;
pub(crate) use object::{Draft, Key, Object, Owner};
pub(crate) use shelf::Change;
use shelf::Shelf;

/// A revision no client can have seen: etcd's first is 1.
const FIRST: u64 = 1;

/// All objects of a control plane.
#[derive(Debug)]
pub(crate) struct Store {
    inner: RwLock<Inner>,
}

#[derive(Debug)]
struct Inner {
    revision: u64,
    shelves: BTreeMap<Arc<str>, Shelf>,
    /// The changes of all shelves, for those who follow everything: also shelves that do not exist yet.
    journal: Log<Entry>,
}

/// A change and the shelf it was made on.
pub(crate) type Entry = (Arc<str>, Arc<Change>);

/// What a write wants to find where it writes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Expect<'a> {
    Nothing,
    This(&'a Arc<Object>),
}

/// Somebody else wrote in between: what lies there now.
#[derive(Debug)]
pub(crate) struct Moved(pub(crate) Option<Arc<Object>>);

/// The objects of a shelf at a revision.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) revision: u64,
    pub(crate) objects: Vec<Arc<Object>>,
}

impl Store {
    pub(crate) fn new() -> Self {
        Self { inner: RwLock::new(Inner { revision: FIRST, shelves: BTreeMap::new(), journal: Log::new() }) }
    }

    /// The revision of the last write.
    pub(crate) fn revision(&self) -> u64 {
        self.read().revision
    }

    pub(crate) fn get(&self, shelf: &str, key: &Key) -> Option<Arc<Object>> {
        self.read().shelves.get(shelf)?.get(key).cloned()
    }

    /// All objects of a namespace; of all namespaces if it is empty.
    pub(crate) fn list(&self, shelf: &str, namespace: &str) -> Snapshot {
        let inner = self.read();
        let objects = inner.shelves.get(shelf).map(|shelf| shelf.list(namespace)).unwrap_or_default();
        Snapshot { revision: inner.revision, objects }
    }

    /// A list of the one object of that key, or of none.
    pub(crate) fn list_one(&self, shelf: &str, key: &Key) -> Snapshot {
        let inner = self.read();
        let found = inner.shelves.get(shelf).and_then(|shelf| shelf.get(key));
        Snapshot { revision: inner.revision, objects: found.cloned().into_iter().collect() }
    }

    /// The same as it was at a revision.
    pub(crate) fn list_at(&self, shelf: &str, namespace: &str, revision: u64) -> Result<Snapshot, Compacted> {
        let inner = self.read();
        let objects = match inner.shelves.get(shelf) {
            Some(shelf) => shelf.list_at(namespace, revision)?,
            None => Vec::new(),
        };
        Ok(Snapshot { revision, objects })
    }

    pub(crate) fn owned_by(&self, shelf: &str, uid: &str) -> Vec<Arc<Object>> {
        self.read().shelves.get(shelf).map(|shelf| shelf.owned_by(uid)).unwrap_or_default()
    }

    /// Those on all shelves that an object owns, each with its shelf.
    pub(crate) fn dependents(&self, uid: &str) -> Vec<(Arc<str>, Arc<Object>)> {
        let inner = self.read();
        let shelves = inner.shelves.iter();
        shelves
            .flat_map(|(name, shelf)| shelf.owned_by(uid).into_iter().map(|object| (name.clone(), object)))
            .collect()
    }

    /// Everything there is, shelf by shelf, and the revision.
    pub(crate) fn everything(&self) -> (u64, BTreeMap<Arc<str>, Vec<Arc<Object>>>) {
        let inner = self.read();
        let shelves = inner.shelves.iter().map(|(name, shelf)| (name.clone(), shelf.list("")));
        (inner.revision, shelves.collect())
    }

    /// At most `limit` changes of all shelves after a revision, oldest first.
    pub(crate) fn since_on_all(&self, revision: u64, limit: usize) -> Result<Vec<Entry>, Compacted> {
        Ok(self.read().journal.since(revision)?.take(limit).map(|(_, entry)| entry.clone()).collect())
    }

    /// Tells of each change of every shelf, also of those to come.
    pub(crate) fn subscribe_all(&self) -> watch::Receiver<u64> {
        self.read().journal.subscribe()
    }

    /// At most `limit` changes of a shelf after a revision, oldest first, and the revision they lead to: if they are
    /// all, that of the whole store.
    pub(crate) fn since(
        &self,
        shelf: &str,
        revision: u64,
        limit: usize,
    ) -> Result<(Vec<Arc<Change>>, u64), Compacted> {
        let inner = self.read();
        let Some(shelf) = inner.shelves.get(shelf) else { return Ok((Vec::new(), inner.revision)) };
        let changes = shelf.since(revision)?;
        let all = changes.len() <= limit;
        let changes: Vec<_> = changes.take(limit).cloned().collect();
        let reached = match changes.last() {
            Some(last) if !all => last.revision,
            _ => inner.revision,
        };
        Ok((changes, reached))
    }

    /// Tells of each change of a shelf.
    pub(crate) fn subscribe(&self, shelf: &str) -> watch::Receiver<u64> {
        if let Some(shelf) = self.read().shelves.get(shelf) {
            return shelf.subscribe();
        }
        self.write().shelf(shelf).subscribe()
    }

    /// Writes an object where `expect` lies.
    pub(crate) fn put(&self, shelf: &str, draft: Draft, expect: Expect<'_>) -> Result<Arc<Object>, Moved> {
        let mut inner = self.write();
        inner.expect(shelf, draft.key(), expect)?;
        let object = draft.at(inner.next());
        Ok(inner.record(shelf, object, false))
    }

    /// Removes an object; the draft is its last state.
    pub(crate) fn remove(
        &self,
        shelf: &str,
        last: Draft,
        expect: &Arc<Object>,
    ) -> Result<Arc<Object>, Moved> {
        let mut inner = self.write();
        inner.expect(shelf, last.key(), Expect::This(expect))?;
        let object = last.at(inner.next());
        Ok(inner.record(shelf, object, true))
    }

    /// Forgets all changes, as a compaction of etcd does: watchers that are behind must list again.
    pub(crate) fn compact(&self) {
        for shelf in self.write().shelves.values_mut() {
            shelf.compact();
        }
    }

    // A panic while the lock was held is a bug of ours and was reported; the store is as the last whole write left it.
    fn read(&self) -> RwLockReadGuard<'_, Inner> {
        self.inner.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Inner> {
        self.inner.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn next(&mut self) -> u64 {
        self.revision += 1;
        self.revision
    }

    fn shelf(&mut self, name: &str) -> &mut Shelf {
        if !self.shelves.contains_key(name) {
            self.shelves.insert(name.into(), Shelf::new());
        }
        self.shelves.get_mut(name).expect("the shelf was just put up")
    }

    /// Writes a change down on its shelf and in the journal.
    fn record(&mut self, name: &str, object: Object, deleted: bool) -> Arc<Object> {
        let change = self.shelf(name).record(object, deleted);
        let object = change.object.clone();
        if let Some((name, _)) = self.shelves.get_key_value(name) {
            self.journal.record(object.revision, (name.clone(), change));
        }
        object
    }

    fn expect(&self, shelf: &str, key: &Key, expect: Expect<'_>) -> Result<(), Moved> {
        let found = self.shelves.get(shelf).and_then(|shelf| shelf.get(key));
        let as_expected = match (expect, found) {
            (Expect::Nothing, None) => true,
            (Expect::This(expected), Some(found)) => Arc::ptr_eq(expected, found),
            _ => false,
        };
        if as_expected { Ok(()) } else { Err(Moved(found.cloned())) }
    }
}
