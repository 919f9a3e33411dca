//! The controller manager: one file a controller, all fed by the store's log of changes.

pub(crate) mod events;
mod frame;
mod queue;
#[cfg(test)]
mod stage;

pub(crate) use frame::{Controller, Feed, Next, any, run};
pub(crate) use queue::Queue;
