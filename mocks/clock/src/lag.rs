//! How late the clock itself is: what a run must know before it blames the subject for being late.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::time::nanos;

/// Buckets per doubling: a quantile is right to an eighth.
const STEPS: u32 = 8;
const BUCKETS: usize = 64 * STEPS as usize;

/// Counts lateness; from any thread, without a lock.
#[derive(Debug)]
pub(crate) struct LagMeter {
    late: Box<[AtomicU64]>,
    late_max: AtomicU64,
    starved_max: AtomicU64,
    starved_sum: AtomicU64,
}

impl LagMeter {
    pub(crate) fn new() -> Self {
        Self {
            late: (0..BUCKETS).map(|_| AtomicU64::new(0)).collect(),
            late_max: AtomicU64::new(0),
            starved_max: AtomicU64::new(0),
            starved_sum: AtomicU64::new(0),
        }
    }

    /// A timer fired this many virtual nanoseconds after its deadline.
    pub(crate) fn note_late(&self, virtual_ns: u64) {
        self.late[bucket(virtual_ns)].fetch_add(1, Ordering::Relaxed);
        self.late_max.fetch_max(virtual_ns, Ordering::Relaxed);
    }

    /// The machine gave a thread of the clock its processor back this much later than asked, in real time.
    pub(crate) fn note_starved(&self, real: Duration) {
        self.starved_max.fetch_max(nanos(real), Ordering::Relaxed);
        self.starved_sum.fetch_add(nanos(real), Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> Lag {
        let counts: Vec<u64> = self.late.iter().map(|bucket| bucket.load(Ordering::Relaxed)).collect();
        let timers: u64 = counts.iter().sum();
        let max = self.late_max.load(Ordering::Relaxed);
        let quantile = |percent: u64| {
            let rank = (timers * percent).div_ceil(100);
            let mut below = 0;
            let found = counts.iter().position(|count| {
                below += count;
                below >= rank
            });
            Duration::from_nanos(found.map_or(max, upper_end).min(max))
        };
        Lag {
            timers,
            late_p50: quantile(50),
            late_p99: quantile(99),
            late_max: Duration::from_nanos(max),
            starved_max: Duration::from_nanos(self.starved_max.load(Ordering::Relaxed)),
            starved_sum: Duration::from_nanos(self.starved_sum.load(Ordering::Relaxed)),
        }
    }
}

/// Which bucket a value falls into: its power of two, divided into eighths.
fn bucket(value: u64) -> usize {
    if value < u64::from(STEPS) {
        return usize::try_from(value).expect("less than eight");
    }
    let power = value.ilog2();
    let step = (value >> (power - 3)) & 7;
    (power - 2) as usize * STEPS as usize + usize::try_from(step).expect("three bits")
}

/// The largest value that falls into a bucket.
fn upper_end(bucket: usize) -> u64 {
    let (power, step) = (bucket / STEPS as usize, (bucket % STEPS as usize) as u128);
    if power == 0 {
        return u64::try_from(step).expect("less than eight");
    }
    u64::try_from(((9 + step) << (power - 1)) - 1).unwrap_or(u64::MAX)
}

/// How late timers fired, in virtual time, and how long the machine kept the clock's threads waiting, in real time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lag {
    /// How many timers have fired.
    pub timers: u64,
    /// Half of them were no later than this, to an eighth.
    pub late_p50: Duration,
    /// All but one in a hundred were no later than this, to an eighth.
    pub late_p99: Duration,
    /// The latest of all.
    pub late_max: Duration,
    /// The longest the machine kept a thread of the clock waiting beyond what it had asked for.
    pub starved_max: Duration,
    /// All such waiting together.
    pub starved_sum: Duration,
}

impl fmt::Display for Lag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "timers fired: {}, late by p50 {:.1?}, p99 {:.1?}, max {:.1?} virtual; starved of a processor for {:.1?} at most, {:.1?} in all",
            self.timers, self.late_p50, self.late_p99, self.late_max, self.starved_max, self.starved_sum
        )
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_bucket_holds_its_values_to_an_eighth(value: u64) {
            let end = upper_end(bucket(value));
            prop_assert!(end >= value);
            prop_assert!(end - value <= value / 8, "{value} is counted as {end}");
        }
    }

    #[test]
    fn quantiles_come_from_what_was_noted() {
        let meter = LagMeter::new();
        for _ in 0..99 {
            meter.note_late(1_000);
        }
        meter.note_late(8_000_000);
        let lag = meter.read();
        assert_eq!(lag.timers, 100);
        assert!(lag.late_p99 <= Duration::from_nanos(1_125), "{lag}");
        assert_eq!(lag.late_max, Duration::from_millis(8));
        meter.note_late(8_000_000);
        assert_eq!(meter.read().late_p99, Duration::from_millis(8));
    }

    #[test]
    fn nothing_noted_is_no_lag() {
        assert_eq!(LagMeter::new().read().late_p99, Duration::ZERO);
    }
}
