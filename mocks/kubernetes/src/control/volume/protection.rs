//! Claims and volumes that are in use do not go.

use std::collections::BTreeSet;

use super::consumers::Consumers;
use super::{CLAIMS, VOLUMES};
use crate::api::Api;
use crate::control::amend::{amend, drop_finalizer};
use crate::control::frame::{Controller, Next};
use crate::control::queue::Queue;
use crate::status::Status;
use crate::store::{Change, Key};

pub(crate) const CLAIM_SHELVES: &[&str] = &[CLAIMS, "pods"];
pub(crate) const VOLUME_SHELVES: &[&str] = &[VOLUMES];

/// Lets claims go that no pod uses.
#[derive(Default)]
pub(crate) struct ClaimGuard {
    going: BTreeSet<Key>,
    consumers: Consumers,
}

impl Controller for ClaimGuard {
    type Item = Key;

    fn observe(&mut self, shelf: &str, change: &Change, queue: &mut Queue<Key>) {
        let key = &change.object.key;
        if shelf != CLAIMS {
            let concerned = self.consumers.observe(change);
            concerned
                .into_iter()
                .filter(|claim| self.going.contains(claim))
                .for_each(|claim| queue.add(claim));
        } else if change.deleted {
            self.going.remove(key);
        } else if change.object.deleting {
            self.going.insert(key.clone());
            queue.add(key.clone());
        }
    }

    fn reconcile(&mut self, api: &Api, key: &Key) -> Result<Next, Status> {
        let going = api.store().get(CLAIMS, key).is_some_and(|claim| claim.deleting);
        if going && !self.consumers.uses(key) {
            amend(api, (CLAIMS, key, ""), "pvc-protection-controller", |claim| {
                drop_finalizer(claim, "kubernetes.io/pvc-protection");
            })?;
        }
        Ok(Next::Done)
    }
}

/// Lets volumes go that are bound to no claim.
pub(crate) struct VolumeGuard;

impl Controller for VolumeGuard {
    type Item = Key;

    fn observe(&mut self, _shelf: &str, change: &Change, queue: &mut Queue<Key>) {
        if change.object.deleting && !change.deleted {
            queue.add(change.object.key.clone());
        }
    }

    fn reconcile(&mut self, api: &Api, key: &Key) -> Result<Next, Status> {
        let volume = api.store().get(VOLUMES, key).filter(|volume| volume.deleting);
        if volume.is_some_and(|volume| volume.value()["status"]["phase"] != "Bound") {
            amend(api, (VOLUMES, key, ""), "pv-protection-controller", |volume| {
                drop_finalizer(volume, "kubernetes.io/pv-protection");
            })?;
        }
        Ok(Next::Done)
    }
}
