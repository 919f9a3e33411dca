//! The coordinator: sees when everybody sleeps and nothing is on its way, and then jumps to the next deadline.
//!
//! It is one thread of the process that owns the clock. It may jump only if, at some single moment,
//!
//! - no guard was held, here or in any process that takes part,
//! - no thread of any of them was running or runnable ([`threads`]),
//! - nothing was on its way between them ([`sockets`]),
//! - nobody's deadline had passed unserved.
//!
//! Two looks establish that moment: all asleep at the first, then the kernel's queues, then all asleep at the
//! second, with nothing changed in between. The jump itself is made while nobody here can take a guard or set a
//! timer; a guard of another process that is taken in that very moment, for something that came from outside the
//! run, can be jumped over. Threads that look at the clock all the
//! time are left out: coordinators, governors, and the timer threads of processes that joined. The last are covered
//! by their slot: it shows a deadline in the past until everybody due has been woken.
//!
//! Processes come in by themselves too: children of those that take part are found when all seem asleep ([`family`]),
//! and whoever publishes something is counted in.
//!
//! It pays for itself: between pairs of looks it rests so long that it costs no more than the share of a processor
//! it was given.

pub(crate) mod diag;
mod ends;
mod family;
mod forsaken;
pub(crate) mod sockets;
#[cfg(test)]
mod tests;
pub(crate) mod threads;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use self::forsaken::Forsaken;
use self::sockets::Sockets;
use self::threads::{Care, Look, Process, ThreadName};
use crate::holding::Holding;
use crate::keeper::OwnLine;
use crate::machine;
use crate::mode::IdleSkip;
use crate::page::slots::is_alive;
use crate::page::waits::Waits;
use crate::page::{CAP_REAL, Page, Published};
use crate::shared::Shared;
use crate::time::{Time, nanos};

/// Rest between two looks while everybody sleeps.
const PACE: Duration = Duration::from_micros(300);
/// The longest rest while somebody is busy.
const PACE_BUSY: Duration = Duration::from_millis(2);
/// A deadline nearer than this is waited for.
const WORTH_A_JUMP: u64 = 500_000;
/// A second look follows the first at once, unless so much rest is owed already.
const OWED_MAX: Duration = Duration::from_millis(50);

/// So many waiting threads may look at the page every millisecond; more of them look less often, but not that much less.
const OFTEN: u32 = 64;
const CAP_TIMES_MAX: u32 = 20;
/// With so few entries taken, a thread that waits without one would have found one long ago.
const ROOMY: usize = 512;
const CROWD_PATIENCE: Duration = Duration::from_millis(200);

/// Threads of this process that look at some clock all the time: they do not count as anybody's work.
static WATCHFUL: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

fn watchful() -> MutexGuard<'static, BTreeSet<u32>> {
    WATCHFUL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts the thread that makes it among the watchful, while it lives.
#[derive(Debug)]
pub(crate) struct Watchful {
    tid: u32,
}

impl Watchful {
    pub(crate) fn new() -> Self {
        let tid = machine::thread_id();
        watchful().insert(tid);
        Self { tid }
    }

    pub(crate) fn tid(&self) -> u32 {
        self.tid
    }
}

impl Drop for Watchful {
    fn drop(&mut self) {
        watchful().remove(&self.tid);
    }
}

/// Sees to the jumps of one clock.
#[derive(Debug)]
pub(crate) struct Coordinator {
    settings: IdleSkip,
    us: Process,
    peers: BTreeMap<u32, Process>,
    sockets: Sockets,
    forsaken: Forsaken,
    /// How long waiting threads go without a look at the page.
    cap: Duration,
    /// Since when threads seem to wait without an entry, though there are some.
    crowd_since: Option<u64>,
    /// What was seen when all were asleep at the last look.
    before: Option<Asleep>,
}

/// What must not change between two looks.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Asleep {
    published: Published,
    /// Guards taken and timers set in this process.
    activity: (u64, u64),
    next: u64,
}

/// All are asleep; and whether anybody has run since the last look, with a name if there is one.
struct Seen {
    asleep: Asleep,
    stirred: Stirred,
}

type Stirred = Option<Option<ThreadName>>;

