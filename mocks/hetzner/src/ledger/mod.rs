//! Who existed from when to when, by whose doing, and what it costs.
//!
//! Stands beside the shelves of a project: what makes, changes or deletes a resource writes it down here too, and
//! nothing is ever crossed out. Free resources are entered like others, so that what is left over can be told.
//! Traffic is not billed, and no tax: amounts are net.

mod bill;
mod entry;
mod month;

use std::collections::BTreeMap;

use mock_clock::Time;
use serde::{Deserialize, Serialize};

pub use bill::{Bill, Line, Sum};
pub(crate) use entry::Opening;
pub use entry::{Entry, Phase, Price};

use crate::money::Money;
use crate::resource::Kind;

/// All that ever existed in a project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    entries: BTreeMap<Kind, BTreeMap<u64, Entry>>,
}

impl Ledger {
    /// Something exists from now on. `false` if it was entered before, which then stays as it is.
    pub(crate) fn opened(&mut self, now: Time, opening: Opening) -> bool {
        let of_kind = self.entries.entry(opening.kind).or_default();
        let new = !of_kind.contains_key(&opening.id);
        if new {
            of_kind.insert(opening.id, Entry::new(now, opening));
        }
        new
    }

    /// From now on it is something else, or costs something else: another type or size, backups on or off.
    /// `false` if there is no such thing, or no more.
    pub(crate) fn rate_changed(&mut self, now: Time, kind: Kind, id: u64, what: &str, price: Price) -> bool {
        let open = self.open(kind, id);
        open.map(|entry| entry.change(now, what, price)).is_some()
    }

    /// It is called something else from now on. What is gone keeps its last name.
    pub(crate) fn renamed(&mut self, kind: Kind, id: u64, name: String) {
        if let Some(entry) = self.open(kind, id) {
            entry.name = name;
        }
    }

    /// It is gone. `false` if there is no such thing, or no more.
    pub(crate) fn closed(&mut self, now: Time, kind: Kind, id: u64, by: &str) -> bool {
        let open = self.open(kind, id);
        open.map(|entry| entry.close(now, by)).is_some()
    }

    /// Every entry: by kind, then by id.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values().flat_map(BTreeMap::values)
    }

    /// What still exists.
    pub fn left_over(&self) -> impl Iterator<Item = &Entry> {
        self.entries().filter(|entry| entry.until.is_none())
    }

    /// What was charged later than `after` (always, if `None`) and up to this moment, this moment included.
    pub fn total(&self, after: Option<Time>, until: Time) -> Money {
        self.entries()
            .map(|entry| entry.cost(until) - after.map_or(Money::ZERO, |after| entry.cost(after)))
            .sum()
    }

    /// The same, line by line.
    pub fn bill(&self, after: Option<Time>, until: Time) -> Bill {
        Bill::new(self, after, until)
    }

    fn open(&mut self, kind: Kind, id: u64) -> Option<&mut Entry> {
        self.entries.get_mut(&kind)?.get_mut(&id).filter(|entry| entry.until.is_none())
    }
}

#[cfg(test)]
mod tests;
