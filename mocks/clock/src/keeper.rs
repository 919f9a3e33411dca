//! Who keeps the line of this process: the owner, in memory and on the page, or a follower, who reads the page.
//!
//! Both answer one question, "what time is it?", and may be asked from any thread while the line is being bent.
//! The owner's order of writing makes that safe across processes too: first every copy becomes odd, then the
//! real time is taken, and no copy becomes even before all hold the new line. So nobody can see the time of the
//! new line and then, anywhere, the old one.

use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::line::Line;
use crate::machine;
use crate::page::slots::is_alive;
use crate::page::{Header, Page};
use crate::rate::Rate;

/// Either of the two.
#[derive(Debug)]
pub(crate) enum Keeper {
    Own(OwnLine),
    Followed(FollowedLine),
}

impl Keeper {
    /// Virtual monotonic time now, and the line it was read from.
    pub(crate) fn read(&self) -> (u64, Line) {
        match self {
            Keeper::Own(line) => line.read(),
            Keeper::Followed(line) => line.read(),
        }
    }
}

/// The line of the process that made the clock.
#[derive(Debug)]
pub(crate) struct OwnLine {
    sequence: AtomicU32,
    real0: AtomicU64,
    virt0: AtomicU64,
    mult: AtomicU64,
    writing: Mutex<Rate>,
    page: Arc<Page>,
}

impl OwnLine {
    pub(crate) fn new(line: Line, rate: Rate, wall_offset: u64) -> io::Result<Self> {
        let page = Arc::new(Page::create(line, rate.inverse(), wall_offset)?);
        Ok(Self {
            sequence: AtomicU32::new(0),
            real0: AtomicU64::new(line.real0),
            virt0: AtomicU64::new(line.virt0),
            mult: AtomicU64::new(line.mult),
            writing: Mutex::new(rate),
            page,
        })
    }

    pub(crate) fn page(&self) -> &Arc<Page> {
        &self.page
    }

    /// Virtual time now, and the line it was read from.
    pub(crate) fn read(&self) -> (u64, Line) {
        let mut spins = 0_u32;
        loop {
            let before = self.sequence.load(Ordering::Acquire);
            if before & 1 == 0 {
                let line = self.line();
                let now = line.at(machine::monotonic());
                fence(Ordering::Acquire);
                if self.sequence.load(Ordering::Relaxed) == before {
                    return (now, line);
                }
            }
            // A writer that lost its processor needs ours.
            spins += 1;
            if spins.is_multiple_of(64) { std::thread::yield_now() } else { std::hint::spin_loop() }
        }
    }

    fn line(&self) -> Line {
        Line {
            real0: self.real0.load(Ordering::Relaxed),
            virt0: self.virt0.load(Ordering::Relaxed),
            mult: self.mult.load(Ordering::Relaxed),
        }
    }

    pub(crate) fn rate(&self) -> Rate {
        *self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_rate(&self, rate: Rate) {
        self.bend(|line, real| (line.with_rate(real, rate), Some(rate)));
    }

    /// Goes to `target` at once, unless it is later already.
    pub(crate) fn jump(&self, target: u64) {
        self.bend(|line, real| (line.jumped(real, target), None));
    }

    /// Goes to `target` at once, if the moment `before` has not come yet; says whether it has gone.
    pub(crate) fn jump_before(&self, before: u64, target: u64) -> bool {
        let mut in_time = false;
        self.bend(|line, real| {
            in_time = line.at(real) < before;
            (if in_time { line.jumped(real, target) } else { line }, None)
        });
        in_time
    }

    fn bend(&self, change: impl FnOnce(Line, u64) -> (Line, Option<Rate>)) {
        let mut rate = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let sequence = self.sequence.load(Ordering::Relaxed);
        self.sequence.store(sequence.wrapping_add(1), Ordering::SeqCst);
        self.page.set_sequence(sequence.wrapping_add(1));
        fence(Ordering::SeqCst);
        let (line, new_rate) = change(self.line(), machine::monotonic());
        *rate = new_rate.unwrap_or(*rate);
        self.real0.store(line.real0, Ordering::Relaxed);
        self.virt0.store(line.virt0, Ordering::Relaxed);
        self.mult.store(line.mult, Ordering::Relaxed);
        self.page.write_line(line, rate.inverse()).expect("a file in memory can be written");
        self.page.set_sequence(sequence.wrapping_add(2));
        self.sequence.store(sequence.wrapping_add(2), Ordering::SeqCst);
    }
}

/// The line of a process that joined another one's clock.
#[derive(Debug)]
pub(crate) struct FollowedLine {
    page: Arc<Page>,
    owner: u32,
    /// The last line read whole, with its sequence number: valid as long as the page shows the same number.
    seen: Mutex<(u32, Line)>,
}

impl FollowedLine {
    pub(crate) fn owner(&self) -> u32 {
        self.owner
    }