/// Says in the clock's status that its coordinator has died, if it dies.
struct Mourner<'a> {
    shared: &'a Shared,
}

impl Drop for Mourner<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.shared.set_holding(Holding::Blind("the coordinator has died of a bug, and said so".into()));
        }
    }
}

impl Coordinator {
    /// A coordinator; fails where the kernel does not let it see what it must.
    pub(crate) fn new(settings: IdleSkip) -> io::Result<Self> {
        let mut us = Process::new(std::process::id());
        if us.look(Care::Full, |_| false, &BTreeMap::new())? == Look::Gone || !us.is_counted() {
            return Err(io::Error::other("the kernel counts nothing in /proc/self/task/…/schedstat"));
        }
        let mut sockets = Sockets::open()?;
        sockets.look(&BTreeSet::new(), machine::monotonic())?;
        let (peers, forsaken) = (BTreeMap::new(), Forsaken::default());
        Ok(Self { settings, us, peers, sockets, forsaken, cap: CAP_REAL, crowd_since: None, before: None })
    }

    /// Coordinates until the clock is closed.
    pub(crate) fn run(mut self, shared: &Shared, own: &OwnLine) {
        let _watchful = Watchful::new();
        let _mourner = Mourner { shared };
        let (mut pace, mut owed, mut at_once) = (PACE, Duration::ZERO, false);
        let mut spent = machine::thread_cpu();
        while !shared.closed.load(Ordering::Relaxed) {
            pace = match self.step(shared, own) {
                Ok(()) => PACE,
                Err(holding) => {
                    let rest = rest_after(&holding, pace);
                    shared.set_holding(holding);
                    rest
                }
            };
            let cost = Duration::from_nanos(machine::thread_cpu() - spent);
            spent += nanos(cost);
            shared.watching.store(spent, Ordering::Relaxed);
            owed += cost * (100 - self.settings.watch_percent) / self.settings.watch_percent;
            // However dear looks are, now and then one must follow at once, or nobody is ever seen asleep twice.
            at_once = self.before.is_some() && (owed < OWED_MAX || !at_once);
            let rest = if at_once { PACE } else { pace.max(owed) };
            owed = owed.saturating_sub(rest);
            shared.lag.note_starved(machine::pause(rest));
        }
    }

    /// One look, and a jump if it is the second that found everybody asleep.
    fn step(&mut self, shared: &Shared, own: &OwnLine) -> Result<(), Holding> {
        let before = self.before.take();
        let care = if before.is_some() { Care::Full } else { Care::Glance };
        let seen = self.look(shared, own, care)?;
        if seen.stirred.is_none() && before.as_ref() == Some(&seen.asleep) {
            self.sockets.believe();
            let jumped = self.jump(shared, own, &seen.asleep);
            return if jumped { Ok(()) } else { Err(Holding::Settling(None)) };
        }
        if self.enrol_children(own.page()).map_err(|e| blind(&e))? {
            return Err(Holding::Settling(None));
        }
        let slots = seen.asleep.published.table.slots.iter();
        let pids: BTreeSet<u32> = slots.map(|slot| slot.pid).chain([std::process::id()]).collect();
        if let Some(what) = self.sockets.look(&pids, machine::monotonic()).map_err(|e| blind(&e))? {
            return Err(Holding::OnItsWay(what));
        }
        self.before = Some(seen.asleep);
        Err(Holding::Settling(seen.stirred.flatten()))
    }

    /// Jumps, unless something has happened here since the look: a thread woken from outside the run may have taken
    /// a guard or set a timer, or the deadline may simply have come.
    fn jump(&self, shared: &Shared, own: &OwnLine, seen: &Asleep) -> bool {
        let (now, _) = own.read();
        let target = self.target(shared, now, seen.next);
        let (guards_taken, timers_set) = seen.activity;
        let guards = shared.guards.lock();
        let jumped = guards.count() == 0
            && guards.taken() == guards_taken
            && shared.timers.unless_set_since(timers_set, || own.jump_before(seen.next, target));
        drop(guards);
        if jumped {
            shared.jumps.fetch_add(1, Ordering::Relaxed);
            shared.skipped.fetch_add(target.saturating_sub(now), Ordering::Relaxed);
            shared.timers.ring();
        }
        jumped
    }

