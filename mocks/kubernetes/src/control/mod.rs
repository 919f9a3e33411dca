//! The controller manager: one file a controller, all fed by the store's log of changes.

mod amend;
mod brief;
mod definition;
mod deployment;
pub(crate) mod events;
mod family;
mod frame;
mod furniture;
mod garbage;
mod hash;
mod job;
mod moment;
mod namespace;
mod pod_maker;
mod portion;
mod queue;
mod ranking;
mod replica_set;
mod replicate;
#[cfg(test)]
pub(crate) mod rig;
#[cfg(test)]
mod stage;

pub(crate) use frame::{Controller, Feed, Next, any, run};
pub(crate) use queue::Queue;
