//! How many requests a project may still send: a token bucket, full at first, refilled evenly over the hour.
//!
//! Stands before everything else a request meets; all clients of one project drink from one bucket. It counts
//! exactly, in whole numbers, and knows neither tokens nor headers: the reply asks it for what stands in them.

use std::time::Duration;

use mock_clock::Time;
use serde::{Deserialize, Serialize};

/// Nanoseconds of an hour, and so the parts of a request: each nanosecond grows `per_hour` of them.
const PARTS: u128 = 3_600_000_000_000;
const SECOND: u64 = 1_000_000_000;

/// A bucket that holds an hour's requests.
///
/// A clock that goes back grows nothing, and what was spent stays spent; growth goes on from there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Bucket {
    per_hour: u64,
    /// How many requests are missing from the full bucket, counting the one that is growing back.
    missing: u64,
    /// How many parts of that one are there again.
    grown: u64,
    /// When the two above were so.
    at: Time,
}

impl Bucket {
    /// A full one.
    pub(crate) fn new(per_hour: u64) -> Bucket {
        Bucket { per_hour, missing: 0, grown: 0, at: Time::EPOCH }
    }

    /// The limit: what it holds, and what an hour brings.
    pub(crate) fn per_hour(&self) -> u64 {
        self.per_hour
    }

    /// Takes one request out, if there is one.
    pub(crate) fn take(&mut self, now: Time) -> bool {
        let missing = self.missing_parts(now);
        let granted = missing + PARTS <= self.capacity();
        self.settle(now, if granted { missing + PARTS } else { missing });
        granted
    }

    /// How many requests could be sent at this moment.
    pub(crate) fn remaining(&self, now: Time) -> u64 {
        let left = self.capacity() - self.missing_parts(now);
        u64::try_from(left / PARTS).unwrap_or(u64::MAX)
    }

    /// The moment at which it is full again if nobody takes anything.
    pub(crate) fn reset(&self, now: Time) -> Time {
        let missing = self.missing_parts(now);
        let wait = if missing == 0 { 0 } else { missing.div_ceil(u128::from(self.per_hour)) };
        now + Duration::from_nanos(u64::try_from(wait).unwrap_or(u64::MAX))
    }

    /// That moment as `RateLimit-Reset` tells it: Unix seconds, never too early.
    pub(crate) fn reset_s(&self, now: Time) -> u64 {
        self.reset(now).unix_nanos().div_ceil(SECOND)
    }

    /// Empties it, as a storm of requests from elsewhere does.
    pub(crate) fn drain(&mut self, now: Time) {
        self.settle(now, self.capacity());
    }

    /// Others have taken so many an hour out of it since it was last looked at.
    pub(crate) fn share(&mut self, now: Time, others_per_hour: u64) {
        let since = u128::from(now.unix_nanos().saturating_sub(self.at.unix_nanos()));
        let before =
            (u128::from(self.missing) * PARTS).saturating_sub(u128::from(self.grown)).min(self.capacity());
        let taken = u128::from(others_per_hour) * since;
        let missing = (before + taken).saturating_sub(u128::from(self.per_hour) * since).min(self.capacity());
        self.settle(now, missing);
    }

    /// Another limit from now on. What was spent stays spent, so a lower limit may leave nothing.
    pub(crate) fn set_limit(&mut self, now: Time, per_hour: u64) {
        let missing = self.missing_parts(now);
        self.per_hour = per_hour;
        self.settle(now, missing.min(self.capacity()));
    }

    fn capacity(&self) -> u128 {
        u128::from(self.per_hour) * PARTS
    }

    /// What is missing at this moment; never more than it holds, whatever a state file says.
    fn missing_parts(&self, now: Time) -> u128 {
        let before = (u128::from(self.missing) * PARTS).saturating_sub(u128::from(self.grown));
        let since = u128::from(now.unix_nanos().saturating_sub(self.at.unix_nanos()));
        before.min(self.capacity()).saturating_sub(u128::from(self.per_hour) * since)
    }