    /// Where a jump to `next` ends: no further than allowed, and on the grid if there is one.
    fn target(&self, shared: &Shared, now: u64, next: u64) -> u64 {
        let longest = now.saturating_add(nanos(self.settings.jump_max));
        let wall = shared.wall.wall(next.min(longest)).unix_nanos();
        let grid = self.settings.round_up_to.map_or(1, nanos);
        let rounded = wall.checked_next_multiple_of(grid).unwrap_or(wall);
        shared.wall.monotonic(Time::from_unix_nanos(rounded)).min(longest)
    }

    /// One look at everything but the sockets.
    fn look(&mut self, shared: &Shared, own: &OwnLine, care: Care) -> Result<Seen, Holding> {
        let activity = (no_guards(shared)?, shared.timers.ever_set());
        let mut published = own.page().published().map_err(|e| blind(&e))?;
        if published.table.turned_away > 0 {
            return Err(Holding::TableFull { turned_away: published.table.turned_away });
        }
        self.tend(own.page(), &published.waits, own.read().0).map_err(|e| blind(&e))?;
        if published.waits.crowded > 0 {
            return Err(Holding::Crowded { threads: published.waits.crowded });
        }
        if enrol_unknown(own.page(), &published).map_err(|e| blind(&e))? {
            return Err(Holding::Settling(None));
        }
        if shared.earliest(&published).is_none() {
            return Err(Holding::NothingAwaited);
        }
        let waits = published.waits.clone();
        let stirred = self.look_at_us(care)?;
        let stirred = stirred.or(self.look_at_peers(own, care, &mut published)?);
        // Before their states are worth anything: the threads must be in those waits still.
        if !waits.entries.is_empty() && own.page().waits().map_err(|e| blind(&e))? != waits {
            return Err(Holding::Settling(None));
        }
        if let Some(slot) = published.table.slots.iter().find(|slot| slot.guards > 0) {
            return Err(Holding::PeerBusy { pid: slot.pid, guards: slot.guards });
        }
        let (now, _) = own.read();
        let overdue = published.waits.entries.iter().filter(|wait| wait.deadline <= now);
        self.forsaken.free(own.page(), overdue, machine::monotonic()).map_err(|e| blind(&e))?;
        let next = next_deadline(shared, own, &published)?;
        Ok(Seen { asleep: Asleep { published, activity, next }, stirred })
    }

    /// Keeps the table of waits in order: the more wait, the less often each of them may look; and what nobody will ever
    /// take back is taken back here.
    fn tend(&mut self, page: &Page, waits: &Waits, now: u64) -> io::Result<()> {
        let waiting = u32::try_from(waits.entries.len()).unwrap_or(u32::MAX);
        let cap = CAP_REAL * (waiting / OFTEN).clamp(1, CAP_TIMES_MAX);
        if cap != self.cap {
            page.set_cap(cap)?;
            self.cap = cap;
        }
        waits
            .superseded
            .iter()
            .filter(|wait| wait.deadline <= now)
            .try_for_each(|wait| page.free_wait(wait))?;
        // Whoever waits without an entry takes one as soon as there is one. Who does not was killed.
        let roomy = waits.entries.len() + waits.superseded.len() < ROOMY;
        let real = machine::monotonic();
        match self.crowd_since {
            _ if waits.crowded == 0 || !roomy => self.crowd_since = None,
            None => self.crowd_since = Some(real),
            Some(since) if real - since > nanos(CROWD_PATIENCE) => page.forget_crowd()?,
            Some(_) => {}
        }
        Ok(())
    }

    fn look_at_us(&mut self, care: Care) -> Result<Stirred, Holding> {
        let watchful = watchful();
        match self.us.look(care, |tid| watchful.contains(&tid), &BTreeMap::new()).map_err(|e| blind(&e))? {
            Look::Awake(thread) => Err(Holding::Running(thread)),
            Look::Asleep => Ok(None),
            Look::Stirred(thread) => Ok(Some(thread)),
            Look::Stopped | Look::Gone => Ok(Some(None)),
        }
    }

