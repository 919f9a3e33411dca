//! A moment of virtual time: the plain value that world, mocks, plan, history and checks speak.
//!
//! One value serves as wall clock and as monotonic reading, because in virtual time the two are a constant
//! apart. It does not know which clock it came from, and reads none.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};
use std::str::FromStr;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A moment of virtual time, to the nanosecond, from 1970 to the year 2554.
///
/// It prints, parses and serialises as RFC 3339 in UTC:
///
/// ```
/// use std::time::Duration;
/// use mock_clock::Time;
///
/// let start: Time = "2026-01-01T00:00:00Z".parse()?;
/// let later = start + Duration::from_millis(90_500);
/// assert_eq!(later.to_string(), "2026-01-01T00:01:30.5Z");
/// assert_eq!(later - start, Duration::from_millis(90_500));
/// assert_eq!(format!("{later:.3}"), "2026-01-01T00:01:30.500Z");
/// # Ok::<(), mock_clock::TimeError>(())
/// ```
///
/// Arithmetic stops at the ends instead of wrapping: "in `Duration::MAX`" is [`Time::NEVER`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time {
    unix_ns: u64,
}

impl Time {
    /// The Unix epoch, the earliest moment there is.
    pub const EPOCH: Time = Time { unix_ns: 0 };
    /// The last moment there is; a deadline that never comes.
    pub const NEVER: Time = Time { unix_ns: u64::MAX };

    /// The moment this many nanoseconds after the Unix epoch.
    pub const fn from_unix_nanos(unix_ns: u64) -> Self {
        Self { unix_ns }
    }

    /// Nanoseconds since the Unix epoch.
    pub const fn unix_nanos(self) -> u64 {
        self.unix_ns
    }

    /// How long after `earlier` this is; zero if it is before.
    pub const fn since(self, earlier: Time) -> Duration {
        Duration::from_nanos(self.unix_ns.saturating_sub(earlier.unix_ns))
    }
}

/// A span in whole nanoseconds; one too long to count is the longest.
pub(crate) fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

impl Add<Duration> for Time {
    type Output = Time;
    fn add(self, span: Duration) -> Time {
        Time { unix_ns: self.unix_ns.saturating_add(nanos(span)) }
    }
}

impl AddAssign<Duration> for Time {
    fn add_assign(&mut self, span: Duration) {
        *self = *self + span;
    }
}

impl Sub<Duration> for Time {
    type Output = Time;
    fn sub(self, span: Duration) -> Time {
        Time { unix_ns: self.unix_ns.saturating_sub(nanos(span)) }
    }
}

impl Sub for Time {
    type Output = Duration;
    fn sub(self, earlier: Time) -> Duration {
        self.since(earlier)
    }
}

impl From<Time> for Timestamp {
    fn from(time: Time) -> Timestamp {
        Timestamp::from_nanosecond(i128::from(time.unix_ns)).expect("64 bits of nanoseconds end in 2554")
    }
}

impl TryFrom<Timestamp> for Time {
    type Error = TimeError;
    fn try_from(timestamp: Timestamp) -> Result<Time, TimeError> {
        let unix_ns = u64::try_from(timestamp.as_nanosecond())
            .map_err(|_| TimeError::OutOfRange(timestamp.to_string()))?;
        Ok(Time { unix_ns })
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Timestamp::from(*self), f)
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Time {
    type Err = TimeError;
    fn from_str(text: &str) -> Result<Time, TimeError> {
        let timestamp: Timestamp =
            text.parse().map_err(|source| TimeError::Unreadable { text: text.to_owned(), source })?;
        Time::try_from(timestamp)
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Why a text or a timestamp is no [`Time`].
#[derive(Debug)]
pub enum TimeError {
    /// The text is not RFC 3339 with a zone.
    Unreadable {
        /// What was to be read.
        text: String,
        /// What the parser says.
        source: jiff::Error,
    },
    /// A moment before 1970 or after 2554.
    OutOfRange(String),
}

impl fmt::Display for TimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TimeError::Unreadable { text, source } => {
                write!(f, "read {text:?} as a moment like 2026-01-01T00:00:00Z: {source}")
            }
            TimeError::OutOfRange(moment) => {
                write!(f, "use {moment} as virtual time: it must lie between 1970 and 2554")
            }
        }
    }
}

impl std::error::Error for TimeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            TimeError::Unreadable { source, .. } => Some(source),
            TimeError::OutOfRange(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn text_and_json_give_the_same_moment_back(unix_ns: u64) {
            let time = Time::from_unix_nanos(unix_ns);
            prop_assert_eq!(time.to_string().parse::<Time>().unwrap(), time);
            let json = serde_json::to_string(&time).unwrap();
            prop_assert_eq!(serde_json::from_str::<Time>(&json).unwrap(), time);
        }

        #[test]
        fn adding_and_subtracting_agree(unix_ns in 0..u64::MAX / 2, span in 0..u64::MAX / 2) {
            let (time, span) = (Time::from_unix_nanos(unix_ns), Duration::from_nanos(span));
            prop_assert_eq!((time + span) - time, span);
            prop_assert_eq!((time + span) - span, time);
        }
    }

    #[test]
    fn the_ends_hold() {
        assert_eq!(Time::EPOCH + Duration::MAX, Time::NEVER);
        assert_eq!(Time::EPOCH - Duration::from_secs(1), Time::EPOCH);
        assert_eq!(Time::EPOCH.since(Time::NEVER), Duration::ZERO);
    }

    #[test]
    fn a_bad_moment_is_refused_with_its_text() {
        let told = |text: &str| text.parse::<Time>().unwrap_err().to_string();
        assert!(
            told("yesterday").starts_with("read \"yesterday\" as a moment like"),
            "{}",
            told("yesterday")
        );
        assert!(told("1969-12-31T23:59:59Z").contains("between 1970 and 2554"));
        assert!(told("2600-01-01T00:00:00Z").contains("between 1970 and 2554"));
    }
}
