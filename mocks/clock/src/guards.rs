//! Who is busy: the guards that keep time from jumping while something is in flight.

use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The guards of one process.
#[derive(Debug, Default)]
pub(crate) struct Guards {
    held: Mutex<Held>,
}

/// Guards that are held now, and how many ever were.
#[derive(Debug, Default)]
pub(crate) struct Held {
    by_number: BTreeMap<u64, Guard>,
    taken: u64,
}

/// Where a guard was taken, and when in real time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guard {
    pub(crate) taken_at: &'static Location<'static>,
    pub(crate) since_real: u64,
}

impl Guards {
    /// Everything a change of guards brings about happens under this lock, so that changes cannot overtake.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    /// Adds a guard and gives its number.
    pub(crate) fn take(&mut self, guard: Guard) -> u64 {
        self.taken += 1;
        self.by_number.insert(self.taken, guard);
        self.taken
    }

    pub(crate) fn release(&mut self, number: u64) {
        self.by_number.remove(&number);
    }

    pub(crate) fn count(&self) -> usize {
        self.by_number.len()
    }

    /// How many were ever taken.
    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    pub(crate) fn oldest(&self) -> Option<Guard> {
        self.by_number.first_key_value().map(|(_, guard)| *guard)
    }
}
