//! The scheduler: queue, filters, scores, binding, pre-emption.
//!
//! The core is pure: `cluster` is what is known, `decide` what follows for one pod, `queue` who is next. It reads no
//! clock and writes nothing. Not simulated: dynamic resource allocation, in-tree volume plugins, storage capacity,
//! images, the default spreading of services, scheduler profiles and extenders.

mod cluster;
mod decide;
mod filter;
mod hands;
mod hint;
mod node;
mod observe;
mod pod;
mod preempt;
mod queue;
mod random;
mod read;
mod reason;
mod request;
mod run;
mod scheduler;
mod score;
mod shape;
mod trial;
mod volume;

pub(crate) use run::run;
pub(crate) use score::Packing;

#[cfg(test)]
mod cases;
#[cfg(test)]
mod laws;
