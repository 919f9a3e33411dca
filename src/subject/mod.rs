//! The subject: the autoscaler build under test, as a profile describes it and as a process that runs.

mod profile;

pub use profile::{Flavour, Health, Profile};