    pub(crate) fn new(page: Arc<Page>, header: &Header) -> Self {
        // An odd number is never a match, so the first reading is a fresh one.
        Self { page, owner: header.owner, seen: Mutex::new((1, Line::still(0, 0))) }
    }

    /// Virtual time now, and the line it was read from.
    pub(crate) fn read(&self) -> (u64, Line) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        for tries in 0_u32.. {
            let sequence = self.page.sequence();
            if sequence & 1 == 0 {
                let line = if seen.0 == sequence { seen.1 } else { self.page.line() };
                let now = line.at(machine::monotonic());
                fence(Ordering::Acquire);
                if self.page.sequence() == sequence {
                    *seen = (sequence, line);
                    return (now, line);
                }
            }
            if tries > 100 {
                if !is_alive(self.owner) {
                    break;
                }
                machine::pause(Duration::from_micros(50));
            }
        }
        // Killed while it wrote. What this process has seen last goes on, as it does when the owner is killed
        // at any other moment; a line never read before is read as it is.
        if seen.0 & 1 == 1 {
            *seen = (seen.0, self.page.line());
        }
        (seen.1.at(machine::monotonic()), seen.1)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    fn own_and_followed() -> (OwnLine, FollowedLine) {
        let now = machine::monotonic();
        let own = OwnLine::new(Line::new(now, now, Rate::ONE), Rate::ONE, 0).unwrap();
        let (page, header) = Page::open(own.page().place()).unwrap();
        (own, FollowedLine::new(Arc::new(page), &header))
    }

    /// Four readers of each kind hand one "latest time seen" round while the rate toggles and time jumps.
    #[test]
    fn nobody_sees_time_go_back_while_the_line_is_bent() {
        let (own, followed) = own_and_followed();
        let (latest, done) = (AtomicU64::new(0), AtomicBool::new(false));
        let reads = |read: &dyn Fn() -> u64| {
            let mut reads = 0_u64;
            while !done.load(Ordering::Relaxed) {
                let before = latest.load(Ordering::SeqCst);
                let now = read();
                assert!(now >= before, "went back by {} ns", before - now);
                latest.fetch_max(now, Ordering::SeqCst);
                reads += 1;
            }
            reads
        };
        std::thread::scope(|scope| {
            let readers = [0, 1, 2, 3].map(|_| {
                (scope.spawn(|| reads(&|| own.read().0)), scope.spawn(|| reads(&|| followed.read().0)))
            });
            for round in 0..400_u32 {
                let rate = if round.is_multiple_of(2) { Rate::new(60.0).unwrap() } else { Rate::ONE };
                own.set_rate(rate);
                own.jump(own.read().0 + 1_000_000_000);
                machine::pause(Duration::from_micros(300));
            }
            done.store(true, Ordering::Relaxed);
            for (own, followed) in readers {
                assert!(own.join().unwrap() > 0 && followed.join().unwrap() > 0);
            }
        });
    }

    #[test]
    fn a_follower_of_an_owner_killed_in_mid_write_goes_on() {
        let (own, mut followed) = own_and_followed();
        let before = followed.read().0;
        own.page().set_sequence(7);
        followed.owner = 4_194_310;
        assert!(followed.read().0 > before);
    }
}
