//! The controller manager: one file a controller, all fed by the store's log of changes.

mod amend;
mod brief;
mod cluster;
mod daemon_set;
mod definition;
mod deployment;
mod disruption;
pub(crate) mod events;
mod eviction;
mod family;
mod frame;
mod furniture;
mod garbage;
mod hash;
mod history;
mod job;
mod leftover;
mod moment;
mod namespace;
mod node;
mod pod_maker;
mod portion;
mod queue;
mod ranking;
mod replica_set;
mod replicate;
mod residents;
#[cfg(test)]
pub(crate) mod rig;
#[cfg(test)]
mod stage;
mod stateful_set;
mod ttl;
mod volume;
mod workloads;

pub(crate) use cluster::{Settings, cluster};
pub(crate) use frame::{Controller, Feed, Next, any, run};
pub(crate) use node::Grace;
pub(crate) use queue::Queue;
pub(crate) use volume::Drivers;
pub(crate) use workloads::workloads;
