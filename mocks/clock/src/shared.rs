//! What all handles, sleeps and threads of one clock share: the line, the timers, the guards, and the count of it all.

use std::fmt;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use crate::coordinator::Watchful;
use crate::governor;
use crate::guards::{Guard, Guards};
use crate::holding::{Holding, Whose};
use crate::inject::Door;
use crate::keeper::{Keeper, OwnLine};
use crate::lag::LagMeter;
use crate::line::Line;
use crate::machine;
use crate::page::{CAP_REAL, Published};
use crate::rate::Rate;
use crate::time::Time;
use crate::timers::{Timers, Woken};
use crate::wall::WallOffset;

/// One clock, as this process sees it.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) keeper: Keeper,
    pub(crate) mover: Mover,
    pub(crate) wall: WallOffset,
    pub(crate) timers: Timers,
    pub(crate) guards: Guards,
    pub(crate) lag: LagMeter,
    pub(crate) jumps: AtomicU64,
    pub(crate) skipped: AtomicU64,
    /// What the coordinator has cost: nanoseconds on a processor.
    pub(crate) watching: AtomicU64,
    pub(crate) closed: AtomicBool,
    /// Real and virtual monotonic time at which this process came in.
    pub(crate) began: (u64, u64),
    /// The rate asked for, which guards may hold down.
    wanted: Mutex<Rate>,
    /// Another process holds a guard.
    peers_busy: AtomicBool,
    driver: Once,
    governor: Once,
    /// Where foreign programs are brought in.
    pub(crate) door: Door,
    /// Why time does not jump, since which real moment, and how many jumps there had been.
    holding: Mutex<(Holding, u64, u64)>,
}

/// What moves the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mover {
    /// Idle-skip: the rate moves it, and the coordinator makes it jump.
    Coordinator,
    /// A constant rate.
    Rate,
    /// The machine: it is real time.
    Machine,
    /// A hand, in a unit test.
    Hand,
    /// Another process, which made it.
    Owner,
}

impl fmt::Display for Mover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mover::Coordinator => "idle-skip",
            Mover::Rate => "at a constant rate",
            Mover::Machine => "real",
            Mover::Hand => "moved by hand",
            Mover::Owner => "another process's",
        })
    }
}

impl Shared {
    pub(crate) fn new(
        keeper: Keeper,
        mover: Mover,
        wanted: Rate,
        wall: WallOffset,
        timers: Timers,
    ) -> Arc<Self> {
        Arc::new(Self {
            began: (machine::monotonic(), keeper.read().0),
            keeper,
            mover,
            wall,
            timers,
            guards: Guards::default(),
            lag: LagMeter::new(),
            jumps: AtomicU64::new(0),
            skipped: AtomicU64::new(0),
            watching: AtomicU64::new(0),
            closed: AtomicBool::new(false),
            wanted: Mutex::new(wanted),
            peers_busy: AtomicBool::new(false),
            driver: Once::new(),
            governor: Once::new(),
            door: Door::default(),
            holding: Mutex::new((Holding::NotLookedYet, machine::monotonic(), 0)),
        })
    }

    /// The line, if this process owns it.
    pub(crate) fn own(&self) -> Option<&OwnLine> {
        match &self.keeper {
            Keeper::Own(line) => Some(line),
            Keeper::Followed(_) => None,
        }
    }

    /// Virtual monotonic time, and the line it was read from.
    pub(crate) fn read(&self) -> (u64, Line) {
        self.keeper.read()
    }

    pub(crate) fn now(&self) -> Time {
        self.wall.wall(self.read().0)
    }

    /// Wakes everybody due at the virtual moment `now`.
    pub(crate) fn fire(&self, now: u64) {
        let due = self.timers.take_due(now);
        if due.is_empty() {
            return;
        }
        for (deadline, waker) in due {
            self.lag.note_late(now - deadline);
            // A waker is foreign code. If it panics, the panic has been printed, and the others are still woken.
            let _ = catch_unwind(AssertUnwindSafe(|| waker.wake()));
        }
        self.timers.fired();
    }

    /// The earliest deadline of this process and of all others, and whose it is.
    pub(crate) fn earliest(&self, published: &Published) -> Option<(u64, Whose)> {
        let ours = self.timers.next().map(|(deadline, at)| (deadline, Whose::Ours(at)));
        let slots = published.table.slots.iter();
        let theirs = slots.filter_map(|slot| Some((slot.deadline?, Whose::Process(slot.pid))));
        let waits = published.waits.entries.iter();
        let waits = waits.map(|wait| (wait.deadline, Whose::Thread(wait.thread, wait.call)));
        let alarms = published.alarms.iter();
        let alarms = alarms.map(|alarm| (alarm.deadline, Whose::Alarm(alarm.pid, alarm.call)));
        ours.into_iter().chain(theirs).chain(waits).chain(alarms).min_by_key(|(deadline, _)| *deadline)
    }

