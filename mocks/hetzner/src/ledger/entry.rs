//! One resource's life and what it costs.
//!
//! The rules, as Hetzner documents them: a resource is billed from its creation to its deletion whatever its
//! state; each started hour is billed in full; in a calendar month never more than the monthly price; a change of
//! type ends the hours of one type and begins those of the other. Assumed, as nothing documents it: hours are
//! counted from the creation or change, not by the clock; an hour belongs to the month in which it begins; months
//! are those of UTC; a month with several types costs no more than the dearest of them; what has a monthly
//! price only (volumes, images) costs an equal part of it for each started hour of the month.

use mock_clock::Time;
use serde::{Deserialize, Serialize};

use super::month::{HOUR, Month, started_hours};
use crate::money::Money;
use crate::resource::Kind;

/// What something costs, net.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    /// For each started hour; if `None`, an equal part of the monthly price.
    pub hourly: Option<Money>,
    /// The most for a calendar month.
    pub monthly: Money,
}

impl Price {
    /// What costs nothing.
    pub const FREE: Price = Price { hourly: None, monthly: Money::ZERO };

    /// For so many hours of this month.
    fn of(self, hours: u64, month: Month) -> Money {
        let hourly = self.hourly.unwrap_or_else(|| self.monthly.part(month.hours()));
        (hourly * hours).min(self.monthly)
    }
}

/// A part of a life with one type or size and one price. It ends with the next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// When it began.
    pub since: Time,
    /// The type, or the size in GB.
    pub what: String,
    /// What it costs.
    pub price: Price,
}

/// What is known when something comes into being.
#[derive(Clone, Debug)]
pub(crate) struct Opening {
    pub(crate) kind: Kind,
    pub(crate) id: u64,
    pub(crate) name: String,
    /// Empty for what has none.
    pub(crate) location: String,
    /// The client's user agent, or that it was done by hand.
    pub(crate) by: String,
    pub(crate) what: String,
    pub(crate) price: Price,
}

/// The life of one resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// What it is.
    pub kind: Kind,
    /// Its id.
    pub id: u64,
    /// What it is called, or was at last.
    pub name: String,
    /// Where it is; empty for what is nowhere.
    pub location: String,
    /// When it was made.
    pub from: Time,
    /// When it was deleted.
    pub until: Option<Time>,
    /// The client's user agent, or that it was done by hand.
    pub created_by: String,
    /// The same of who deleted it.
    pub deleted_by: Option<String>,
    /// What it was, one after the other.
    pub phases: Vec<Phase>,
}

/// What a phase came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Charge {
    pub(super) hours: u64,
    pub(super) cost: Money,
}

impl Entry {
    pub(super) fn new(now: Time, opening: Opening) -> Entry {
        let Opening { kind, id, name, location, by, what, price } = opening;
        let phases = vec![Phase { since: now, what, price }];
        Entry { kind, id, name, location, from: now, until: None, created_by: by, deleted_by: None, phases }
    }

    pub(super) fn change(&mut self, now: Time, what: &str, price: Price) {
        let since = self.latest(now);
        self.phases.push(Phase { since, what: what.to_owned(), price });
    }

    pub(super) fn close(&mut self, now: Time, by: &str) {
        self.until = Some(self.latest(now));
        self.deleted_by = Some(by.to_owned());
    }

    /// Now, unless the clock went back: a life has its moments in order.
    fn latest(&self, now: Time) -> Time {
        self.phases.last().map_or(self.from, |phase| phase.since).max(now)
    }

    /// What it has cost up to this moment.
    pub fn cost(&self, now: Time) -> Money {
        self.charges(now).map(|charge| charge.cost).sum()
    }

    /// What each phase has come to up to this moment.
    pub(super) fn charges(&self, now: Time) -> impl Iterator<Item = Charge> {
        // Whoever asks at the moment of creation is told of the hour that has begun.
        let least = Time::from_unix_nanos(self.from.unix_nanos().saturating_add(1));
        let end = if now < self.from { self.from } else { self.until.unwrap_or(now).min(now).max(least) };
        let ends = self.phases.iter().skip(1).map(move |next| next.since.min(end)).chain([end]);
        let mut account = None;
        self.phases.iter().zip(ends).map(move |(phase, until)| charge(&mut account, phase, until))
    }
}

/// What a month has come to so far, and the most it may.
#[derive(Clone, Copy)]
struct Account {
    month: Month,
    spent: Money,
    most: Money,
}

/// Charges one phase, month by month; the account goes on to the next phase.
fn charge(account: &mut Option<Account>, phase: &Phase, until: Time) -> Charge {
    let mut charge = Charge::default();
    let mut hour = phase.since;
    while hour < until {
        let month = Month::of(hour);
        let empty = Account { month, spent: Money::ZERO, most: Money::ZERO };
        let before = account.filter(|account| account.month == month).unwrap_or(empty);
        let hours = started_hours(hour, until.min(month.until));
        let most = before.most.max(phase.price.monthly);
        let spent = (before.spent + phase.price.of(hours, month)).min(most);
        charge.hours += hours;
        charge.cost += spent - before.spent;
        *account = Some(Account { month, spent, most });
        hour = Time::from_unix_nanos(hour.unix_nanos().saturating_add(hours.saturating_mul(HOUR)));
    }
    charge
}
