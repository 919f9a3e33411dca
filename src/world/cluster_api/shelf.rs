//! What the controllers have seen last of every object, as their watches and the answers to their own writes tell it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kube::ResourceExt as _;
use kube::api::DynamicObject;
use tokio::sync::watch;

use super::kinds::Kind;

/// An object as it was last.
pub(super) type Object = Arc<DynamicObject>;

/// All objects.
#[derive(Default)]
pub(super) struct Shelf {
    all: Mutex<All>,
    changed: watch::Sender<u64>,
}

#[derive(Default)]
struct All {
    objects: BTreeMap<(Kind, String), Object>,
    /// Who is gone does not come back, however late an answer is.
    gone: BTreeSet<String>,
}

impl Shelf {
    fn lock(&self) -> MutexGuard<'_, All> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An object is like this, unless something later is known of it.
    pub(super) fn put(&self, kind: Kind, object: DynamicObject) {
        let mut all = self.lock();
        let (key, uid) = ((kind, object.name_any()), object.uid().unwrap_or_default());
        let later = all.objects.get(&key).is_some_and(|known| {
            known.uid().as_deref() == Some(&uid) && revision(known) >= revision(&object)
        });
        if later || all.gone.contains(&uid) {
            return;
        }
        all.objects.insert(key, Arc::new(object));
        drop(all);
        self.changed.send_modify(|count| *count += 1);
    }

    /// An object is gone.
    pub(super) fn remove(&self, kind: Kind, object: &DynamicObject) {
        let mut all = self.lock();
        let key = (kind, object.name_any());
        if all.objects.get(&key).is_some_and(|known| known.uid() == object.uid()) {
            all.objects.remove(&key);
        }
        all.gone.extend(object.uid());
        drop(all);
        self.changed.send_modify(|count| *count += 1);
    }

    /// One by its name.
    pub(super) fn get(&self, kind: Kind, name: &str) -> Option<Object> {
        self.lock().objects.get(&(kind, name.to_owned())).cloned()
    }

    /// All of a kind, by their names.
    pub(super) fn all(&self, kind: Kind) -> Vec<Object> {
        let all = self.lock();
        all.objects.iter().filter(|((of, _), _)| *of == kind).map(|(_, object)| Arc::clone(object)).collect()
    }

    /// Those of a kind that this one controls.
    pub(super) fn owned(&self, kind: Kind, by: &DynamicObject) -> Vec<Object> {
        let owner = by.uid();
        let is_owned = |object: &Object| {
            let mut owners = object.owner_references().iter();
            owners.any(|of| of.controller == Some(true) && Some(&of.uid) == owner.as_ref())
        };
        self.all(kind).into_iter().filter(is_owned).collect()
    }

    /// Tells each time that something has changed.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Waits until something can be found on the shelf.
    pub(super) async fn until<T>(&self, mut found: impl FnMut(&Shelf) -> Option<T>) -> T {
        let mut changes = self.changes();
        loop {
            changes.borrow_and_update();
            if let Some(found) = found(self) {
                return found;
            }
            if changes.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}

/// Revisions grow, and are compared as numbers.
fn revision(object: &DynamicObject) -> u64 {
    object.resource_version().and_then(|version| version.parse().ok()).unwrap_or(0)
}
