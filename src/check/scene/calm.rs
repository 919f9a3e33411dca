//! When the subject was able to do what it promised: it ran, was refused nothing, and stood in no call.

use std::time::Duration;

use mock_clock::Time;

use super::{Scene, TIE};
use crate::history::query::{self, FaultSpell, Order, Spell};
use crate::history::{CallEvent, Event, History, SubjectChange, SubjectEvent, What};
use crate::terms::{Api, CLAIM_LABEL, Provider, Timer};

/// What was refused echoes: clients wait up to half a minute before they ask again, several times over.
const ECHO: Duration = Duration::from_secs(120);
/// Kinds of objects of which a call may be about one.
const NAMED: [&str; 5] = ["nodes", "nodeclaims", "pods", "servers", "leases"];
/// A process that has just started waits for its lease, and fills its caches.
const WARM_UP: Duration = Duration::from_secs(60);

impl Scene<'_> {
    /// Whether one process of the subject ran (and led, if there are several) all the time between two moments, and the history
    /// reaches that far.
    pub(in crate::check) fn watched(&self, from: Time, to: Time) -> bool {
        to <= self.end && self.acting.iter().any(|(_, spell)| spell.spans(from, to))
    }

    /// The first moment from `at` on at which a process of the subject is warmed up; before `until`.
    pub(in crate::check) fn awake_from(&self, at: Time, until: Time) -> Option<Time> {
        let warm = |spell: &Spell| {
            let warm = at.max(spell.from + WARM_UP);
            (spell.to.is_none_or(|to| warm < to) && warm < until).then_some(warm)
        };
        self.acting.iter().map(|(_, spell)| spell).filter_map(warm).min()
    }

    /// When a process first acted while no other did: it was started, or took the lease over; and the event of its start.
    pub(in crate::check) fn beginnings(&self) -> impl Iterator<Item = (Time, usize)> {
        let first = |(_, spell): &&(u32, Spell)| {
            let started = |told: &SubjectEvent| matches!(told.change, SubjectChange::Started { .. });
            let began = &self.history.events[spell.began].what;
            let before = |other: &Spell| other.began == spell.began && other.from < spell.from;
            let beside = |other: &Spell| other.covers(spell.from - TIE) && other.covers(spell.from);
            matches!(began, What::Subject(told) if started(told))
                && !self.acting.iter().any(|(_, other)| before(other) || beside(other))
        };
        self.acting.iter().filter(first).map(|(_, spell)| (spell.from, spell.began))
    }

    /// When the next process began to act after a moment.
    pub(in crate::check) fn next_start(&self, after: Time) -> Option<Time> {
        self.acting.iter().map(|(_, spell)| spell.from).filter(|from| *from > after).min()
    }

    /// Whether the same process of a replica acted all the time between two moments.
    pub(in crate::check) fn same(&self, replica: u32, from: Time, to: Time) -> bool {
        self.acting.iter().any(|(other, spell)| *other == replica && spell.spans(from, to))
    }

    /// Whether it ran all the time, and nothing that it asked for was refused, late or lost, nor shortly before.
    pub(in crate::check) fn calm(&self, from: Time, to: Time) -> bool {
        self.calm_for(from, to, |_| true)
    }

    /// The same, but for orders for pools that are of no concern.
    fn calm_for(&self, from: Time, to: Time, concerns: impl Fn(&str) -> bool) -> bool {
        self.watched(from, to) && self.echo(from, to, |it| it.pool.as_deref().is_none_or(&concerns)).is_none()
    }

    /// The first moment from `at` on from which it was awake, and calm but for what is of no concern, for so long before `until`:
    /// an excuse lasts as long as its reason, and its echo.
    pub(in crate::check) fn calm_from(
        &self,
        at: Time,
        lasting: Duration,
        until: Time,
        concerns: impl Fn(&Trouble) -> bool,
    ) -> Option<Time> {
        let mut at = at;
        loop {
            at = self.awake_from(at, until)?;
            let to = at + lasting;
            if to > until {
                return None;
            }
            if let Some(echo) = self.echo(at, to, &concerns) {
                at = echo + TIE;
            } else if self.watched(at, to) {
                return Some(at);
            } else {
                let there = self.acting.iter().filter(|(_, spell)| spell.covers(at));
                at = there.filter_map(|(_, spell)| spell.to).max()?;
            }
        }
    }

    /// Until when is heard what went wrong between two moments, or shortly before, and is of concern.
    fn echo(&self, from: Time, to: Time, concerns: impl Fn(&Trouble) -> bool) -> Option<Time> {
        let troubles = |it: &&Trouble| it.began <= to && it.ended + ECHO >= from && concerns(it);
        self.troubled.iter().filter(troubles).map(|it| it.ended + ECHO).max()
    }

    /// Whether a write of an object went wrong between two moments: who cannot write it takes nothing away from it.
    pub(in crate::check) fn hindered(&self, kind: &str, name: &str, from: Time, to: Time) -> bool {
        let path = format!("/{kind}/{name}");
        self.history.events.iter().filter(|event| from <= event.at).any(|event| match &event.what {
            What::Call(call) => {
                let writes = matches!(call.method.as_str(), "PUT" | "PATCH") && call.path.ends_with(&path);
                call.to == Api::Kubernetes && writes && call.began <= to && went_wrong(call)
            }
            _ => false,
        })
    }

    /// The last moment at which something went wrong that makes it not calm between two, orders left out.
    pub(in crate::check) fn last_trouble_but_orders(&self, from: Time, to: Time) -> Option<Time> {
        let others = self.troubled.iter().filter(|it| it.pool.is_none());
        others.filter(|it| it.began <= to && it.ended + ECHO >= from).map(|it| it.ended).max()
    }

    /// When it was over that it stood in an order between two moments, if it did.
    pub(in crate::check) fn busy_until(&self, from: Time, to: Time) -> Option<Time> {
        let within = self.busy.iter().filter(|(began, ended)| *began <= to && *ended >= from);
        within.map(|(_, ended)| *ended).max()
    }

    /// Whether it may have stood in an order between two moments: its loop waits until the cloud is done.
    pub(in crate::check) fn busy(&self, from: Time, to: Time) -> bool {
        self.busy.iter().any(|(began, ended)| *began <= to && *ended >= from)
    }

    /// Until when it may have stood in an order.
    pub(in crate::check) fn stands_until(&self, order: &Order) -> Time {
        let same = self.orders.iter().zip(&self.busy).filter(|(other, _)| other.event == order.event);
        same.map(|(_, (_, ended))| *ended).fold(order.ended, Time::max)
    }

    /// Whether lists of the cloud said what was not so at any moment between two, or shortly before: lacked what was there,
    /// showed it twice, or lagged behind. Whoever believes them does not know what there is.
    pub(in crate::check) fn misled(&self, from: Time, to: Time) -> bool {
        let lies = |fault: &FaultSpell| matches!(fault.of_the_cloud(), Some("torn_list" | "unseen"));
        let cache = self.timer(Timer::CloudCache).unwrap_or_default() + self.slack();
        self.faults.iter().any(|fault| {
            let until = fault.spell.to.map_or(self.end, |to| to + cache);
            lies(fault) && fault.spell.from <= to && from <= until
        })
    }

    /// Whether it could have been expected to do something between two moments.
    pub(in crate::check) fn free(&self, from: Time, to: Time) -> bool {
        self.calm(from, to) && !self.busy(from, to)
    }

    /// The same for pools that are of concern, of a subject whose orders run beside each other: what goes wrong with an order for
    /// another pool, and how long it takes, is no excuse.
    pub(in crate::check) fn free_for(&self, from: Time, to: Time, concerns: impl Fn(&str) -> bool) -> bool {
        let mut ordered = self.orders.iter().filter(|order| order.pool.as_deref().is_none_or(&concerns));
        self.calm_for(from, to, &concerns)
            && !ordered.any(|order| order.began <= to && order.ended + self.slack() >= from)
    }
}

