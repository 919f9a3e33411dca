//! Deciding expectations from a history. Pure: no file, no clock, no drawing; the same history always gives the same
//! verdicts.
//!
//! One property a file, with the promise it decides, the smallest history that violates it, and what it does not catch.
//! [`catalogue`] lists them all; [`judge`] asks those that a history is about.

mod expectation;
mod verdict;

pub use expectation::{Citation, Expectation, Kind, Level, Versions};
pub use verdict::{Evidence, Tally, Verdict};
