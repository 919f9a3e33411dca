//! Who is tried next: by priority, then by age; with a back-off after each refusal; and not again before something
//! happens that could help, or five minutes have passed.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use mock_clock::Time;

use super::pod::PodId;
use super::reason::Plugins;

const FIRST_BACK_OFF: Duration = Duration::from_secs(1);
const LONGEST_BACK_OFF: Duration = Duration::from_secs(10);
/// After so long a pod is tried again though nothing happened.
const LONGEST_WAIT: Duration = Duration::from_secs(300);

/// Higher priority first, then the longer wait, then who came first.
type Turn = (Reverse<i32>, Time, u64, PodId);

/// The pods without a node.
#[derive(Debug, Default)]
pub(super) struct Queue {
    entries: BTreeMap<PodId, Entry>,
    active: BTreeSet<Turn>,
    /// By the end of the back-off.
    resting: BTreeSet<(Time, PodId)>,
    /// Since when.
    waiting: BTreeSet<(Time, PodId)>,
    arrivals: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    priority: i32,
    /// When it came, or was tried last.
    since: Time,
    arrival: u64,
    attempts: u32,
    rejected_by: Plugins,
    place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Active,
    /// Until then; `firm` if it must not be cut short.
    Resting {
        until: Time,
        firm: bool,
    },
    Waiting,
    /// Being tried.
    Out,
}

impl Entry {
    fn rested_at(&self) -> Time {
        let doublings = self.attempts.saturating_sub(1).min(8);
        let rest = (FIRST_BACK_OFF * 2u32.pow(doublings)).min(LONGEST_BACK_OFF);
        if self.attempts == 0 { self.since } else { self.since + rest }
    }
}

impl Queue {
    pub(super) fn contains(&self, id: PodId) -> bool {
        self.entries.contains_key(&id)
    }

    /// A pod that has never been here.
    pub(super) fn add(&mut self, id: PodId, priority: i32, now: Time) {
        self.remove(id);
        self.arrivals += 1;
        let entry = Entry {
            priority,
            since: now,
            arrival: self.arrivals,
            attempts: 0,
            rejected_by: Plugins::default(),
            place: Place::Out,
        };
        self.entries.insert(id, entry);
        self.put(id, Place::Active);
    }

    pub(super) fn remove(&mut self, id: PodId) {
        self.take_out(id);
        self.entries.remove(&id);
    }

    /// The next pod to try. A back-off is cut short when nobody else wants a turn, unless something went wrong.
    pub(super) fn pop(&mut self, now: Time) -> Option<PodId> {
        while let Some((until, id)) = self.resting.first().copied()
            && until <= now
        {
            self.put(id, Place::Active);
        }
        let active = self.active.first().map(|turn| turn.3);
        let soft = |(_, id): &&(Time, PodId)| {
            let entry = self.entries.get(id);
            entry.is_some_and(|entry| matches!(entry.place, Place::Resting { firm: false, .. }))
        };
        let id = active.or_else(|| self.resting.iter().find(soft).map(|(_, id)| *id))?;
        self.put(id, Place::Out);
        Some(id)
    }

