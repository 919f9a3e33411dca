//! Unmodified foreign programs on a clock of ours.

mod alarms;
mod auxv;
mod blob;
mod error;
mod exec;
mod filter;
mod foreign;
mod injection;
mod puppet;
mod region;
mod usher;
mod vdso;

pub use error::{SpawnError, Unsupported};
pub use foreign::Foreign;
pub(crate) use usher::Door;

/// Whether foreign programs can be brought onto a clock on this machine; if not, why not.
pub fn probe() -> Result<(), Unsupported> {
    Err(Unsupported::new("not yet"))
}
