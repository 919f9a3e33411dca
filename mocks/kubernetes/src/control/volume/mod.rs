//! Persistent volumes: bound to claims, provisioned, attached to nodes, and kept while they are in use.

mod attachment;
mod binding;
mod consumers;
mod facts;
mod matching;
mod protection;
mod provision;
#[cfg(test)]
mod tests;

pub(super) use attachment::{Attacher, SHELVES as ATTACHMENT_SHELVES};
pub(super) use binding::{Binder, SHELVES as BINDING_SHELVES};
pub(super) use protection::{CLAIM_SHELVES, ClaimGuard, VOLUME_SHELVES, VolumeGuard};

use std::time::Duration;

const CLAIMS: &str = "persistentvolumeclaims";
const VOLUMES: &str = "persistentvolumes";
const CLASSES: &str = "storageclasses.storage.k8s.io";
const ATTACHMENTS: &str = "volumeattachments.storage.k8s.io";

/// What the drivers of volumes are to be like, which are nobody's but ours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drivers {
    /// Whether claims get a volume made for them, whatever their class says about who makes it.
    pub(crate) provision: bool,
    /// How long attaching takes.
    pub(crate) attach: Duration,
    /// How long detaching takes.
    pub(crate) detach: Duration,
}

impl Default for Drivers {
    fn default() -> Self {
        Self { provision: true, attach: Duration::ZERO, detach: Duration::ZERO }
    }
}
