//! What a controller still has to look at, and when.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use mock_clock::Time;

/// The first delay after an error; it doubles with each further one.
const DELAY_MIN: Duration = Duration::from_millis(5);
const DELAY_MAX: Duration = Duration::from_secs(1000);

/// Items in the order in which they are due; each stands in it once, at its earliest moment.
#[derive(Debug)]
pub(crate) struct Queue<I> {
    due: BTreeSet<(Time, I)>,
    when: BTreeMap<I, Time>,
    errors: BTreeMap<I, u32>,
    now: Time,
}

impl<I: Ord + Clone> Queue<I> {
    pub(super) fn new(now: Time) -> Self {
        Self { due: BTreeSet::new(), when: BTreeMap::new(), errors: BTreeMap::new(), now }
    }

    /// To be looked at now.
    pub(crate) fn add(&mut self, item: I) {
        self.add_at(item, self.now);
    }

    /// To be looked at then, or earlier if it is due earlier.
    pub(crate) fn add_at(&mut self, item: I, time: Time) {
        if let Some(&earlier) = self.when.get(&item) {
            if earlier <= time {
                return;
            }
            self.due.remove(&(earlier, item.clone()));
        }
        self.due.insert((time, item.clone()));
        self.when.insert(item, time);
    }

    pub(crate) fn add_after(&mut self, item: I, wait: Duration) {
        self.add_at(item, self.now + wait);
    }

    /// The time, as of the last turn.
    pub(crate) fn now(&self) -> Time {
        self.now
    }

    pub(super) fn turn(&mut self, now: Time) {
        self.now = now;
    }

    /// The next item that is due.
    pub(super) fn pop(&mut self) -> Option<I> {
        if self.due.first()?.0 > self.now {
            return None;
        }
        let (_, item) = self.due.pop_first()?;
        self.when.remove(&item);
        Some(item)
    }

    pub(super) fn next(&self) -> Option<Time> {
        self.due.first().map(|(time, _)| *time)
    }

    /// It went well: the next error is again the first.
    pub(super) fn succeeded(&mut self, item: &I) {
        self.errors.remove(item);
    }

    /// It went wrong: again, later each time.
    pub(super) fn failed(&mut self, item: I) {
        let errors = self.errors.entry(item.clone()).or_default();
        let delay = DELAY_MIN.saturating_mul(1 << (*errors).min(20)).min(DELAY_MAX);
        *errors += 1;
        self.add_after(item, delay);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(number: u64) -> Time {
        Time::from_unix_nanos(number * 1_000_000_000)
    }

    #[test]
    fn an_item_stands_once_and_at_its_earliest() {
        let mut queue = Queue::new(second(0));
        queue.add_at("a", second(9));
        queue.add_at("a", second(5));
        queue.add_at("a", second(7));
        queue.add("b");
        assert_eq!(queue.pop(), Some("b"));
        assert_eq!(queue.pop(), None);
        assert_eq!(queue.next(), Some(second(5)));
        queue.turn(second(5));
        assert_eq!(queue.pop(), Some("a"));
        assert_eq!(queue.next(), None);
    }

    #[test]
    fn delays_double_and_start_anew_after_a_success() {
        let mut queue = Queue::new(second(0));
        let delay = |queue: &mut Queue<&str>| {
            queue.failed("a");
            let due = queue.next().expect("a is due");
            queue.turn(due);
            queue.pop();
            let delay = due - second(0);
            queue.turn(second(0));
            delay
        };
        assert_eq!(delay(&mut queue), Duration::from_millis(5));
        assert_eq!(delay(&mut queue), Duration::from_millis(10));
        queue.succeeded(&"a");
        assert_eq!(delay(&mut queue), Duration::from_millis(5));
        for _ in 0..40 {
            delay(&mut queue);
        }
        assert_eq!(delay(&mut queue), DELAY_MAX);
    }
}
