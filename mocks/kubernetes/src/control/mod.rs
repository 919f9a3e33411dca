//! The controller manager: one file a controller, all fed by the store's log of changes.

mod brief;
mod daemon_set;
mod deployment;
pub(crate) mod events;
mod family;
mod frame;
mod hash;
mod history;
mod job;
mod moment;
mod pod_maker;
mod portion;
mod queue;
mod ranking;
mod replica_set;
mod replicate;
#[cfg(test)]
mod stage;
mod stateful_set;
mod ttl;
mod workloads;

pub(crate) use frame::{Controller, Feed, Next, any, run};
pub(crate) use queue::Queue;
pub(crate) use workloads::workloads;
