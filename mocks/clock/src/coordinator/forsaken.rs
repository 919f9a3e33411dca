//! Waits that their threads have forsaken: the entry is in the table, and will never be emptied.
//!
//! A program can leave a signal handler by a long jump, out of the middle of a wait; or the thread has ended. The
//! deadline passes and nobody serves it, which would hold time for good. A thread that does wait moves each
//! millisecond; so whoever is asleep and has not moved for much longer sleeps elsewhere.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use super::threads::{Ran, sample};
use crate::page::Page;
use crate::page::waits::Wait;
use crate::time::nanos;

/// So long, and for so many looks, a thread must not move: real time alone may pass while the machine is stopped.
const PATIENCE: Duration = Duration::from_millis(50);
const LOOKS: u32 = 10;

/// Overdue waits and what was seen of their threads, by entry and number.
#[derive(Debug, Default)]
pub(super) struct Forsaken {
    suspects: BTreeMap<(u64, u64), Suspect>,
}

#[derive(Clone, Copy, Debug)]
struct Suspect {
    since: u64,
    looks: u32,
    /// What its thread had run at that real moment, if that was looked at.
    ran: Option<Ran>,
}

impl Suspect {
    fn new(now: u64, ran: Option<Ran>) -> Self {
        Self { since: now, looks: 0, ran }
    }
}

impl Forsaken {
    /// Empties those among the overdue waits that are forsaken at the real moment `now`.
    ///
    /// Nearly every overdue wait is served within a chunk, so a thread is looked at only when patience has ended
    /// once, and judged when it has ended again.
    pub(super) fn free<'a>(
        &mut self,
        page: &Page,
        overdue: impl Iterator<Item = &'a Wait>,
        now: u64,
    ) -> io::Result<()> {
        let mut before = std::mem::take(&mut self.suspects);
        for wait in overdue {
            let key = (wait.entry, wait.number);
            let mut suspect = before.remove(&key).unwrap_or(Suspect::new(now, None));
            suspect.looks += 1;
            if now.saturating_sub(suspect.since) >= nanos(PATIENCE) && suspect.looks >= LOOKS {
                suspect = match sample(wait.thread)? {
                    None => {
                        page.free_wait(wait)?;
                        continue;
                    }
                    Some(('S', ran)) if suspect.ran == Some(ran) => {
                        page.free_wait(wait)?;
                        continue;
                    }
                    Some(('S', ran)) => Suspect::new(now, Some(ran)),
                    Some(_) => Suspect::new(now, None),
                };
            }
            self.suspects.insert(key, suspect);
        }
        Ok(())
    }
}
