//! What the clock is doing right now, made to be printed when somebody asks why nothing happens.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::core::{Core, Kind};
use crate::holding::{Holding, Whose};
use crate::lag::Lag;
use crate::machine;
use crate::time::Time;

/// A moment in the life of a clock. Print it.
#[derive(Clone, Debug)]
pub struct Status {
    kind: &'static str,
    now: Time,
    virtual_elapsed: Duration,
    real_elapsed: Duration,
    rate: f64,
    jumps: u64,
    skipped: Duration,
    watching: Duration,
    holding: Option<(Holding, Duration)>,
    next: Option<(Duration, Whose)>,
    timers: usize,
    processes: BTreeSet<u32>,
    lag: Lag,
}

impl Status {
    pub(crate) fn of(core: &Core) -> Self {
        let real = machine::monotonic();
        let (now, line) = core.read();
        let table = core.own().and_then(|own| own.page().table().ok()).unwrap_or_default();
        let ours = core.timers.next().map(|(deadline, at)| (deadline, Whose::Ours(at)));
        let theirs = table.slots.iter().filter_map(|slot| Some((slot.deadline?, Whose::Process(slot.pid))));
        let next = ours.into_iter().chain(theirs).min_by_key(|(deadline, _)| *deadline);
        Self {
            kind: core.kind.name(),
            now: core.wall.wall(now),
            virtual_elapsed: Duration::from_nanos(now.saturating_sub(core.began.1)),
            real_elapsed: Duration::from_nanos(real - core.began.0),
            rate: fixed_point(line.mult),
            jumps: core.jumps.load(Ordering::Relaxed),
            skipped: Duration::from_nanos(core.skipped.load(Ordering::Relaxed)),
            watching: Duration::from_nanos(core.watching.load(Ordering::Relaxed)),
            holding: matches!(core.kind, Kind::IdleSkip(..)).then(|| holding(core, real)),
            next: next.map(|(deadline, whose)| (Duration::from_nanos(deadline.saturating_sub(now)), whose)),
            timers: core.timers.len(),
            processes: table.slots.iter().map(|slot| slot.pid).collect(),
            lag: core.lag.read(),
        }
    }

    /// How often time has jumped.
    pub fn jumps(&self) -> u64 {
        self.jumps
    }

    /// How much time was jumped over.
    pub fn skipped(&self) -> Duration {
        self.skipped
    }

    /// What it has cost to watch for idleness: time on a processor.
    pub fn watching(&self) -> Duration {
        self.watching
    }

    /// Why time was not jumping when the coordinator last looked, as a sentence; nothing where it never jumps.
    pub fn holding(&self) -> Option<String> {
        self.holding.as_ref().map(|(holding, since)| format!("{holding} (for {since:.1?})"))
    }
}

/// What the coordinator saw last; guards are looked at afresh, because they change faster than it looks.
fn holding(core: &Core, real: u64) -> (Holding, Duration) {
    let held = core.guards.lock();
    let (holding, since) = match held.oldest() {
        Some(oldest) => (Holding::Busy { guards: held.count(), oldest }, oldest.since_real),
        None => core.holding(),
    };
    (holding, Duration::from_nanos(real.saturating_sub(since)))
}

#[expect(clippy::cast_precision_loss, reason = "for the reader's eye")]
fn fixed_point(mult: u64) -> f64 {
    mult as f64 / 4_294_967_296.0
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, now, rate, jumps, timers, lag, .. } = self;
        writeln!(f, "virtual time is {now:.3}, {kind}, rate {rate:.2}")?;
        writeln!(
            f,
            "since the start {:.1?} virtual in {:.1?} real; {jumps} jumps over {:.1?}",
            self.virtual_elapsed, self.real_elapsed, self.skipped
        )?;
        if let Some(holding) = self.holding() {
            writeln!(f, "not jumping: {holding}")?;
            let share = 100.0 * self.watching.as_secs_f64() / self.real_elapsed.as_secs_f64();
            writeln!(f, "watching for idleness has cost {share:.1} % of a processor")?;
        }
        match &self.next {
            Some((ahead, whose)) => {
                writeln!(f, "next deadline in {ahead:.1?}: {whose}; {timers} timers here")
            }
            None => writeln!(f, "no deadline is set"),
        }?;
        if !self.processes.is_empty() {
            writeln!(f, "taking part: processes {:?}", self.processes)?;
        }
        write!(f, "lag: {lag}")
    }
}
