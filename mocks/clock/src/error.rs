//! Why there is no clock, or why it does not do as it is told.

use std::fmt;
use std::io;
use std::path::PathBuf;

pub use crate::page::PageError;
use crate::page::slots::SLOTS;
use crate::time::Time;
use crate::virtual_clock::PAGE_VARIABLE;
use crate::wall::WallOffset;

/// Why there is no clock, or why it does not do as it is told. Reads after "failed to".
#[derive(Debug)]
pub enum ClockError {
    /// A date was given for real time.
    DateOfRealTime(Time),
    /// A start that leaves no room for a run.
    StartTooLate(Time),
    /// Settings of idle-skip that make no sense; the text says which.
    Settings(&'static str),
    /// The kernel does not show what idle-skip must see.
    Blind(io::Error),
    /// No file in memory, no thread, or no lock on the page.
    Start(io::Error),
    /// No page is named in the environment.
    NotInARun,
    /// The page that is named cannot be used.
    Join {
        /// Where it should be.
        place: PathBuf,
        /// What is wrong with it.
        why: PageError,
    },
    /// This clock has no rate to set; the text says what moves it.
    NoRate(String),
    /// A process that joined cannot count others in.
    TrackFromOutside(u32),
    /// There is no slot left for this process; time does not jump any more.
    TableFull(u32),
}

impl fmt::Display for ClockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClockError::DateOfRealTime(date) => {
                write!(
                    f,
                    "start real time at {date}: real time has the machine's date; use idle-skip or a rate"
                )
            }
            ClockError::StartTooLate(date) => {
                write!(f, "start at {date}: the latest start is {}", WallOffset::START_MAX)
            }
            ClockError::Settings(why) => write!(f, "skip idle time: {why}"),
            ClockError::Blind(e) => write!(
                f,
                "skip idle time, which takes seeing when all threads sleep ({e}); where /proc or netlink are closed to us, a constant rate or real time is the way out"
            ),
            ClockError::Start(e) => write!(f, "set up the clock: {e}"),
            ClockError::NotInARun => {
                write!(
                    f,
                    "join a run's clock: {PAGE_VARIABLE} is not set, so no run has started this process"
                )
            }
            ClockError::Join { place, why } => write!(f, "join the clock at {}: {why}", place.display()),
            ClockError::NoRate(mover) => write!(f, "set a rate on this clock: it is {mover}"),
            ClockError::TrackFromOutside(pid) => {
                write!(f, "count process {pid} in: only the process that made the clock can")
            }
            ClockError::TableFull(pid) => {
                write!(
                    f,
                    "count process {pid} in: all {SLOTS} slots are taken, and time will not jump any more"
                )
            }
        }
    }
}

impl std::error::Error for ClockError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ClockError::Blind(e) | ClockError::Start(e) => Some(e),
            ClockError::Join { why, .. } => Some(why),
            _ => None,
        }
    }
}
