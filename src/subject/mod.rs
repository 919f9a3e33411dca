//! The subject: the autoscaler build under test, as a profile describes it and as processes that run.

mod build;
mod builtin;
mod fill;
mod health;
pub mod hosts;
mod kin;
mod log;
mod placeholder;
mod port;
mod process;
mod profile;
mod program;
mod version;

pub use build::Build;
pub use builtin::{builtin, builtin_names};
pub use fill::{Circumstances, FillError, Filled};
pub use port::Port;
pub use process::{Launch, Replica, SubjectError};
pub use profile::{Flavour, Health, LeaseName, Profile, Since, read, schema};
pub use program::{digest, digest_of, told_version};
pub use version::built_from;
