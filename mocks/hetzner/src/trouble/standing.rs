//! The troubles of a project: which are in force at a moment, how often each has bitten, and what it holds back.
//!
//! Each draws from a generator of its own, so that one trouble more or less changes nothing else that is drawn.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use mock_clock::Time;
use serde::{Deserialize, Serialize};

use crate::project::Chance;
use crate::resource::primary_ip::PrimaryIp;
use crate::resource::server::{Server, Status};
use crate::trouble::what::{Trouble, TroubleId, What};

/// All troubles there ever were.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Troubles {
    seed: u64,
    all: BTreeMap<u64, Standing>,
    /// How many requests an hour may come while no trouble lowers it; none while none does.
    pub(super) usual_limit: Option<u64>,
    /// The server that was deleted last, as work on it begins when it is gone.
    pub(super) gone: Option<Server>,
    /// Those that are left out for a moment, to see what would be without them.
    #[serde(skip)]
    pub(super) lifted: BTreeSet<TroubleId>,
}

/// One trouble and what has become of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Standing {
    pub(super) trouble: Trouble,
    injected: Time,
    healed: Option<Time>,
    chance: Chance,
    bites: u64,
    first_bite: Option<Time>,
    /// Its beginning has come, and its end has not.
    pub(super) open: bool,
    pub(super) holds: Holds,
}

/// What a trouble holds back, until its end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Holds {
    /// Actions that do not end.
    pub(super) actions: BTreeMap<u64, Held>,
    /// Servers that stay as they are, and what they should be.
    pub(super) statuses: BTreeMap<u64, Status>,
    /// Servers that lists miss.
    pub(super) unseen: BTreeMap<u64, Lag>,
    /// Servers that lists still show.
    pub(super) ghosts: BTreeMap<u64, Ghost>,
    /// Servers that groups still count.
    pub(super) members: BTreeMap<u64, Late>,
}

/// How an action would go on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Held {
    /// Never for one that waits for another.
    pub(super) ends: Time,
    pub(super) lasts: Duration,
}

/// How far a list is behind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Lag {
    pub(super) since: Time,
    pub(super) reads: u32,
}

/// A server that is gone, and the group that still counts it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Late {
    pub(super) group: u64,
    pub(super) lag: Lag,
}

/// A server that is gone, as lists still show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Ghost {
    pub(super) server: Server,
    pub(super) ips: Vec<PrimaryIp>,
    pub(super) lag: Lag,
}

/// What has become of a trouble.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TroubleReport<'a> {
    /// Its number.
    pub id: TroubleId,
    /// What was asked for.
    pub trouble: &'a Trouble,
    /// When it was injected.
    pub injected: Time,
    /// When it was healed by hand; one whose time is over needs no healing.
    pub healed: Option<Time>,
    /// Whether it is in force at the moment.
    pub in_force: bool,
    /// How often it has bitten: changed what somebody was answered, or what became of something.
    pub bites: u64,
    /// When it did so first.
    pub first_bite: Option<Time>,
}

impl Standing {
    fn from(&self) -> Time {
        self.trouble.from.unwrap_or(self.injected).max(self.injected)
    }

    fn until(&self) -> Time {
        let lasts = self.trouble.for_s.map(|seconds| self.from() + Duration::from_secs(seconds));
        let planned = self.trouble.until.or(lasts).unwrap_or(Time::NEVER);
        planned.min(self.healed.unwrap_or(Time::NEVER))
    }

    /// Whether this is within its time.
    pub(super) fn within(&self, now: Time) -> bool {
        self.healed.is_none() && self.from() <= now && now < self.until()
    }

    /// Whether it can bite. One that is not open does not, though a clock that went back is within its time again: it
    /// would let nothing go.
    pub(super) fn in_force(&self, now: Time) -> bool {
        self.open && self.within(now) && self.has_bites_left()
    }

    pub(super) fn has_bites_left(&self) -> bool {
        self.trouble.count.is_none_or(|count| self.bites < u64::from(count))
    }
}