/// A call that went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::check) struct Trouble {
    began: Time,
    ended: Time,
    /// The pool for which something was ordered by it.
    pub(in crate::check) pool: Option<String>,
    /// The one object it was about, by kind and name.
    pub(in crate::check) object: Option<(String, String)>,
}

/// Whether a call is a watch.
pub(in crate::check) fn is_watch(call: &CallEvent) -> bool {
    call.query.split('&').any(|part| part == "watch=true" || part == "watch=1")
}

/// Whether a call had another end than it should.
pub(in crate::check) fn went_wrong(call: &CallEvent) -> bool {
    let eviction = call.path.ends_with("/eviction");
    call.fate.is_some()
        || (call.status == 0 && !is_watch(call) && !call.open)
        || call.status >= 500
        || (call.status == 429 && !eviction)
        || call.status == 403
        || (call.to == Api::Cloud && call.status >= 400 && !is_its_own_doing(call))
}

/// Whether the cloud refuses what it refuses any Karpenter that is well: a server is asked for until it is gone, and claims that
/// are launched together make the same placement group.
fn is_its_own_doing(call: &CallEvent) -> bool {
    (call.method == "GET" && call.status == 404 && call.path.contains("/servers/"))
        || (call.method == "POST" && call.status == 409 && call.path.ends_with("/placement_groups"))
}

