//! What happened, oldest first: as much of it as is kept, and word of what is new.

use std::collections::VecDeque;
use std::collections::vec_deque::Iter;

use tokio::sync::watch;

/// How many changes are remembered. Only the count bounds a log: one trimmed by time or idleness would send quiet
/// watchers away for ever.
const KEPT: usize = 10_000;

/// The changes asked for are no longer there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Compacted;

/// Entries, each at its revision.
#[derive(Debug)]
pub(super) struct Log<E> {
    entries: VecDeque<(u64, E)>,
    /// The revision of the last entry that fell out.
    floor: u64,
    /// The revision of the last entry.
    latest: watch::Sender<u64>,
}

impl<E> Log<E> {
    pub(super) fn new() -> Self {
        Self { entries: VecDeque::new(), floor: 0, latest: watch::channel(0).0 }
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<u64> {
        self.latest.subscribe()
    }

    /// The entries after a revision, oldest first.
    pub(super) fn since(&self, revision: u64) -> Result<Iter<'_, (u64, E)>, Compacted> {
        if revision < self.floor {
            return Err(Compacted);
        }
        let first = self.entries.partition_point(|(at, _)| *at <= revision);
        Ok(self.entries.range(first..))
    }

    /// Writes an entry down and tells everybody.
    pub(super) fn record(&mut self, revision: u64, entry: E) {
        self.entries.push_back((revision, entry));
        self.keep(KEPT);
        self.latest.send_replace(revision);
    }

    /// Forgets all but the last `count` entries.
    pub(super) fn keep(&mut self, count: usize) {
        while self.entries.len() > count {
            let Some((revision, _)) = self.entries.pop_front() else { return };
            self.floor = revision;
        }
    }
}