    fn settle(&mut self, now: Time, missing: u128) {
        let whole = missing.div_ceil(PARTS);
        self.missing = u64::try_from(whole).unwrap_or(u64::MAX);
        self.grown = u64::try_from(whole * PARTS - missing).unwrap_or(0);
        self.at = now;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::Config;

    use super::*;

    fn second(count: u64) -> Time {
        Time::from_unix_nanos(count * SECOND)
    }

    #[test]
    fn a_burst_empties_it_and_a_second_brings_one() {
        let mut bucket = Bucket::new(3600);
        let start = second(1_000);
        for left in (0..3600).rev() {
            assert!(bucket.take(start));
            assert_eq!(bucket.remaining(start), left);
        }
        assert!(!bucket.take(start));
        assert_eq!(bucket.reset(start), second(4_600));
        let nearly = Time::from_unix_nanos(second(1_001).unix_nanos() - 1);
        assert!(!bucket.take(nearly), "a refused request costs nothing");
        assert_eq!(bucket.reset_s(nearly), 4_600);
        assert!(bucket.take(second(1_001)));
        assert!(!bucket.take(second(1_001)));
        assert_eq!(bucket.reset(second(1_001)), second(4_601));
        assert_eq!(bucket.remaining(second(4_600)), 3_599);
        assert_eq!(bucket.remaining(second(4_601)), 3_600);
        assert_eq!(bucket.remaining(second(9_999)), 3_600);
    }

    #[test]
    fn a_limit_that_does_not_divide_the_hour_loses_nothing() {
        let mut bucket = Bucket::new(7);
        bucket.drain(second(0));
        let granted = (1..=3_600).filter(|&count| bucket.take(second(count))).count();
        assert_eq!(granted, 7);
        assert_eq!(bucket.remaining(second(3_600)), 0);
    }

    #[test]
    fn a_full_one_is_full_now_and_seconds_round_up() {
        let mut bucket = Bucket::new(3_600);
        let odd = Time::from_unix_nanos(5 * SECOND + 1);
        assert_eq!((bucket.reset(odd), bucket.reset_s(odd)), (odd, 6));
        assert!(bucket.take(odd));
        assert_eq!(bucket.reset_s(odd), 7);
    }

    #[test]
    fn the_limit_changes_while_it_runs() {
        let (mut bucket, now) = (Bucket::new(100), second(10));
        for _ in 0..40 {
            assert!(bucket.take(now));
        }
        bucket.set_limit(now, 200);
        assert_eq!((bucket.per_hour(), bucket.remaining(now)), (200, 160));
        bucket.set_limit(now, 50);
        assert_eq!(bucket.remaining(now), 10);
        bucket.set_limit(now, 30);
        assert_eq!(bucket.remaining(now), 0);
        bucket.set_limit(now, 0);
        assert!(!bucket.take(second(100_000)), "a limit of nothing never opens");
        assert_eq!(bucket.reset(now), now);
        bucket.set_limit(now, u64::MAX);
        assert_eq!(bucket.remaining(Time::NEVER), u64::MAX);
        bucket.drain(now);
        assert_eq!(bucket.reset(now), now + Duration::from_secs(3_600));
    }

    #[test]
    fn a_clock_that_jumps_does_no_harm() {
        let mut bucket = Bucket::new(3_600);
        bucket.drain(second(1_000_000));
        assert_eq!(bucket.remaining(second(5)), 0, "going back grows nothing");
        assert!(!bucket.take(second(5)));
        assert_eq!(bucket.remaining(second(15)), 10, "and it grows on from there");
        assert_eq!(bucket.remaining(Time::NEVER), 3_600);
        assert_eq!(bucket.reset(Time::NEVER), Time::NEVER);
        assert!(bucket.take(Time::NEVER) && bucket.take(Time::EPOCH));
    }

    #[test]
    fn a_forged_state_is_only_an_empty_bucket() {
        let state = r#"{"per_hour":10,"missing":18446744073709551615,"grown":18446744073709551615,"at":"1970-01-01T00:00:00Z"}"#;
        let mut bucket: Bucket = serde_json::from_str(state).unwrap();
        assert_eq!(bucket.remaining(Time::EPOCH), 0);
        assert!(!bucket.take(second(359)) && bucket.take(second(360)));
    }

    proptest! {
        #![proptest_config(Config { failure_persistence: None, ..Config::default() })]

        #[test]
        fn no_window_sees_more_than_a_burst_and_what_grew(
            per_hour in 1..50u64,
            steps in prop::collection::vec((0..900_000_000_000u64, 1..20u32), 1..30),
        ) {
            let mut bucket = Bucket::new(per_hour);
            let mut grants = Vec::new();
            let mut now = 0;
            for (step, requests) in steps {
                now += step;
                let time = Time::from_unix_nanos(now);
                let before = bucket.remaining(time);
                let granted = (0..requests).filter(|_| bucket.take(time)).count() as u64;
                prop_assert_eq!(granted, before.min(requests.into()));
                prop_assert_eq!(bucket.remaining(time), before - granted);
                grants.push((now, granted));
            }
            for (first, (from, _)) in grants.iter().enumerate() {
                let mut sum = 0;
                for (until, granted) in &grants[first..] {
                    sum += granted;
                    let most = u128::from(per_hour) * (PARTS + u128::from(until - from)) / PARTS;
                    prop_assert!(u128::from(sum) <= most);
                }
            }
        }

        #[test]
        fn any_clock_and_any_limit_keep_it_within_bounds(
            steps in prop::collection::vec((any::<u64>(), any::<u64>(), 0..4u8), 1..20),
        ) {
            let mut bucket = Bucket::new(10);
            for (unix_ns, limit, what) in steps {
                let now = Time::from_unix_nanos(unix_ns);
                match what {
                    0 => bucket.set_limit(now, limit),
                    1 => bucket.drain(now),
                    _ => drop(bucket.take(now)),
                }
                prop_assert!(bucket.remaining(now) <= bucket.per_hour());
                prop_assert!(bucket.reset(now) >= now);
                let full = bucket.reset(now);
                prop_assert!(full == Time::NEVER || bucket.remaining(full) == bucket.per_hour());
                let stored = serde_json::to_string(&bucket).unwrap();
                prop_assert_eq!(&serde_json::from_str::<Bucket>(&stored).unwrap(), &bucket);
            }
        }
    }
}
