//! Unmodified foreign programs on a clock of ours, static and stripped ones too.
//!
//! A program reads the time through the vDSO, and waits in system calls that carry a timeout. So it is given, at its
//! first instruction, a stretch of memory with code and the clock's page in it ([`region`], [`blob`]), a vDSO that leads
//! there ([`vdso`], [`auxv`], [`on_record`]), and a filter by which the kernel hands such calls to that code ([`filter`]). Then it is let
//! go: nothing traces it while it runs.
//!
//! | file | what it does |
//! |---|---|
//! | [`usher`] | the one thread that does it all |
//! | [`injection`] | the steps, made by a process that stands still: [`puppet`], [`trace`] |
//! | [`exec`] | the same, when a foreign program starts another |
//! | [`alarms`] | timers in the kernel, which must not fire in real time |
//! | [`foreign`] | what the parent holds |
//!
//! It does not decide when time jumps: what foreign threads wait for stands on the page, for the coordinator.

mod alarms;
mod auxv;
mod blob;
mod error;
mod exec;
mod filter;
mod foreign;
mod injection;
mod on_record;
mod probe;
mod puppet;
mod region;
mod trace;
mod usher;
mod vdso;

pub use error::{SpawnError, Unsupported};
pub use foreign::Foreign;
pub use probe::probe;
pub(crate) use usher::Door;