    /// Looks at the other processes that take part, and leaves out what those have published that cannot wake.
    fn look_at_peers(
        &mut self,
        own: &OwnLine,
        care: Care,
        published: &mut Published,
    ) -> Result<Stirred, Holding> {
        let (now, _) = own.read();
        let pids: BTreeSet<u32> = published.table.slots.iter().map(|slot| slot.pid).collect();
        self.peers.retain(|pid, _| pids.contains(pid));
        let mut stirred = None;
        for pid in pids.into_iter().filter(|pid| *pid != std::process::id()) {
            // Whoever keeps the others waiting may be stopped or dead, and a glance would not show it.
            let care = if published.holds_up(pid, now) { Care::Full } else { care };
            let slots = || published.table.slots.iter().filter(|slot| slot.pid == pid);
            let skip = |tid| slots().any(|slot| slot.timer_thread == Some(tid));
            let peer = self.peers.entry(pid).or_insert_with(|| Process::new(pid));
            match peer.look(care, skip, &published.waits.of(pid)).map_err(|e| blind(&e))? {
                Look::Awake(thread) => return Err(Holding::Running(thread)),
                Look::Asleep => {}
                Look::Stirred(thread) => stirred = Some(thread),
                Look::Stopped => published.leave_out(pid),
                Look::Gone => {
                    own.page().free_all(pid).map_err(|e| blind(&e))?;
                    return Err(Holding::Settling(None));
                }
            }
        }
        Ok(stirred)
    }

    /// Counts in the children of those who take part; says whether there was one that had not been.
    fn enrol_children(&mut self, page: &Page) -> io::Result<bool> {
        let known: BTreeSet<u32> = self.peers.keys().copied().chain([std::process::id()]).collect();
        let mut enrolled = false;
        for peer in self.peers.values_mut() {
            let children = peer.new_children()?.unwrap_or_default();
            for child in children.difference(&known).filter(|child| is_alive(**child)) {
                page.enrol(*child)?;
                enrolled = true;
            }
        }
        Ok(enrolled)
    }
}

/// Counts in whoever has published something without having been counted in, or frees it if its process is gone;
/// says whether there was any.
fn enrol_unknown(page: &Page, published: &Published) -> io::Result<bool> {
    let mut pids = published.foreign_pids();
    pids.retain(|pid| published.table.slots.iter().all(|slot| slot.pid != *pid));
    for pid in &pids {
        // Our own threads wait otherwise: nobody but a stranger writes such an entry.
        if *pid != std::process::id() && is_alive(*pid) {
            page.enrol(*pid)?;
        } else {
            page.free_waits(*pid)?;
            page.free_alarms(*pid)?;
        }
    }
    Ok(!pids.is_empty())
}

fn no_guards(shared: &Shared) -> Result<u64, Holding> {
    let held = shared.guards.lock();
    match held.oldest() {
        Some(oldest) => Err(Holding::Busy { guards: held.count(), oldest }),
        None => Ok(held.taken()),
    }
}

/// The earliest deadline of all, if it is far enough ahead to jump to.
fn next_deadline(shared: &Shared, own: &OwnLine, published: &Published) -> Result<u64, Holding> {
    let (next, whose) = shared.earliest(published).ok_or(Holding::NothingAwaited)?;
    let (now, _) = own.read();
    if next <= now {
        Err(Holding::Overdue { whose, by: Duration::from_nanos(now - next) })
    } else if next - now < WORTH_A_JUMP {
        Err(Holding::Soon { in_virtual: Duration::from_nanos(next - now) })
    } else {
        Ok(next)
    }
}

fn rest_after(holding: &Holding, last: Duration) -> Duration {
    match holding {
        Holding::Settling(_) | Holding::Soon { .. } => PACE,
        _ => (last * 3 / 2).min(PACE_BUSY),
    }
}

fn blind(error: &io::Error) -> Holding {
    Holding::Blind(error.to_string())
}

/// Starts the thread of a coordinator.
pub(crate) fn start(coordinator: Coordinator, shared: Arc<Shared>) -> io::Result<()> {
    let run = move || {
        let own = shared.own().expect("only an owner coordinates");
        coordinator.run(&shared, own);
    };
    std::thread::Builder::new().name("clock-jumps".into()).spawn(run).map(drop)
}
