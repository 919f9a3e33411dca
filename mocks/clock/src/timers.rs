//! All timers of one process in one queue, ordered by deadline. It knows deadlines and wakers, not time.
//! A timer for the end of time is kept, with its waker, and is nobody's deadline.
//!
//! Foreign code runs in wakers when they are cloned, woken or dropped, and may come back here: a dropped waker
//! can drop a task, which drops its own sleep. So nothing foreign is called while the queue is locked.
//!
//! In a process that joined another one's clock the queue also publishes its first deadline in the process's
//! slot, *after* those who were due have been woken: until then the slot shows a deadline in the past, and a
//! deadline in the past keeps the coordinator from jumping.

use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

use crate::page::slots::OwnSlot;

/// Where a timer stands in the queue: its deadline on virtual monotonic time, and a number of its own.
pub(crate) type Key = (u64, u64);

#[derive(Debug)]
struct Entry {
    waker: Waker,
    set_at: &'static Location<'static>,
}

/// The end of time: nobody waits for it.
const NEVER: u64 = u64::MAX;

/// The queue, and the bell that tells its driver to look again.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    queue: Mutex<Queue>,
    bell: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: BTreeMap<Key, Entry>,
    /// How many timers were ever set, or set anew: the number of the next one.
    set: u64,
    /// Something has changed that the driver must look at.
    rung: bool,
    closed: bool,
    /// The driver has taken due timers out and has not woken all of them yet.
    firing: bool,
    slot: Option<OwnSlot>,
    published: Option<u64>,
}

/// Why a driver's wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Woken {
    /// Somebody rang, or the wait was not needed.
    Rung,
    /// The time asked for has passed.
    InTime,
    /// The queue is closed for good.
    Closed,
}