/// When each replica ran; of several only while it led. Whether one of several led is unknown without a lease.
pub(super) fn acting(history: &History) -> Vec<(u32, Spell)> {
    let running = query::running(history);
    let alone = running.len() == 1;
    let (hosts, leases) = (query::hosts(history), query::leader_lease(history, "cluster-autoscaler"));
    let mut acting = Vec::new();
    for (replica, spells) in running {
        let leads = |host: &String| {
            leases.values().flat_map(|lease| lease.spells(|lease| lease.holder == *host)).collect::<Vec<_>>()
        };
        let led = hosts.get(&replica).map(leads).unwrap_or_default();
        for ran in spells {
            if alone {
                acting.push((replica, ran));
                continue;
            }
            for spell in led.iter().filter(|spell| spell.touches(ran.from, ran.to.unwrap_or(Time::NEVER))) {
                let to = [ran.to, spell.to].into_iter().flatten().min();
                acting.push((replica, Spell { from: ran.from.max(spell.from), to, ..ran }));
            }
        }
    }
    acting
}

/// The calls that went wrong.
pub(super) fn troubled(history: &History, end: Time) -> Vec<Trouble> {
    let mut troubled = Vec::new();
    for (index, event) in history.events.iter().enumerate() {
        let What::Call(call) = &event.what else { continue };
        if !went_wrong(call) {
            continue;
        }
        let closes = |later: &&Event| match &later.what {
            What::Call(other) => !other.open && other.began == call.began && other.path == call.path,
            _ => false,
        };
        let until = if call.open {
            history.events[index + 1..].iter().find(closes).map_or(end, |closing| closing.at)
        } else {
            event.at
        };
        let pool = ordered_from(call, history.header.subject.provider);
        troubled.push(Trouble { began: call.began, ended: until, pool, object: object_of(call) });
    }
    troubled
}

/// The one object that a call is about: the one that its path names, or the claim for which it has a server made.
fn object_of(call: &CallEvent) -> Option<(String, String)> {
    let claim = call.request.as_ref().and_then(|request| request["labels"][CLAIM_LABEL].as_str());
    if let Some(claim) = claim.filter(|_| call.method == "POST" && call.path.ends_with("/servers")) {
        return Some(("nodeclaims".to_owned(), claim.to_owned()));
    }
    let parts: Vec<&str> = call.path.trim_start_matches('/').split('/').collect();
    let at = parts.iter().position(|part| NAMED.contains(part))?;
    let name = parts.get(at + 1)?;
    Some((parts[at].to_owned(), (*name).to_owned()))
}

/// The pool from which a call orders.
fn ordered_from(call: &CallEvent, provider: Provider) -> Option<String> {
    let orders = call.path.ends_with("/servers") || call.path.ends_with("/nodeclaims");
    let pool = query::ordered_pool(call, provider).filter(|_| orders && call.method == "POST");
    pool.map(str::to_owned)
}

/// From when to when the subject may have stood in an order. It polls for the end at intervals that double, so it may notice
/// only after as long again; never longer than it waits at all.
pub(super) fn busy(scene: &Scene<'_>) -> Vec<(Time, Time)> {
    if scene.history.header.subject.provider == Provider::Clusterapi {
        // Who writes a number into an object waits for nothing.
        return scene.orders.iter().map(|order| (order.began, order.ended + scene.slack())).collect();
    }
    let longest = scene.timer(Timer::CreationTimeout).unwrap_or(Duration::from_secs(300));
    let until = |order: &Order| {
        let server = scene.server_of(order).and_then(|id| scene.servers.get(&id));
        let settled = server.and_then(|track| {
            track.seen.iter().find(|seen| seen.state.as_ref().is_none_or(|server| server.status == "running"))
        });
        let noticed = match (order.taken(), settled) {
            (true, Some(seen)) => order.began + (seen.at - order.began) * 2 + TIE,
            (true, None) => order.began + longest,
            (false, _) => order.ended,
        };
        noticed.min(order.began + longest).max(order.ended) + scene.slack()
    };
    scene.orders.iter().map(|order| (order.began, until(order))).collect()
}
