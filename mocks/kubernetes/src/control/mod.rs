//! The controller manager: one file a controller, all fed by the store's log of changes.

mod amend;
mod cluster;
mod definition;
mod disruption;
pub(crate) mod events;
mod eviction;
mod frame;
mod furniture;
mod garbage;
mod leftover;
mod namespace;
mod node;
mod queue;
mod residents;
#[cfg(test)]
pub(crate) mod rig;
mod volume;

pub(crate) use cluster::{Settings, cluster};
pub(crate) use frame::{Controller, Feed, Next, any, run};
pub(crate) use queue::Queue;