impl Timers {
    /// A queue that publishes its first deadline in `slot`.
    pub(crate) fn published_in(slot: Option<OwnSlot>) -> Self {
        Self { queue: Mutex::new(Queue { slot, ..Queue::default() }), bell: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets a timer.
    pub(crate) fn set(&self, deadline: u64, waker: Waker, set_at: &'static Location<'static>) -> Key {
        self.insert(&mut self.lock(), deadline, Entry { waker, set_at })
    }

    fn insert(&self, queue: &mut Queue, deadline: u64, entry: Entry) -> Key {
        let key = (deadline, queue.set);
        queue.set += 1;
        let first = deadline != NEVER && queue.first().is_none_or(|first| deadline < first);
        queue.waiting.insert(key, entry);
        queue.publish();
        if first {
            queue.rung = true;
            self.bell.notify_one();
        }
        key
    }

    /// Another waker for a timer that is still set. False: it has fired.
    pub(crate) fn rewake(&self, key: Key, waker: &Waker) -> bool {
        let mut fresh = Some(waker.clone());
        let mut queue = self.lock();
        let set = match queue.waiting.get_mut(&key) {
            None => false,
            Some(entry) if entry.waker.will_wake(waker) => true,
            Some(entry) => {
                fresh = fresh.map(|fresh| std::mem::replace(&mut entry.waker, fresh));
                true
            }
        };
        drop(queue);
        drop(fresh);
        set
    }

    /// Gives a timer another deadline, and keeps its waker; `None` if it has fired.
    pub(crate) fn postpone(&self, key: Key, deadline: u64) -> Option<Key> {
        let mut queue = self.lock();
        let entry = queue.waiting.remove(&key)?;
        Some(self.insert(&mut queue, deadline, entry))
    }

    /// Does something that no timer may be set during, unless one was set after `count` ever were.
    pub(crate) fn unless_set_since(&self, count: u64, act: impl FnOnce() -> bool) -> bool {
        let queue = self.lock();
        queue.set == count && act()
    }

    /// Takes a timer back; nothing happens if it has fired.
    pub(crate) fn remove(&self, key: Key) {
        let mut queue = self.lock();
        let entry = queue.waiting.remove(&key);
        queue.publish();
        drop(queue);
        drop(entry);
    }

    /// Takes out everybody due at `now`, earliest first, and says what comes next.
    /// [`Timers::fired`] must follow once they are woken.
    pub(crate) fn take_due(&self, now: u64) -> Vec<(u64, Waker)> {
        let mut queue = self.lock();
        if queue.first().is_none_or(|first| first > now) {
            return Vec::new();
        }
        queue.firing = true;
        let later = queue.waiting.split_off(&(now.saturating_add(1), 0));
        let due = std::mem::replace(&mut queue.waiting, later);
        due.into_iter().map(|((deadline, _), entry)| (deadline, entry.waker)).collect()
    }

    /// Everybody taken out has been woken.
    pub(crate) fn fired(&self) {
        let mut queue = self.lock();
        queue.firing = false;
        queue.publish();
    }

    /// The earliest deadline, and the source line that set it.
    pub(crate) fn next(&self) -> Option<(u64, &'static Location<'static>)> {
        let queue = self.lock();
        let (key, entry) = queue.waiting.first_key_value().filter(|(key, _)| key.0 != NEVER)?;
        Some((key.0, entry.set_at))
    }

    /// How many timers wait.
    pub(crate) fn len(&self) -> usize {
        self.lock().waiting.len()
    }

    /// How many timers were ever set.
    pub(crate) fn ever_set(&self) -> u64 {
        self.lock().set
    }

    /// Waits until somebody rings, for at most `real` if it is given.
    #[expect(clippy::disallowed_methods, reason = "this is where virtual waits become real ones")]
    pub(crate) fn wait(&self, real: Option<Duration>) -> Woken {
        let mut queue = self.lock();
        let quiet = |queue: &mut Queue| !queue.rung && !queue.closed;
        queue = match real {
            None => self.bell.wait_while(queue, quiet).unwrap_or_else(PoisonError::into_inner),
            Some(real) => {
                self.bell.wait_timeout_while(queue, real, quiet).unwrap_or_else(PoisonError::into_inner).0
            }
        };
        if queue.closed {
            Woken::Closed
        } else if std::mem::take(&mut queue.rung) {
            Woken::Rung
        } else {
            Woken::InTime
        }
    }

    /// Tells the driver that the line has been bent.
    pub(crate) fn ring(&self) {
        self.lock().rung = true;
        self.bell.notify_one();
    }

    /// Ends the driver. Timers that are left never fire.
    pub(crate) fn close(&self) {
        let mut queue = self.lock();
        queue.closed = true;
        // The slot is freed with the clock, not with its last forgotten sleep.
        let slot = queue.slot.take();
        drop(queue);
        drop(slot);
        self.bell.notify_one();
    }

    /// Does something with the slot of this process, if it has one.
    pub(crate) fn with_slot(&self, act: impl FnOnce(&OwnSlot)) {
        if let Some(slot) = &self.lock().slot {
            act(slot);
        }
    }
}

impl Queue {
    fn first(&self) -> Option<u64> {
        self.waiting.first_key_value().map(|(key, _)| key.0).filter(|deadline| *deadline != NEVER)
    }

    fn publish(&mut self) {
        let first = self.first();
        if let Some(slot) = &self.slot
            && !self.firing
            && first != self.published
        {
            slot.set_deadline(first);
            self.published = first;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use proptest::prelude::*;

    use super::*;

    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[track_caller]
    fn set(timers: &Timers, deadline: u64) -> Key {
        timers.set(deadline, Waker::noop().clone(), Location::caller())
    }

    fn wake_all(due: Vec<(u64, Waker)>) {
        for (_, waker) in due {
            waker.wake();
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Set(u64),
        Remove(prop::sample::Index),
        Pass(u64),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            3 => (0_u64..1_000).prop_map(Step::Set),
            1 => any::<prop::sample::Index>().prop_map(Step::Remove),
            1 => (0_u64..200).prop_map(Step::Pass),
        ];
        prop::collection::vec(step, 0..200)
    }

    proptest! {
        /// Whatever is set, taken back and waited for: each timer left fires once, none early, none late,
        /// in the order of the deadlines.
        #[test]
        fn the_queue_fires_what_a_plain_list_would(steps in steps()) {
            let timers = Timers::default();
            let (mut now, mut model) = (0, Vec::<Key>::new());
            for step in steps {
                match step {
                    Step::Set(ahead) => model.push(set(&timers, now + ahead)),
                    Step::Remove(_) if model.is_empty() => {}
                    Step::Remove(which) => timers.remove(model.swap_remove(which.index(model.len()))),
                    Step::Pass(span) => {
                        now += span;
                        let fired: Vec<u64> = timers.take_due(now).into_iter().map(|(d, _)| d).collect();
                        timers.fired();
                        let (mut due, left): (Vec<Key>, Vec<Key>) = model.into_iter().partition(|k| k.0 <= now);
                        due.sort_unstable();
                        prop_assert_eq!(fired, due.into_iter().map(|k| k.0).collect::<Vec<_>>());
                        model = left;
                    }
                }
                prop_assert_eq!(timers.len(), model.len());
                prop_assert_eq!(timers.next().map(|n| n.0), model.iter().map(|k| k.0).min());
            }
        }
    }

    #[test]
    fn a_waker_that_drops_another_timer_does_not_lock_up() {
        struct Owner(Arc<Timers>, Key);
        impl Wake for Owner {
            fn wake(self: Arc<Self>) {}
        }
        impl Drop for Owner {
            fn drop(&mut self) {
                self.0.remove(self.1);
            }
        }
        let timers = Arc::new(Timers::default());
        let owned = set(&timers, 50);
        let owner = Waker::from(Arc::new(Owner(Arc::clone(&timers), owned)));
        let key = timers.set(10, owner, Location::caller());
        assert!(timers.rewake(key, Waker::noop()), "replacing the waker drops the owner");
        assert_eq!(timers.len(), 1);
    }

    #[test]
    fn a_timer_wakes_whoever_asked_last() {
        let timers = Timers::default();
        let (first, last) = (Arc::new(Count(AtomicUsize::new(0))), Arc::new(Count(AtomicUsize::new(0))));
        let key = timers.set(10, Waker::from(Arc::clone(&first)), Location::caller());
        assert!(timers.rewake(key, &Waker::from(Arc::clone(&last))));
        wake_all(timers.take_due(10));
        assert!(!timers.rewake(key, Waker::noop()), "it has fired");
        assert_eq!((first.0.load(Ordering::Relaxed), last.0.load(Ordering::Relaxed)), (0, 1));
    }

    #[test]
    fn an_earlier_timer_rings_and_a_later_one_does_not() {
        let timers = Timers::default();
        set(&timers, 100);
        assert_eq!(timers.wait(Some(Duration::ZERO)), Woken::Rung);
        set(&timers, 200);
        assert_eq!(timers.wait(Some(Duration::ZERO)), Woken::InTime);
        set(&timers, 50);
        assert_eq!(timers.wait(None), Woken::Rung);
        timers.close();
        assert_eq!(timers.wait(None), Woken::Closed);
    }

    #[test]
    fn the_slot_shows_a_past_deadline_until_everybody_due_is_woken() {
        use crate::line::Line;
        use crate::page::Page;

        let page = Arc::new(Page::create(Line::still(0, 0), 0, 0).unwrap());
        let slot = page.take_slot(std::process::id()).unwrap();
        let timers = Timers::published_in(slot);
        let published = || page.table().unwrap().slots[0].deadline;
        set(&timers, 10);
        let due = timers.take_due(10);
        let later = set(&timers, 99);
        assert_eq!(published(), Some(10), "another thread's timer must not hide that one is due");
        wake_all(due);
        timers.fired();
        assert_eq!(published(), Some(99));
        timers.remove(later);
        assert_eq!(published(), None);
    }
}
