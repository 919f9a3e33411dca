//! The log of the changes of all shelves, for those who follow everything: also shelves that do not exist yet.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::watch;

use super::shelf::{Change, Compacted, KEPT};

#[derive(Debug)]
pub(super) struct Journal {
    log: VecDeque<(Arc<str>, Arc<Change>)>,
    /// The revision of the last change that fell out of the log.
    floor: u64,
    latest: watch::Sender<u64>,
}

impl Journal {
    pub(super) fn new() -> Self {
        Self { log: VecDeque::new(), floor: 0, latest: watch::channel(0).0 }
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<u64> {
        self.latest.subscribe()
    }

    /// The changes after a revision, oldest first.
    pub(super) fn since(
        &self,
        revision: u64,
        limit: usize,
    ) -> Result<Vec<(Arc<str>, Arc<Change>)>, Compacted> {
        if revision < self.floor {
            return Err(Compacted);
        }
        let first = self.log.partition_point(|(_, change)| change.revision <= revision);
        Ok(self.log.range(first..).take(limit).cloned().collect())
    }

    pub(super) fn record(&mut self, shelf: Arc<str>, change: Arc<Change>) {
        let revision = change.revision;
        self.log.push_back((shelf, change));
        if self.log.len() > KEPT
            && let Some((_, dropped)) = self.log.pop_front()
        {
            self.floor = dropped.revision;
        }
        self.latest.send_replace(revision);
    }
}
