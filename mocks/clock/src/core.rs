//! What all handles, sleeps and threads of one clock share: the line, the timers, the guards, and the count of it all.

use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::coordinator::Watchful;
use crate::guards::{Guard, Guards};
use crate::holding::Holding;
use crate::keeper::{FollowedLine, OwnLine};
use crate::lag::LagMeter;
use crate::line::Line;
use crate::machine;
use crate::page::CAP_REAL;
use crate::rate::Rate;
use crate::time::Time;
use crate::timers::{Timers, Woken};
use crate::wall::WallOffset;

/// One clock, as this process sees it.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) kind: Kind,
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
    driver: OnceLock<()>,
    /// Why time does not jump, since which real moment, and how many jumps there had been.
    holding: Mutex<(Holding, u64, u64)>,
}

/// What moves the clock.
#[derive(Debug)]
pub(crate) enum Kind {
    /// Idle-skip: the coordinator. The rate is the one between jumps.
    IdleSkip(OwnLine, Mutex<Rate>),
    /// A constant rate; the one asked for, which guards may hold down.
    Constant(OwnLine, Mutex<Rate>),
    /// Nobody: it is the machine's own time.
    Real(OwnLine),
    /// A hand, in a unit test.
    Manual(OwnLine),
    /// Another process.
    Joined(FollowedLine),
}

impl Kind {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Kind::IdleSkip(..) => "idle-skip",
            Kind::Constant(..) => "at a constant rate",
            Kind::Real(_) => "real",
            Kind::Manual(_) => "moved by hand",
            Kind::Joined(_) => "another process's",
        }
    }
}

impl Core {
    pub(crate) fn new(kind: Kind, wall: WallOffset, timers: Timers) -> Arc<Self> {
        let mut core = Self {
            holding: Mutex::new((Holding::Mode(kind.name()), 0, 0)),
            kind,
            wall,
            timers,
            guards: Guards::default(),
            lag: LagMeter::new(),
            jumps: AtomicU64::new(0),
            skipped: AtomicU64::new(0),
            watching: AtomicU64::new(0),
            closed: AtomicBool::new(false),
            began: (0, 0),
            driver: OnceLock::new(),
        };
        core.began = (machine::monotonic(), core.read().0);
        Arc::new(core)
    }

    /// The line, if this process owns it.
    pub(crate) fn own(&self) -> Option<&OwnLine> {
        match &self.kind {
            Kind::IdleSkip(own, _) | Kind::Constant(own, _) | Kind::Real(own) | Kind::Manual(own) => {
                Some(own)
            }
            Kind::Joined(_) => None,
        }
    }

    /// Virtual monotonic time, and the line it was read from.
    pub(crate) fn read(&self) -> (u64, Line) {
        match &self.kind {
            Kind::Joined(followed) => followed.read(),
            Kind::IdleSkip(own, _) | Kind::Constant(own, _) | Kind::Real(own) | Kind::Manual(own) => {
                own.read()
            }
        }
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
            waker.wake();
        }
        self.timers.fired();
    }

    /// Makes sure that somebody wakes the sleepers. A manual clock has its hand for that.
    pub(crate) fn ensure_driver(self: &Arc<Self>) {
        if matches!(self.kind, Kind::Manual(_)) {
            return;
        }
        self.driver.get_or_init(|| {
            let core = Arc::clone(self);
            let driver = std::thread::Builder::new().name("clock-timers".into()).spawn(move || core.drive());
            driver.expect("a process that cannot start one more thread cannot go on");
        });
    }

    /// Wakes sleepers until the clock is closed.
    fn drive(&self) {
        let watchful = matches!(self.kind, Kind::Joined(_)).then(Watchful::new);
        if let Some(watchful) = &watchful {
            self.timers.with_slot(|slot| slot.set_timer_thread(watchful.tid()));
        }
        loop {
            let (now, line) = self.read();
            self.fire(now);
            let asked_at = machine::monotonic();
            let until = |(deadline, _): (u64, _)| line.real_until(asked_at, deadline);
            let mut wait = self.timers.next().and_then(until);
            if matches!(self.kind, Kind::Joined(_)) {
                // Nobody rings here when the owner bends the line.
                wait = wait.map(|wait| wait.min(CAP_REAL));
            }
            match (self.timers.wait(wait), wait) {
                (Woken::Closed, _) => return,
                (Woken::InTime, Some(wait)) => {
                    let waited = std::time::Duration::from_nanos(machine::monotonic() - asked_at);
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
        match &self.kind {
            Kind::Constant(own, wanted) | Kind::IdleSkip(own, wanted) => {
                let wanted = *wanted.lock().unwrap_or_else(PoisonError::into_inner);
                self.apply_rate(own, wanted, held);
            }
            Kind::Joined(_) => self.timers.with_slot(|slot| slot.set_guards(held as u64, taken)),
            Kind::Real(_) | Kind::Manual(_) => {}
        }
    }

    /// Sets the rate that is wanted; false if this clock has none to set.
    pub(crate) fn set_rate(&self, rate: Rate) -> bool {
        let (Kind::Constant(own, wanted) | Kind::IdleSkip(own, wanted)) = &self.kind else { return false };
        let held = self.guards.lock();
        *wanted.lock().unwrap_or_else(PoisonError::into_inner) = rate;
        self.apply_rate(own, rate, held.count());
        true
    }

    /// While something is in flight, a client's timeout must have its real length.
    fn apply_rate(&self, own: &OwnLine, wanted: Rate, guards: usize) {
        let rate = if guards > 0 { Rate::ONE } else { wanted };
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

    /// Ends the threads of this clock.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        self.timers.close();
    }
}
