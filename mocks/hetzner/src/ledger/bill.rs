//! What a project has cost in a span of time: per kind, per type and per resource.
//!
//! Made from the ledger when somebody asks, and kept by nobody. As text it is a table of kinds and types; `{:#}`
//! adds a line for each resource.

use std::collections::BTreeMap;
use std::fmt;

use mock_clock::Time;
use serde::Serialize;

use super::entry::Charge;
use super::{Entry, Ledger};
use crate::money::Money;
use crate::resource::Kind;

/// A bill over what was charged later than `after` and up to `until`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Bill {
    /// From when on; from the beginning, if none.
    pub after: Option<Time>,
    /// Up to when.
    pub until: Time,
    /// All of it, net.
    pub total: Money,
    /// A sum a kind.
    pub kinds: Vec<Sum>,
    /// A sum a type.
    pub types: Vec<Sum>,
    /// A line a resource.
    pub resources: Vec<Line>,
}

/// What all of one kind, or of one type, came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sum {
    /// What it is.
    pub kind: Kind,
    /// The type or size; `None` for the whole kind.
    pub what: Option<String>,
    /// How many there were.
    pub count: u64,
    /// Started hours.
    pub hours: u64,
    /// Net.
    pub cost: Money,
}

/// What one resource came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Line {
    /// What it is.
    pub kind: Kind,
    /// Its id.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// Where.
    pub location: String,
    /// Its types or sizes, one after the other.
    pub what: Vec<String>,
    /// When it was made.
    pub from: Time,
    /// When it was deleted.
    pub until: Option<Time>,
    /// By whom.
    pub created_by: String,
    /// By whom it was deleted.
    pub deleted_by: Option<String>,
    /// Started hours.
    pub hours: u64,
    /// Net.
    pub cost: Money,
}

impl Bill {
    pub(super) fn new(ledger: &Ledger, after: Option<Time>, until: Time) -> Bill {
        let mut kinds: BTreeMap<Kind, Sum> = BTreeMap::new();
        let mut types: BTreeMap<(Kind, &str), Sum> = BTreeMap::new();
        let mut resources = Vec::new();
        for entry in ledger.entries() {
            let mut all = Charge::default();
            let mut of_entry: BTreeMap<&str, Charge> = BTreeMap::new();
            for (what, charge) in charges(entry, after, until) {
                add(&mut all, charge);
                add(of_entry.entry(what).or_default(), charge);
            }
            if all.hours == 0 {
                continue;
            }
            kinds.entry(entry.kind).or_insert_with(|| Sum::new(entry.kind, None)).add(all);
            for (what, charge) in of_entry.into_iter().filter(|(_, charge)| charge.hours > 0) {
                let sum = types.entry((entry.kind, what));
                sum.or_insert_with(|| Sum::new(entry.kind, Some(what.to_owned()))).add(charge);
            }
            resources.push(Line::new(entry, all));
        }
        let total = kinds.values().map(|sum| sum.cost).sum();
        let (kinds, types) = (kinds.into_values().collect(), types.into_values().collect());
        Bill { after, until, total, kinds, types, resources }
    }
}

/// What each phase came to in the span.
fn charges(entry: &Entry, after: Option<Time>, until: Time) -> impl Iterator<Item = (&str, Charge)> {
    let before: Vec<Charge> = after.map(|after| entry.charges(after).collect()).unwrap_or_default();
    let before = before.into_iter().chain(std::iter::repeat(Charge::default()));
    let names = entry.phases.iter().map(|phase| phase.what.as_str());
    names.zip(entry.charges(until).zip(before)).map(|(what, (charge, before))| {
        let hours = charge.hours.saturating_sub(before.hours);
        (what, Charge { hours, cost: charge.cost - before.cost })
    })
}

fn add(sum: &mut Charge, charge: Charge) {
    sum.hours += charge.hours;
    sum.cost += charge.cost;
}

impl Sum {
    fn new(kind: Kind, what: Option<String>) -> Sum {
        Sum { kind, what, count: 0, hours: 0, cost: Money::ZERO }
    }

    fn add(&mut self, charge: Charge) {
        self.count += 1;
        self.hours += charge.hours;
        self.cost += charge.cost;
    }
}

impl Line {
    fn new(entry: &Entry, charge: Charge) -> Line {
        let mut what: Vec<String> = entry.phases.iter().map(|phase| phase.what.clone()).collect();
        what.dedup();
        Line {
            kind: entry.kind,
            id: entry.id,
            name: entry.name.clone(),
            location: entry.location.clone(),
            what,
            from: entry.from,
            until: entry.until,
            created_by: entry.created_by.clone(),
            deleted_by: entry.deleted_by.clone(),
            hours: charge.hours,
            cost: charge.cost,
        }
    }
}

impl fmt::Display for Bill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<16} {:<24} {:>7} {:>9} {:>14}", "kind", "type", "count", "hours", "EUR net")?;
        for kind in &self.kinds {
            for sum in self.types.iter().filter(|sum| sum.kind == kind.kind) {
                sum.row(f)?;
            }
            kind.row(f)?;
        }
        if f.alternate() {
            for line in &self.resources {
                line.row(f)?;
            }
        }
        write!(f, "{:<59} {:>14}", "total", format!("{:.4}", self.total))
    }
}

impl Sum {
    fn row(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, cost) = (self.what.as_deref().unwrap_or("(all)"), format!("{:.4}", self.cost));
        writeln!(f, "{:<16} {what:<24} {:>7} {:>9} {cost:>14}", self.kind.word(), self.count, self.hours)
    }
}

impl Line {
    fn row(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = format!("{} {} {}", self.kind.word(), self.id, self.name);
        let until = self.until.map_or("now".to_owned(), |until| format!("{until:.0}"));
        let cost = format!("{:.4}", self.cost);
        writeln!(f, "{name:<41} {:>17} {cost:>14}  {:.0} to {until}", self.hours, self.from)
    }
}
