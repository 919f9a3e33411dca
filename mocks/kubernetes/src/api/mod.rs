//! What can be done with objects, without the wire: read, create, update, patch, delete, and the subresources.
//!
//! Requests and controllers come the same way. A write reads, changes, admits and validates without holding a lock,
//! and is committed only if nobody else wrote in between; otherwise it is done again from what lies there now.

mod binding;
mod change;
mod create;
mod decode;
mod definition;
mod delete;
mod event;
mod eviction;
mod finish;
mod options;
mod patch;
mod prepare;
mod read;
mod scale;
#[cfg(test)]
mod tests;
mod typed;

use std::sync::{Arc, PoisonError, RwLock};

use mock_clock::{Clock, Time, VirtualClock};

use crate::chance::Chance;
use crate::registry::{Registry, Resource};
use crate::store::{Key, Object, Store};

pub(crate) use change::same_name;
pub(crate) use create::same_namespace;
pub(crate) use decode::{internal_package, read_as};
pub(crate) use definition::CLEANUP;
pub(crate) use delete::{Deleted, FOREGROUND, ORPHAN};
pub(crate) use eviction::read_eviction;
pub(crate) use finish::Written;
pub(crate) use options::{Delete, Fields, Propagation, Write, unknown_stages};
pub(crate) use patch::Patch;
pub(crate) use read::{view, view_json, view_protobuf};
pub(crate) use scale::patched;
pub(crate) use typed::{Kind, read};

/// A control plane's objects and all that may be done with them. Cloning shares.
#[derive(Clone, Debug)]
pub(crate) struct Api(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    store: Store,
    registry: RwLock<Arc<Registry>>,
    clock: VirtualClock,
    chance: Chance,
}

/// One object of one resource.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<'a> {
    pub(crate) resource: &'a Resource,
    /// Empty if the resource has none.
    pub(crate) namespace: &'a str,
    pub(crate) name: &'a str,
    /// Empty for the object itself.
    pub(crate) subresource: &'a str,
}

impl Target<'_> {
    pub(crate) fn key(&self) -> Key {
        Key::new(self.namespace, self.name)
    }
}

impl Api {
    pub(crate) fn new(clock: VirtualClock, seed: u64) -> Self {
        Self(Arc::new(Inner {
            store: Store::new(),
            registry: RwLock::new(Arc::new(Registry::built_in())),
            clock,
            chance: Chance::new(seed),
        }))
    }

    pub(crate) fn store(&self) -> &Store {
        &self.0.store
    }

    pub(crate) fn clock(&self) -> &VirtualClock {
        &self.0.clock
    }

    pub(crate) fn chance(&self) -> &Chance {
        &self.0.chance
    }

    pub(crate) fn now(&self) -> Time {
        self.0.clock.now()
    }

    /// What is served at this moment.
    pub(crate) fn registry(&self) -> Arc<Registry> {
        self.0.registry.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Serves something else from now on.
    pub(crate) fn reregister(&self, change: impl FnOnce(&Registry) -> Registry) {
        let mut registry = self.0.registry.write().unwrap_or_else(PoisonError::into_inner);
        *registry = Arc::new(change(&registry));
    }

    /// The object as it lies in the store.
    pub(crate) fn get(&self, target: &Target<'_>) -> Option<Arc<Object>> {
        self.store().get(&target.resource.shelf, &target.key())
    }
}

/// A moment as objects write it: whole seconds.
pub(crate) fn stamp(time: Time) -> String {
    let nanos = time.unix_nanos();
    let whole = Time::from_unix_nanos(nanos - nanos % 1_000_000_000);
    whole.to_string()
}
