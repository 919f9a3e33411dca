//! What everybody in the world works with: the cluster, the clock, what hurts, and how long things take.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use kube::Client;
use mock_clock::{Clock as _, Time, VirtualClock};
use tokio::sync::Semaphore;

use super::injuries::{Injuries, Injury, Wound};
use super::timetable::Timetable;
use crate::terms::Stage;

/// So many requests are on their way at once; more would only be more connections.
const CALLS_AT_ONCE: usize = 16;
/// A request that fails for no reason of its own is made again so often, after a pause.
const ATTEMPTS: u32 = 5;
const PAUSE: Duration = Duration::from_secs(1);
/// Stages end on such moments, so that many machines share one jump of the clock.
const GRID_NS: u64 = 250_000_000;
/// The next moment.
const MOMENT: Duration = Duration::from_millis(1);

/// Told what the world could not do. Reads after "failed to".
pub type Trouble = Arc<dyn Fn(String) + Send + Sync>;

/// What everybody in the world works with.
pub(super) struct Site {
    pub(super) client: Client,
    pub(super) clock: VirtualClock,
    pub(super) injuries: Arc<Injuries>,
    pub(super) timetable: Timetable,
    pub(super) trouble: Trouble,
    calls: Semaphore,
}

impl Site {
    pub(super) fn new(client: Client, clock: VirtualClock, timetable: Timetable, trouble: Trouble) -> Self {
        let calls = Semaphore::new(CALLS_AT_ONCE);
        Self { client, clock, injuries: Arc::default(), timetable, trouble, calls }
    }

    /// The time by the clock on the world's wall, to the second, as objects tell it.
    pub(super) fn stamp(&self) -> String {
        format!("{:.0}", self.wall())
    }

    /// The same to the microsecond, as leases tell it.
    pub(super) fn stamp_micros(&self) -> String {
        format!("{:.6}", self.wall())
    }

    fn wall(&self) -> Timestamp {
        let now = Timestamp::from(self.clock.now());
        now.saturating_add(SignedDuration::from_secs(self.injuries.skew_s())).unwrap_or(now)
    }

    /// Lives through a stage: as long as it usually takes, or as long as it hurts. When that is healed, it does not end at
    /// the same moment: a machine that has just been given back does not come to life once more.
    pub(super) async fn stage(&self, stage: Stage, pool: Option<&str>, whom: &str) {
        let begun = self.clock.now();
        let mut earliest = begun;
        let mut changes = self.injuries.changes();
        let mut last: Option<Arc<Wound>> = None;
        loop {
            let wound = self.injuries.find(|injury| {
                matches!(injury, Injury::Stage { pool: of, stage: which, .. } if *which == stage && holds(of.as_deref(), pool))
            });
            let takes = match wound.as_ref().map(|wound| &wound.injury) {
                Some(Injury::Stage { takes, .. }) => *takes,
                _ => Some(self.timetable.takes(stage, whom)),
            };
            if let Some(wound) = wound
                && !last.as_ref().is_some_and(|last| Arc::ptr_eq(last, &wound))
            {
                wound.bite(whom);
                last = Some(wound);
            }
            let end = takes.map_or(Time::NEVER, |takes| on_grid(earliest.max(begun + takes)));
            tokio::select! {
                _ = self.clock.sleep_until(end) => return,
                _ = changes.changed() => earliest = self.clock.now() + MOMENT,
            }
        }
    }

    /// Makes a request, again if it fails for no reason of its own. `None` if it cannot be done: because what it is about
    /// is gone, is there already or is different by now, or because of a trouble that has been told.
    pub(super) async fn call<T, F>(&self, what: &str, request: impl Fn() -> F) -> Option<T>
    where
        F: Future<Output = kube::Result<T>>,
    {
        let mut attempt = 1;
        loop {
            let result = {
                let _permit = self.calls.acquire().await;
                request().await
            };
            match result {
                Ok(done) => return Some(done),
                Err(kube::Error::Api(status)) if [404, 409].contains(&status.code) => return None,
                Err(error) if attempt == ATTEMPTS => {
                    (self.trouble)(format!("{what}: {error}"));
                    return None;
                }
                Err(_) => attempt += 1,
            }
            self.clock.sleep(PAUSE).await;
        }
    }
}

/// Whether something that is about a pool, or all, is about this one.
pub(super) fn holds(of: Option<&str>, pool: Option<&str>) -> bool {
    of.is_none() || of == pool
}

fn on_grid(moment: Time) -> Time {
    Time::from_unix_nanos(moment.unix_nanos().checked_next_multiple_of(GRID_NS).unwrap_or(u64::MAX))
}
