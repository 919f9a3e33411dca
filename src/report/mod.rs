//! The last arrow: a history and its judgement, told to people and to programs.
//!
//! [`Telling`] is the plain value between: all that a short report says of one run, small enough to keep for hundreds of
//! them. [`text`], [`json`], [`junit`] and [`markdown`] are functions of it; [`html`] draws the whole history as a
//! timeline. Everything here gives text and writes no file; nothing here judges.

pub mod html;
pub mod json;
pub mod junit;
pub mod markdown;
pub mod progress;
pub mod stability;
pub mod text;

mod around;
mod moment;
mod notes;
mod repeat;
mod telling;

pub use moment::since_start;
pub use progress::{Follower, Progress};
pub use telling::{Attempt, Cited, Finding, Overdue, Proof, Shown, Standing, Telling, Totals};
