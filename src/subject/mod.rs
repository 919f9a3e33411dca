//! The subject: the autoscaler build under test, as a profile describes it and as a process that runs.

mod fill;
mod placeholder;
mod process;
mod profile;

pub use fill::{Circumstances, FillError, Filled};
pub use process::{Launch, Replica, SubjectError, digest, digest_of};
pub use profile::{Flavour, Health, Profile, Since, read, schema};
