//! One virtual clock for a whole test run.
//!
//! Everything that needs time takes a [`Clock`]. In a run it is a [`VirtualClock`]: made by one process, joined by
//! others through a page of memory, and moved in one of four ways. *Idle-skip*, the default, lets time pass as it
//! does while anybody works, and when all are idle jumps to the next moment anybody waits for: ten idle minutes
//! cost milliseconds, and a client's timeout keeps its real meaning. A *constant rate* is the fallback, *real*
//! is for clusters that are not ours, *manual* for unit tests.
//!
//! ```
//! use std::time::Duration;
//! use mock_clock::{Clock, VirtualClock};
//!
//! let clock = VirtualClock::idle_skip()?;
//! let start = clock.now();
//! clock.sleep(Duration::from_secs(600)).wait();
//! assert!(clock.now() - start >= Duration::from_secs(600));
//! println!("{}", clock.status());
//! # Ok::<(), mock_clock::ClockError>(())
//! ```
//!
//! It stands at the bottom of the project: it uses nothing of ours, and nobody else reads the machine's clock.
//! What it does not do yet: bring unmodified foreign binaries onto this clock.
//!
//! Inside, from the bottom up: [`machine`] reads the machine, [`mod@line`] computes, [`page`] shares, [`keeper`] joins
//! the two; [`timers`] and [`guards`] say what is waited for and who is busy; [`shared`] holds them together;
//! [`coordinator`] jumps, and [`governor`] slows down where nothing jumps.

mod clock;
mod coordinator;
mod error;
mod governor;
mod guards;
mod holding;
mod inject;
mod keeper;
mod lag;
mod line;
mod log;
mod machine;
mod mode;
mod page;
mod rate;
mod shared;
mod sleep;
mod status;
mod time;
mod timers;
mod told;
mod virtual_clock;
mod wall;

pub use crate::clock::Clock;
pub use crate::error::{ClockError, PageError};
pub use crate::inject::{Foreign, SpawnError, Unsupported, probe};
pub use crate::lag::Lag;
pub use crate::log::{Log, LogLevel};
pub use crate::mode::{IdleSkip, Mode};
pub use crate::rate::{Rate, RateError};
pub use crate::sleep::{Elapsed, Interval, MissedTicks, Sleep, Timeout};
pub use crate::status::Status;
pub use crate::time::{Time, TimeError};
pub use crate::told::TimeArguments;
pub use crate::virtual_clock::{Busy, Hand, PAGE_VARIABLE, VirtualClock};

/// The examples of the README are compiled with the others.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
