//! Virtual time as a place on the page: parts of a hundred of the width, so that the page can be any width.

use std::time::Duration;

use crate::history::History;
use crate::report::moment::lasted;

/// At most so many marks on the axis.
const TICKS: u128 = 12;

/// The steps between marks of the axis, in seconds.
const STEPS: [u64; 18] =
    [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400];

/// From the start of a run to its end.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    span: Duration,
}

impl Scale {
    pub(super) fn of(history: &History) -> Self {
        Self { span: lasted(history).max(Duration::from_millis(1)) }
    }

    /// The end of the run.
    pub(super) fn end(self) -> Duration {
        self.span
    }

    /// Where a moment is, from 0 to 100.
    pub(super) fn x(self, at: Duration) -> f64 {
        (at.as_secs_f64() / self.span.as_secs_f64() * 100.0).clamp(0.0, 100.0)
    }

    /// Where a moment is, as CSS reads it.
    pub(super) fn left(self, at: Duration) -> String {
        format!("{:.3}%", self.x(at))
    }

    /// How wide a span is, as CSS reads it.
    pub(super) fn width(self, from: Duration, to: Duration) -> String {
        format!("{:.3}%", (self.x(to) - self.x(from)).max(0.0))
    }

    /// In which of so many equal parts a moment is.
    pub(super) fn part(self, at: Duration, parts: u32) -> u32 {
        let part = at.as_nanos() * u128::from(parts) / self.span.as_nanos();
        u32::try_from(part).unwrap_or(parts).min(parts.saturating_sub(1))
    }

    /// The distance between two marks of the axis.
    pub(super) fn tick(self) -> Duration {
        let fits = |step: &u64| self.span.as_nanos() <= u128::from(*step) * 1_000_000_000 * TICKS;
        let longest = STEPS[STEPS.len() - 1];
        let seconds = STEPS.into_iter().find(fits).unwrap_or_else(|| {
            let needed = self.span.as_secs() / u64::try_from(TICKS).unwrap_or(1);
            (needed / longest + 1) * longest
        });
        Duration::from_secs(seconds)
    }

    /// The marks of the axis.
    pub(super) fn ticks(self) -> impl Iterator<Item = Duration> {
        let step = self.tick();
        (0_u32..=12).map(move |number| step * number).filter(move |at| *at <= self.span)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn half_of_a_run_is_half_of_the_width() {
        let scale = Scale { span: Duration::from_secs(600) };
        assert_eq!(
            (scale.left(Duration::from_secs(300)), scale.part(Duration::from_secs(300), 10)),
            ("50.000%".into(), 5)
        );
        assert_eq!(scale.width(Duration::from_secs(60), Duration::from_secs(660)), "90.000%");
        assert_eq!((scale.tick(), scale.ticks().count()), (Duration::from_secs(60), 11));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn every_run_has_an_axis_and_every_moment_a_place(span in 1_u64..4_000_000_000, at in 0_u64..5_000_000_000) {
            let scale = Scale { span: Duration::from_millis(span) };
            let at = Duration::from_millis(at);
            prop_assert!((1..=13).contains(&scale.ticks().count()));
            prop_assert!((0.0..=100.0).contains(&scale.x(at)));
            prop_assert!(scale.part(at, 600) < 600);
        }
    }
}