    /// No node will do; `rejected_by` tells what could help.
    pub(super) fn refuse(&mut self, id: PodId, rejected_by: Plugins, now: Time) {
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.since = now;
            entry.attempts += 1;
            entry.rejected_by = rejected_by;
            self.put(id, Place::Waiting);
        }
    }

    /// Something went wrong: once more after a back-off.
    pub(super) fn retry(&mut self, id: PodId, now: Time) {
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.since = now;
            entry.attempts += 1;
            let until = entry.rested_at();
            self.put(id, Place::Resting { until, firm: true });
        }
    }

    /// The pod itself changed: another try, after the back-off.
    pub(super) fn wake(&mut self, id: PodId, priority: i32, now: Time) {
        let Some(entry) = self.entries.get(&id).copied() else { return };
        self.take_out(id);
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.priority = priority;
        }
        match entry.place {
            Place::Waiting => self.stir(id, now),
            place => self.put(id, place),
        }
    }

    /// Gives another try to those who wait and whom `helps` names.
    pub(super) fn wake_all(&mut self, now: Time, helps: impl Fn(PodId, Plugins) -> bool) {
        let helped = |(_, id): &&(Time, PodId)| {
            self.entries.get(id).is_some_and(|entry| helps(*id, entry.rejected_by))
        };
        let helped: Vec<PodId> = self.waiting.iter().filter(helped).map(|(_, id)| *id).collect();
        for id in helped {
            self.stir(id, now);
        }
    }

    /// Gives another try to those who have waited too long.
    pub(super) fn flush(&mut self, now: Time) {
        while let Some((since, id)) = self.waiting.first().copied()
            && since + LONGEST_WAIT <= now
        {
            self.stir(id, now);
        }
    }

    /// When something is to be done though nothing happens.
    pub(super) fn next_due(&self) -> Option<Time> {
        let rested = self.resting.first().map(|(until, _)| *until);
        let waited = self.waiting.first().map(|(since, _)| *since + LONGEST_WAIT);
        rested.into_iter().chain(waited).min()
    }

    fn stir(&mut self, id: PodId, now: Time) {
        let Some(entry) = self.entries.get(&id) else { return };
        let until = entry.rested_at();
        self.put(id, if until <= now { Place::Active } else { Place::Resting { until, firm: false } });
    }

    fn put(&mut self, id: PodId, place: Place) {
        self.take_out(id);
        let Some(entry) = self.entries.get_mut(&id) else { return };
        entry.place = place;
        match place {
            Place::Active => {
                self.active.insert((Reverse(entry.priority), entry.since, entry.arrival, id));
            }
            Place::Resting { until, .. } => {
                self.resting.insert((until, id));
            }
            Place::Waiting => {
                self.waiting.insert((entry.since, id));
            }
            Place::Out => {}
        }
    }

    /// Out of whatever list it stands in.
    fn take_out(&mut self, id: PodId) {
        let Some(entry) = self.entries.get(&id) else { return };
        self.active.remove(&(Reverse(entry.priority), entry.since, entry.arrival, id));
        self.waiting.remove(&(entry.since, id));
        if let Place::Resting { until, .. } = entry.place {
            self.resting.remove(&(until, id));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Time = Time::from_unix_nanos(1_000_000_000_000);

    fn after(seconds: u64) -> Time {
        START + Duration::from_secs(seconds)
    }

    #[test]
    fn priority_goes_before_age() {
        let mut queue = Queue::default();
        queue.add(1, 0, after(0));
        queue.add(2, 0, after(1));
        queue.add(3, 10, after(2));
        assert_eq!([(); 4].map(|()| queue.pop(after(3))), [Some(3), Some(1), Some(2), None]);
    }

    #[test]
    fn who_was_refused_waits_for_what_helps() {
        let mut queue = Queue::default();
        queue.add(1, 0, START);
        assert_eq!(queue.pop(START), Some(1));
        queue.refuse(1, Plugins::RESOURCES, START);
        assert_eq!(queue.pop(after(200)), None);
        queue.wake_all(after(200), |_, by| by.any(Plugins::TAINTS));
        assert_eq!(queue.pop(after(200)), None);
        queue.wake_all(after(200), |_, by| by.any(Plugins::RESOURCES));
        assert_eq!(queue.pop(after(200)), Some(1));
    }

    #[test]
    fn who_waits_too_long_is_tried_again() {
        let mut queue = Queue::default();
        queue.add(1, 0, START);
        queue.pop(START);
        queue.refuse(1, Plugins::RESOURCES, START);
        assert_eq!(queue.next_due(), Some(after(300)));
        queue.flush(after(299));
        assert_eq!(queue.pop(after(299)), None);
        queue.flush(after(300));
        assert_eq!(queue.pop(after(300)), Some(1));
    }

    #[test]
    fn the_back_off_doubles_up_to_ten_seconds() {
        let mut queue = Queue::default();
        queue.add(1, 0, START);
        let mut now = START;
        for rest in [1, 2, 4, 8, 10, 10] {
            assert_eq!(queue.pop(now), Some(1));
            queue.retry(1, now);
            let due = now + Duration::from_secs(rest);
            assert_eq!(queue.next_due(), Some(due));
            assert_eq!(queue.pop(due - Duration::from_nanos(1)), None);
            now = due;
        }
    }

    #[test]
    fn a_soft_back_off_is_cut_short_when_nobody_else_waits() {
        let mut queue = Queue::default();
        queue.add(1, 5, START);
        queue.pop(START);
        queue.refuse(1, Plugins::RESOURCES, START);
        queue.wake_all(START, |_, _| true);
        queue.add(2, 0, START);
        assert_eq!(queue.pop(START), Some(2), "whoever rests does not go first");
        assert_eq!(queue.pop(START), Some(1));
    }
}