impl Lag {
    pub(super) fn begin(now: Time) -> Self {
        Self { since: now, reads: 0 }
    }

    /// Whether it goes on; with neither bound given it never does.
    pub(super) fn lasts(&self, now: Time, lag_s: Option<u64>, reads: Option<u32>) -> bool {
        (lag_s.is_some() || reads.is_some())
            && lag_s.is_none_or(|lag| now < self.since + Duration::from_secs(lag))
            && reads.is_none_or(|reads| self.reads < reads)
    }
}

impl Troubles {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, all: BTreeMap::new(), usual_limit: None, gone: None, lifted: BTreeSet::new() }
    }

    /// What decides everything that is drawn for them.
    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    /// Takes one in. It is in force from its time on.
    pub(super) fn put(&mut self, now: Time, trouble: Trouble) -> (TroubleId, [Time; 2]) {
        let id = self.all.last_key_value().map_or(1, |(last, _)| last.saturating_add(1));
        let standing = Standing {
            trouble,
            injected: now,
            healed: None,
            // The same number of the same project draws the same, whatever the others are.
            chance: Chance::new(Chance::new(self.seed ^ id).draw()),
            bites: 0,
            first_bite: None,
            open: false,
            holds: Holds::default(),
        };
        let turns = [standing.from(), standing.until()];
        self.all.insert(id, standing);
        (TroubleId(id), turns)
    }

    /// Ends one. `false` if there is none of this number whose time is not over.
    pub(super) fn heal(&mut self, now: Time, id: TroubleId) -> bool {
        let there = self.all.get_mut(&id.0).filter(|it| it.healed.is_none() && now < it.until());
        there.map(|it| it.healed = Some(now)).is_some()
    }

    pub(super) fn reports(&self, now: Time) -> impl Iterator<Item = TroubleReport<'_>> {
        self.all.iter().map(move |(id, it)| TroubleReport {
            id: TroubleId(*id),
            trouble: &it.trouble,
            injected: it.injected,
            healed: it.healed,
            in_force: it.in_force(now),
            bites: it.bites,
            first_bite: it.first_bite,
        })
    }

    pub(super) fn get_mut(&mut self, id: TroubleId) -> Option<&mut Standing> {
        self.all.get_mut(&id.0)
    }

    pub(super) fn get(&self, id: TroubleId) -> Option<&Standing> {
        self.all.get(&id.0)
    }

    pub(super) fn what(&self, id: TroubleId) -> Option<&What> {
        self.get(id).map(|it| &it.trouble.what)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn ids(&self) -> Vec<TroubleId> {
        self.all.keys().copied().map(TroubleId).collect()
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &Standing> {
        self.all.values()
    }

    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut Standing> {
        self.all.values_mut()
    }

    /// Those that can bite now and are of the sort that `pick` wants, oldest first.
    pub(super) fn picked<T>(&self, now: Time, pick: impl Fn(&What) -> Option<T>) -> Vec<(TroubleId, T)> {
        let in_force = self.all.iter().filter(|(_, it)| it.in_force(now));
        in_force
            .filter_map(|(id, it)| pick(&it.trouble.what).map(|picked| (TroubleId(*id), picked)))
            .collect()
    }

    /// Whether chance is with it this time.
    pub(super) fn drawn(&mut self, id: TroubleId) -> bool {
        let Some(it) = self.all.get_mut(&id.0) else { return false };
        it.trouble.per_million.is_none_or(|share| it.chance.per_million(share))
    }

    /// It has bitten.
    pub(super) fn bitten(&mut self, now: Time, id: TroubleId) {
        if let Some(it) = self.all.get_mut(&id.0) {
            it.bites = it.bites.saturating_add(1);
            it.first_bite.get_or_insert(now);
        }
    }

    /// The first of these with which chance is, which has bitten then.
    pub(super) fn bite<T>(&mut self, now: Time, picked: Vec<(TroubleId, T)>) -> Option<T> {
        let (id, it) = picked.into_iter().find(|(id, _)| self.drawn(*id))?;
        self.bitten(now, id);
        Some(it)
    }
}
