//! The straight line that turns real time into virtual time, and the three ways to bend it.
//!
//! `virtual = virt0 + (real - real0) × rate`. Pure: it reads no clock. Who may read a line while another
//! writes it is the business of [`crate::keeper`] and [`crate::page`].

use std::time::Duration;

use crate::rate::Rate;

/// A straight line through (`real0`, `virt0`); all times in nanoseconds of a monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) real0: u64,
    pub(crate) virt0: u64,
    /// Virtual per real nanosecond, 32.32 fixed point. Zero stands still.
    pub(crate) mult: u64,
}

impl Line {
    /// A line on which virtual time starts at `virt0` and passes at `rate`.
    pub(crate) fn new(real0: u64, virt0: u64, rate: Rate) -> Self {
        Self { real0, virt0, mult: rate.fixed_point() }
    }

    /// A line on which virtual time stands still until it is moved.
    pub(crate) fn still(real0: u64, virt0: u64) -> Self {
        Self { real0, virt0, mult: 0 }
    }

    /// Virtual time at a real moment.
    pub(crate) fn at(&self, real: u64) -> u64 {
        let real = u128::from(real.saturating_sub(self.real0));
        let passed = (real * u128::from(self.mult)) >> 32;
        self.virt0.saturating_add(u64::try_from(passed).unwrap_or(u64::MAX))
    }

    /// The same virtual time at `real`, another rate from there on.
    pub(crate) fn with_rate(&self, real: u64, rate: Rate) -> Self {
        Self { real0: real, virt0: self.at(real), mult: rate.fixed_point() }
    }

    /// From `real` on at least at `target`; never back.
    pub(crate) fn jumped(&self, real: u64, target: u64) -> Self {
        Self { real0: real, virt0: self.at(real).max(target), mult: self.mult }
    }

    /// How long, in real time, until virtual time has reached `deadline`; `None` if it stands still before it.
    pub(crate) fn real_until(&self, real: u64, deadline: u64) -> Option<Duration> {
        let missing = deadline.saturating_sub(self.at(real));
        if missing == 0 {
            return Some(Duration::ZERO);
        }
        let shifted = u128::from(missing) << 32;
        let real = shifted.checked_div(u128::from(self.mult))?;
        Some(Duration::from_nanos(u64::try_from(real).unwrap_or(u64::MAX).saturating_add(1)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DAY: u64 = 86_400_000_000_000;

    #[derive(Clone, Debug)]
    enum Bend {
        Rate(f64),
        JumpBy(u64),
    }

    fn bends() -> impl Strategy<Value = Vec<(u64, Bend)>> {
        let bend = prop_oneof![(1.0..100.0).prop_map(Bend::Rate), (0..DAY).prop_map(Bend::JumpBy)];
        prop::collection::vec((0..DAY, bend), 0..40)
    }

    proptest! {
        /// However the line is bent, a later real moment never has an earlier virtual one.
        #[test]
        fn time_never_goes_back(start in 0..DAY, bends in bends()) {
            let mut line = Line::new(start, start, Rate::ONE);
            let (mut real, mut latest) = (start, start);
            for (passed, bend) in bends {
                real += passed;
                prop_assert!(line.at(real) >= latest);
                latest = line.at(real);
                line = match bend {
                    Bend::Rate(rate) => line.with_rate(real, Rate::new(rate).unwrap()),
                    Bend::JumpBy(by) => line.jumped(real, latest + by),
                };
                prop_assert!(line.at(real) >= latest);
                if matches!(bend, Bend::Rate(_)) {
                    prop_assert_eq!(line.at(real), latest, "a new rate is no jump");
                }
                latest = line.at(real);
            }
        }

        /// Waiting as long as `real_until` says reaches the deadline, and hardly overshoots it.
        #[test]
        fn real_waits_reach_the_deadline(rate in 1.0..100.0, passed in 0..DAY, ahead in 0..DAY) {
            let line = Line::new(7, 1_000, Rate::new(rate).unwrap());
            let real = 7 + passed;
            let deadline = line.at(real) + ahead;
            let wait = line.real_until(real, deadline).unwrap();
            let reached = line.at(real + u64::try_from(wait.as_nanos()).unwrap());
            prop_assert!(reached >= deadline);
            prop_assert!(reached - deadline <= 2 * 100, "overshot by {}", reached - deadline);
        }
    }

    #[test]
    fn a_still_line_waits_for_ever() {
        let line = Line::still(5, 100);
        assert_eq!(line.at(u64::MAX), 100);
        assert_eq!(line.real_until(9, 101), None);
        assert_eq!(line.real_until(9, 100), Some(Duration::ZERO));
        assert_eq!(line.jumped(9, 250).at(10), 250);
    }

    #[test]
    fn a_jump_back_does_not_move() {
        let line = Line::new(0, 1_000, Rate::ONE);
        assert_eq!(line.jumped(50, 3).at(50), 1_050);
    }
}