    /// Makes sure that somebody wakes the sleepers. A manual clock has its hand for that.
    pub(crate) fn ensure_driver(self: &Arc<Self>) {
        if self.mover == Mover::Hand {
            return;
        }
        self.driver.call_once(|| {
            let shared = Arc::clone(self);
            let driver =
                std::thread::Builder::new().name("clock-timers".into()).spawn(move || shared.drive());
            driver.expect("a process that cannot start one more thread cannot go on");
        });
    }

    /// Makes sure that somebody sees the guards of processes that may join, if they make a difference.
    pub(crate) fn ensure_governor(self: &Arc<Self>) {
        if self.has_a_rate() && *self.wanted() != Rate::ONE {
            let start = || governor::start(Arc::clone(self));
            self.governor
                .call_once(|| start().expect("a process that cannot start one more thread cannot go on"));
        }
    }

    /// Notes whether another process holds a guard.
    pub(crate) fn set_peers_busy(&self, busy: bool) {
        if self.peers_busy.load(Ordering::Relaxed) != busy {
            let held = self.guards.lock();
            self.peers_busy.store(busy, Ordering::Relaxed);
            self.apply_wanted(held.count());
        }
    }

    /// Wakes sleepers until the clock is closed.
    fn drive(&self) {
        let joined = self.mover == Mover::Owner;
        let watchful = joined.then(Watchful::new);
        if let Some(watchful) = &watchful {
            self.timers.with_slot(|slot| slot.set_timer_thread(watchful.tid()));
        }
        loop {
            let (now, line) = self.read();
            self.fire(now);
            let asked_at = machine::monotonic();
            let next = self.timers.next();
            let mut wait = next.and_then(|(deadline, _)| line.real_until(asked_at, deadline));
            if joined && next.is_some() {
                // Nobody rings here when the owner bends the line.
                wait = Some(wait.map_or(CAP_REAL, |wait| wait.min(CAP_REAL)));
            }
            match (self.timers.wait(wait), wait) {
                (Woken::Closed, _) => return,
                (Woken::InTime, Some(wait)) => {
                    let waited = Duration::from_nanos(machine::monotonic() - asked_at);
                    self.lag.note_starved(waited.saturating_sub(wait));
                }
                _ => {}
            }
        }
    }

    /// Takes a guard and gives its number.
    pub(crate) fn take_guard(&self, taken_at: &'static Location<'static>) -> u64 {
        let mut held = self.guards.lock();
        let number = held.take(Guard { taken_at, since_real: machine::monotonic() });
        self.guards_changed(held.count(), held.taken());
        number
    }

    pub(crate) fn release_guard(&self, number: u64) {
        let mut held = self.guards.lock();
        held.release(number);
        self.guards_changed(held.count(), held.taken());
    }

    /// Called under the lock of the guards.
    fn guards_changed(&self, held: usize, taken: u64) {
        self.timers.with_slot(|slot| slot.set_guards(held as u64, taken));
        self.apply_wanted(held);
    }

    fn wanted(&self) -> MutexGuard<'_, Rate> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_a_rate(&self) -> bool {
        matches!(self.mover, Mover::Coordinator | Mover::Rate)
    }

    /// Sets the rate that is wanted; false if this clock has none to set.
    pub(crate) fn set_rate(self: &Arc<Self>, rate: Rate) -> bool {
        if self.has_a_rate() {
            let held = self.guards.lock();
            *self.wanted() = rate;
            self.apply_wanted(held.count());
            drop(held);
            self.ensure_governor();
        }
        self.has_a_rate()
    }

    /// Sets the rate that is wanted, or real time while something is in flight: a client's timeout must then have
    /// its real length. Called under the lock of the guards.
    fn apply_wanted(&self, guards: usize) {
        let Some(own) = self.own().filter(|_| self.has_a_rate()) else { return };
        let wanted = *self.wanted();
        let busy = guards > 0 || self.peers_busy.load(Ordering::Relaxed);
        let rate = if busy { Rate::ONE } else { wanted };
        if own.rate() != rate {
            own.set_rate(rate);
            self.timers.ring();
        }
    }

    /// Notes why time does not jump, and since when.
    pub(crate) fn set_holding(&self, holding: Holding) {
        let jumps = self.jumps.load(Ordering::Relaxed);
        let mut last = self.holding.lock().unwrap_or_else(PoisonError::into_inner);
        let lasts = holding.is_like(&last.0) && last.2 == jumps;
        let since = if lasts { last.1 } else { machine::monotonic() };
        *last = (holding, since, jumps);
    }

    /// Why time does not jump, and since which real moment.
    pub(crate) fn holding(&self) -> (Holding, u64) {
        let last = self.holding.lock().unwrap_or_else(PoisonError::into_inner);
        (last.0.clone(), last.1)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// Ends the threads of this clock.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        self.timers.close();
    }
}
