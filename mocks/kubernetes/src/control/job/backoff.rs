//! How long a job waits after failures: ten seconds, doubled with each further one, until something succeeds.

use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use mock_clock::Time;

use crate::control::moment::time;

const FIRST: Duration = Duration::from_secs(10);
const MOST: Duration = Duration::from_secs(600);

/// The failures since the last success.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Backoff {
    failures: u32,
    last: Option<Time>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pub(super) at: Time,
    pub(super) succeeded: bool,
}

impl Backoff {
    pub(super) fn after(self, ends: &[End]) -> Self {
        let mut ends = ends.to_vec();
        ends.sort_by_key(|end| end.at);
        ends.iter().fold(self, |before, end| {
            if end.succeeded {
                return Self::default();
            }
            Self { failures: before.failures.saturating_add(1), last: Some(end.at) }
        })
    }

    /// What is left of it.
    pub(super) fn left(self, now: Time) -> Duration {
        let Some(last) = self.last else { return Duration::ZERO };
        let wait = FIRST.saturating_mul(1 << (self.failures - 1).min(10)).min(MOST);
        (last + wait).since(now)
    }
}

/// When the last container ended.
pub(super) fn finished_at(pod: &Pod) -> Option<Time> {
    let statuses = pod.status.as_ref()?.container_statuses.iter().flatten();
    let ends = statuses.filter_map(|status| status.state.as_ref()?.terminated.as_ref()?.finished_at.as_ref());
    ends.map(time).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_doubles_and_a_success_ends_it() {
        let second = |number: u64| Time::from_unix_nanos(number * 1_000_000_000);
        let end = |at, succeeded| End { at: second(at), succeeded };
        let left = |ends: &[End]| Backoff::default().after(ends).left(second(100)).as_secs();
        assert_eq!(left(&[]), 0);
        assert_eq!(left(&[end(100, false)]), 10);
        assert_eq!(left(&[end(100, false), end(99, false), end(98, false)]), 40);
        assert_eq!(left(&[end(99, true), end(100, false)]), 10);
        assert_eq!(left(&[end(100, true), end(99, false)]), 0);
        assert_eq!(left(&vec![end(100, false); 40]), 600);
    }
}
