//! How a clock moves, as a value that prints and parses.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::rate::{Rate, RateError};

/// How virtual time passes.
///
/// ```
/// use mock_clock::{IdleSkip, Mode, Rate};
///
/// assert_eq!("idle-skip".parse(), Ok(Mode::IdleSkip(IdleSkip::default())));
/// assert_eq!("30".parse(), Ok(Mode::Constant(Rate::new(30.0)?)));
/// assert_eq!(Mode::Real.to_string(), "real");
/// # Ok::<(), mock_clock::RateError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mode {
    /// As real time while anybody works; when all are idle it jumps to the next deadline.
    IdleSkip(IdleSkip),
    /// A constant number of virtual seconds per real one, and one for one while a guard is held.
    Constant(Rate),
    /// As the machine's own clock, date included.
    Real,
}

/// How idle-skip jumps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdleSkip {
    /// The longest single jump, so that a lost deadline cannot skip a whole test; at least a millisecond.
    pub jump_max: Duration,
    /// Jumps end on multiples of this, counted from 1970: timers fire late by up to as much, and dense ones share
    /// a jump. At most `jump_max`, which comes first.
    pub round_up_to: Option<Duration>,
    /// The most that watching for idleness may cost, in percent of one processor, from 1 to 100. A jump costs
    /// what it costs; with a larger share the next one comes sooner.
    pub watch_percent: u32,
}

impl IdleSkip {
    /// Why these settings make no sense, if they make none.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        if self.jump_max < JUMP_MAX_LEAST {
            Err("a jump must be allowed at least a millisecond (jump_max)")
        } else if self.round_up_to.is_some_and(|grid| grid.is_zero() || grid > self.jump_max) {
            Err(
                "jumps can end on multiples of something longer than zero and no longer than a jump (round_up_to)",
            )
        } else if !(1..=100).contains(&self.watch_percent) {
            Err("watching can cost between 1 and 100 percent of a processor (watch_percent)")
        } else {
            Ok(())
        }
    }
}

/// However short jumps are to be, they must lead somewhere.
const JUMP_MAX_LEAST: Duration = Duration::from_millis(1);

impl Default for IdleSkip {
    fn default() -> Self {
        Self { jump_max: Duration::from_secs(60), round_up_to: None, watch_percent: 9 }
    }
}

impl Default for Mode {
    fn default() -> Self {
        Mode::IdleSkip(IdleSkip::default())
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mode::IdleSkip(_) => f.write_str("idle-skip"),
            Mode::Constant(rate) => rate.fmt(f),
            Mode::Real => f.write_str("real"),
        }
    }
}

impl FromStr for Mode {
    type Err = RateError;
    fn from_str(text: &str) -> Result<Mode, RateError> {
        match text {
            "idle-skip" => Ok(Mode::default()),
            "real" => Ok(Mode::Real),
            rate => match rate.parse() {
                Ok(rate) => Ok(Mode::Constant(rate)),
                Err(RateError::NoNumber(text)) => Err(RateError::NoMode(text)),
                Err(e) => Err(e),
            },
        }
    }
}
