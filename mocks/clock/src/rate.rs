//! How fast virtual time passes while it is not jumping, and what rates can be trusted.

use std::fmt;
use std::str::FromStr;

/// Virtual seconds per real second, from 1 to 100.
///
/// Real delays grow by the same factor: at 60 a scheduling delay of 10 ms is 600 virtual milliseconds, and a
/// client's 10 s timeout passes in 167 ms. So a rate above [`Rate::RISKY_ABOVE`] is warned of, one above
/// [`Rate::MAX`] refused.
///
/// ```
/// use mock_clock::Rate;
///
/// assert_eq!("60".parse::<Rate>()?.get(), 60.0);
/// assert!(Rate::new(100.0)?.warning().is_some());
/// assert_eq!(
///     Rate::new(300.0).unwrap_err().to_string(),
///     "let virtual time pass at 300 times real time: above 100 clients time out on answers that were in time; use idle-skip, which has no such limit",
/// );
/// # Ok::<(), mock_clock::RateError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Rate(f64);

impl Rate {
    /// Virtual time passes as real time does.
    pub const ONE: Rate = Rate(1.0);
    /// The highest rate there is.
    pub const MAX: f64 = 100.0;
    /// From here on timeouts of well-behaved clients start to fail on a busy machine.
    pub const RISKY_ABOVE: f64 = 60.0;

    /// Checks a rate.
    pub fn new(rate: f64) -> Result<Rate, RateError> {
        if !rate.is_finite() {
            Err(RateError::NoNumber(rate.to_string()))
        } else if rate < 1.0 {
            Err(RateError::TooSlow(rate))
        } else if rate > Self::MAX {
            Err(RateError::TooFast(rate))
        } else {
            Ok(Rate(rate))
        }
    }

    /// The plain number.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// What may go wrong at this rate, if it is a risky one.
    pub fn warning(self) -> Option<String> {
        (self.0 > Self::RISKY_ABOVE).then(|| {
            format!(
                "virtual time at {self} times real time: above {} a busy machine makes clients time out on answers that were in time",
                Self::RISKY_ABOVE
            )
        })
    }

    /// Virtual nanoseconds per real one as 32.32 fixed point: what the page holds.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and 100")]
    pub(crate) fn fixed_point(self) -> u64 {
        (self.0 * 4_294_967_296.0).round() as u64
    }

    /// 2^40 / rate: what the page holds for those who turn virtual waits into real ones.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 2^40")]
    pub(crate) fn inverse(self) -> u64 {
        (1_099_511_627_776.0 / self.0).round() as u64
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Rate {
    type Err = RateError;
    fn from_str(text: &str) -> Result<Rate, RateError> {
        let rate =
            text.trim().trim_start_matches('x').parse().map_err(|_| RateError::NoNumber(text.into()))?;
        Rate::new(rate)
    }
}

/// Why a number is no [`Rate`]. Reads after "failed to".
#[derive(Clone, Debug, PartialEq)]
pub enum RateError {
    /// Not a number at all.
    NoNumber(String),
    /// Not a [`crate::Mode`] at all.
    NoMode(String),
    /// Below real time.
    TooSlow(f64),
    /// Beyond what clients stand.
    TooFast(f64),
}

impl fmt::Display for RateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RateError::NoNumber(text) => {
                write!(f, "read {text:?} as a rate: it must be a number from 1 to 100")
            }
            RateError::NoMode(text) => {
                write!(
                    f,
                    "read {text:?} as a way for time to pass: it must be idle-skip, real, or a rate from 1 to 100"
                )
            }
            RateError::TooSlow(rate) => {
                write!(
                    f,
                    "let virtual time pass at {rate} times real time: it may not be slower than real time"
                )
            }
            RateError::TooFast(rate) => write!(
                f,
                "let virtual time pass at {rate} times real time: above {} clients time out on answers that were in time; use idle-skip, which has no such limit",
                Rate::MAX
            ),
        }
    }
}

impl std::error::Error for RateError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limits_are_inclusive() {
        assert_eq!(Rate::new(100.0), Ok(Rate(100.0)));
        assert_eq!(Rate::new(100.1), Err(RateError::TooFast(100.1)));
        assert_eq!(Rate::new(0.5), Err(RateError::TooSlow(0.5)));
        assert_eq!(Rate::new(60.0).unwrap().warning(), None);
        assert!(Rate::new(60.5).unwrap().warning().unwrap().contains("60.5 times"));
    }

    #[test]
    fn only_numbers_are_rates() {
        assert_eq!("x30".parse(), Ok(Rate(30.0)));
        for text in ["", "fast", "NaN", "inf", "-1", "0", "1e9"] {
            assert!(text.parse::<Rate>().is_err(), "{text:?}");
        }
    }
}
