//! What the clock is doing right now, made to be printed when somebody asks why nothing happens.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::guards::Guard;
use crate::holding::{Holding, Whose};
use crate::keeper::{Keeper, OwnLine};
use crate::lag::Lag;
use crate::machine;
use crate::page::remarks::Remarks;
use crate::shared::{Mover, Shared};
use crate::time::Time;

/// A moment in the life of a clock. Print it.
#[derive(Clone, Debug)]
pub struct Status {
    mover: Mover,
    owner: Option<u32>,
    guards: Option<(usize, Guard)>,
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
    /// Threads of foreign processes that wait for a deadline.
    waiting: usize,
    traps: u64,
    remarks: Remarks,
    lag: Lag,
}

impl Status {
    pub(crate) fn of(shared: &Shared) -> Self {
        let real = machine::monotonic();
        let (now, line) = shared.read();
        let page = shared.own().map(OwnLine::page);
        let published = page.and_then(|page| page.published().ok()).unwrap_or_default();
        let next = shared.earliest(&published);
        Self {
            mover: shared.mover,
            owner: match &shared.keeper {
                Keeper::Followed(line) => Some(line.owner()),
                Keeper::Own(_) => None,
            },
            guards: guards(shared),
            now: shared.wall.wall(now),
            virtual_elapsed: Duration::from_nanos(now.saturating_sub(shared.began.1)),
            real_elapsed: Duration::from_nanos(real - shared.began.0),
            rate: fixed_point(line.mult),
            jumps: shared.jumps.load(Ordering::Relaxed),
            skipped: Duration::from_nanos(shared.skipped.load(Ordering::Relaxed)),
            watching: Duration::from_nanos(shared.watching.load(Ordering::Relaxed)),
            holding: (shared.mover == Mover::Coordinator).then(|| holding(shared, real)),
            next: next.map(|(deadline, whose)| (Duration::from_nanos(deadline.saturating_sub(now)), whose)),
            timers: shared.timers.len(),
            processes: published.table.slots.iter().map(|slot| slot.pid).collect(),
            waiting: published.waits.entries.len(),
            traps: page.and_then(|page| page.traps().ok()).unwrap_or_default(),
            remarks: page.and_then(|page| page.remarks().ok()).unwrap_or_default(),
            lag: shared.lag.read(),
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

    /// How many system calls of foreign processes were ever taken over, because they have to do with time.
    pub fn traps(&self) -> u64 {
        self.traps
    }

    /// What foreign processes do that this clock does not move, a sentence each; of very many, the first.
    pub fn remarks(&self) -> Vec<String> {
        self.remarks.named.iter().map(ToString::to_string).collect()
    }

    /// Why time was not jumping when the coordinator last looked, as a sentence; nothing where it never jumps.
    pub fn holding(&self) -> Option<String> {
        self.holding.as_ref().map(|(holding, since)| format!("{holding} (for {since:.1?})"))
    }
}

/// How many guards this process holds, and the oldest of them.
fn guards(shared: &Shared) -> Option<(usize, Guard)> {
    let held = shared.guards.lock();
    held.oldest().map(|oldest| (held.count(), oldest))
}

/// What the coordinator saw last; guards are looked at afresh, because they change faster than it looks.
fn holding(shared: &Shared, real: u64) -> (Holding, Duration) {
    let (holding, since) = match guards(shared) {
        Some((guards, oldest)) => (Holding::Busy { guards, oldest }, oldest.since_real),
        None => shared.holding(),
    };
    (holding, Duration::from_nanos(real.saturating_sub(since)))
}

#[expect(clippy::cast_precision_loss, reason = "for the reader's eye")]
fn fixed_point(mult: u64) -> f64 {
    mult as f64 / 4_294_967_296.0
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { mover, now, rate, jumps, timers, lag, .. } = self;
        writeln!(f, "virtual time is {now:.3}, {mover}, rate {rate:.2}")?;
        writeln!(
            f,
            "since the start {:.1?} virtual in {:.1?} real; jumps: {jumps}, over {:.1?}",
            self.virtual_elapsed, self.real_elapsed, self.skipped
        )?;
        if let Some(holding) = self.holding() {
            writeln!(f, "not jumping: {holding}")?;
            let share = 100.0 * self.watching.as_secs_f64() / self.real_elapsed.as_secs_f64();
            writeln!(f, "watching for idleness has cost {share:.1} % of a processor")?;
        }
        if let Some(owner) = self.owner {
            writeln!(f, "moved by process {owner}, which can say why it does not jump")?;
        }
        if self.holding.is_none()
            && let Some((guards, oldest)) = &self.guards
        {
            writeln!(f, "guards held here: {guards}, the oldest taken at {}", oldest.taken_at)?;
        }
        match &self.next {
            Some((ahead, whose)) => {
                writeln!(f, "next deadline in {ahead:.1?}: {whose}; timers here: {timers}")
            }
            None => writeln!(f, "no deadline is set"),
        }?;
        if !self.processes.is_empty() {
            writeln!(f, "taking part: processes {:?}", self.processes)?;
        }
        if self.traps > 0 {
            writeln!(
                f,
                "foreign: threads that wait: {}; system calls taken over: {}",
                self.waiting, self.traps
            )?;
        }
        for remark in self.remarks() {
            writeln!(f, "real: {remark}")?;
        }
        write!(f, "lag: {lag}")
    }
}
