//! The constant between virtual monotonic time, in which the clock counts, and virtual wall time, which it shows.

use crate::time::Time;

/// Virtual wall time minus virtual monotonic time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WallOffset(i128);

/// On the page the constant is a word that wraps; these topmost ones are negative.
const NEGATIVE_FROM: u64 = u64::MAX - (1 << 62);

impl WallOffset {
    /// The latest date a clock may start at: later ones would read as negative constants.
    pub(crate) const START_MAX: Time = Time::from_unix_nanos(13_569_465_600_000_000_000);

    pub(crate) fn new(wall: Time, monotonic: u64) -> Self {
        Self(i128::from(wall.unix_nanos()) - i128::from(monotonic))
    }

    pub(crate) fn from_word(word: u64) -> Self {
        Self(if word >= NEGATIVE_FROM { i128::from(word) - (1 << 64) } else { i128::from(word) })
    }

    pub(crate) fn word(self) -> u64 {
        u64::try_from(self.0.rem_euclid(1 << 64)).expect("a remainder of 2^64")
    }

    pub(crate) fn wall(self, monotonic: u64) -> Time {
        Time::from_unix_nanos(clamp(i128::from(monotonic) + self.0))
    }

    /// [`Time::NEVER`] is never on the monotonic side too.
    pub(crate) fn monotonic(self, wall: Time) -> u64 {
        if wall == Time::NEVER { u64::MAX } else { clamp(i128::from(wall.unix_nanos()) - self.0) }
    }
}

fn clamp(ns: i128) -> u64 {
    u64::try_from(ns.clamp(0, i128::from(u64::MAX))).expect("clamped")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_two_clocks_stay_a_constant_apart(
            start in 0..=WallOffset::START_MAX.unix_nanos(), uptime in 0_u64..1 << 61, passed in 0_u64..1 << 61,
        ) {
            let offset = WallOffset::new(Time::from_unix_nanos(start), uptime);
            prop_assert_eq!(WallOffset::from_word(offset.word()), offset);
            let wall = offset.wall(uptime + passed);
            prop_assert_eq!(wall, Time::from_unix_nanos(start.saturating_add(passed)));
            prop_assert!(wall == Time::NEVER || offset.monotonic(wall) == uptime + passed);
        }
    }

    #[test]
    fn the_latest_start_is_the_year_2400() {
        assert_eq!(WallOffset::START_MAX, "2400-01-01T00:00:00Z".parse().unwrap());
        let offset = WallOffset::new(Time::EPOCH, 1 << 50);
        assert_eq!(offset.monotonic(Time::NEVER), u64::MAX);
    }
}
