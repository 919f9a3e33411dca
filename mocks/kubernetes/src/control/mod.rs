//! The controller manager: one file a controller, all fed by the store's log of changes.

mod amend;
mod definition;
pub(crate) mod events;
mod frame;
mod furniture;
mod garbage;
mod namespace;
mod queue;
#[cfg(test)]
pub(crate) mod rig;

pub(crate) use frame::{Controller, Feed, Next, any, run};
pub(crate) use queue::Queue;
