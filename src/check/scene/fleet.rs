//! Servers, whose they are, and which node runs on which.

use std::collections::BTreeSet;
use std::time::Duration;

use mock_clock::Time;

use super::{Scene, TIE};
use crate::history::query::{GiveBack, Node, Order, REMOVAL_TAINT, Server, Spell, Track};
use crate::terms::{Pool, Provider, SubjectOption, Timer};

/// For so long a list of machine types is believed; no flag shortens that.
const TYPES: Duration = Duration::from_secs(600);
/// For so long Karpenter's providers do not ask again for what was sold out: three minutes, and five in some.
const SOLD_OUT: Duration = Duration::from_secs(300);

impl<'a> Scene<'a> {
    pub(super) fn index(&mut self) {
        for (index, order) in self.orders.iter().enumerate() {
            if let Some(server) = self.server_of(order) {
                self.order_of_server.entry(server).or_insert(index);
            }
        }
        for back in self.give_backs.iter().filter(|back| back.taken()) {
            let first = self.given_back_at.entry(back.server).or_insert(back.began);
            *first = back.began.min(*first);
        }
        for (key, track) in &self.pods {
            let on = track.seen.iter().filter_map(|seen| seen.state.as_ref()?.node.clone());
            for node in on.collect::<BTreeSet<_>>() {
                self.pods_of_node.entry(node).or_default().push(key.clone());
            }
        }
        for (name, track) in &self.nodes {
            let by_id = track.seen.iter().filter_map(|seen| seen.state.as_ref()?.server());
            let by_name = self
                .servers
                .iter()
                .filter(|(_, server)| server.last().is_some_and(|server| server.name == *name));
            for id in by_id.chain(by_name.map(|(id, _)| *id)).collect::<BTreeSet<_>>() {
                self.nodes_of_server.entry(id).or_default().push(name.clone());
            }
        }
    }

    /// The server of an order: as the answer told it, or by its name.
    pub(in crate::check) fn server_of(&self, order: &Order) -> Option<u64> {
        let named = |(id, track): (&u64, &Track<_>)| {
            let named = track.last().is_some_and(|server: &Server| server.name == order.name);
            named.then_some(*id)
        };
        order
            .server
            .or_else(|| if order.name.is_empty() { None } else { self.servers.iter().find_map(named) })
    }

    /// The order that bought a server.
    pub(in crate::check) fn order_of(&self, server: u64) -> Option<&Order> {
        self.orders.get(*self.order_of_server.get(&server)?)
    }

    /// The pool of a server.
    pub(in crate::check) fn pool_of(&self, server: u64) -> Option<&str> {
        self.servers.get(&server)?.last()?.pool.as_deref()
    }

    /// The servers of a pool that exist at a moment and have not been given back.
    pub(in crate::check) fn live(&self, pool: &str, at: Time) -> Vec<u64> {
        let lives = |(id, track): (&u64, &Track<Server>)| {
            let there = track.at(at).is_some_and(|server| server.pool.as_deref() == Some(pool));
            (there && !self.given_back(*id, at)).then_some(*id)
        };
        self.servers.iter().filter_map(lives).collect()
    }

    /// Whether a server had been given back by a moment.
    pub(in crate::check) fn given_back(&self, server: u64, at: Time) -> bool {
        self.given_back_at.get(&server).is_some_and(|began| *began <= at)
    }

    /// The nodes that ever ran on a server, with their tracks.
    pub(in crate::check) fn nodes_on(&self, server: u64) -> impl Iterator<Item = (&str, &Track<Node>)> {
        let names = self.nodes_of_server.get(&server).into_iter().flatten();
        names.filter_map(|name| Some((name.as_str(), self.nodes.get(name)?)))
    }

    /// The server under a node at a moment.
    pub(in crate::check) fn under(&self, node: &str, at: Time) -> Option<u64> {
        let by_name = || {
            let named = |(id, track): (&u64, &Track<Server>)| {
                track.at(at).is_some_and(|server| server.name == node).then_some(*id)
            };
            self.servers.iter().find_map(named)
        };
        let state = self.nodes.get(node)?.at(at)?;
        match &state.provider_id {
            Some(_) => state.server(),
            None => by_name(),
        }
    }

    /// The pool of a node, by its server.
    pub(in crate::check) fn pool_of_node(&self, node: &str, at: Time) -> Option<&str> {
        self.pool_of(self.under(node, at)?).filter(|pool| self.pool(pool).is_some())
    }

    /// When a node first said on which server it runs: only then the subject counts it as registered.
    pub(in crate::check) fn registered(&self, server: u64) -> Option<Time> {
        let says = |(_, track): (&str, &Track<Node>)| {
            let mut seen = track.seen.iter();
            seen.find(|seen| seen.state.as_ref().is_some_and(|node| node.server() == Some(server)))
                .map(|seen| seen.at)
        };
        self.nodes_on(server).filter_map(says).min()
    }

    /// When its node was first ready.
    pub(in crate::check) fn ready(&self, server: u64) -> Option<Time> {
        let ready = |(_, track): (&str, &Track<Node>)| {
            track.spells(|node| node.ready).first().map(|spell| spell.from)
        };
        self.nodes_on(server).filter_map(ready).min()
    }

    /// When the removal that a give-back ends was decided: its taint was seen, or else when it was given back.
    pub(in crate::check) fn decided(&self, back: &GiveBack) -> Time {
        self.tainted(back).map_or(back.began, |(at, _)| at.min(back.began))
    }

    /// When, and in which event, the taint of the removal that a give-back ends was seen.
    pub(in crate::check) fn tainted(&self, back: &GiveBack) -> Option<(Time, usize)> {
        let taints = self
            .nodes_on(back.server)
            .flat_map(|(_, track)| track.spells(|node| node.has_taint(REMOVAL_TAINT)));
        let mut before = taints.filter(|spell| spell.touches(back.began - TIE, back.began + TIE));
        before.next().map(|spell| (spell.from, spell.began))
    }

    /// Give-backs that the cloud took of servers with a registered node: removals, not the clearing away of what never came, or
    /// what the cloud took too long to make.
    pub(in crate::check) fn removals(&self) -> impl Iterator<Item = (&GiveBack, &str, &Track<Node>)> {
        self.give_backs.iter().filter(|back| back.taken() && !self.clears(back)).filter_map(|back| {
            let there = |(_, track): &(&str, &Track<Node>)| {
                track.at(back.began).is_some_and(|node| node.server() == Some(back.server))
            };
            let (name, track) = self.nodes_on(back.server).find(there)?;
            Some((back, name, track))
        })
    }

    /// Whether a give-back clears an order away: the server was not yet made, or its time for that was just over.
    pub(in crate::check) fn clears(&self, back: &GiveBack) -> bool {
        let Some(order) = self.order_of(back.server) else { return false };
        let made = self
            .servers
            .get(&back.server)
            .is_some_and(|track| track.ever(order.began, back.began, |server| server.status == "running"));
        !made || (self.in_vain(order, back) && self.ready(back.server).is_none_or(|ready| ready > back.began))
    }

    /// Whether the time that an order has for its server to be made was just over when it was given back.
    pub(in crate::check) fn in_vain(&self, order: &Order, back: &GiveBack) -> bool {
        let timeout = order.began + self.timer(Timer::CreationTimeout).unwrap_or_default();
        timeout <= back.began + TIE && back.began <= timeout + self.slack()
    }

    /// Servers that were ordered before a moment, exist, and have no ready node yet.
    pub(in crate::check) fn upcoming(&self, at: Time, since: Duration) -> Vec<(&Order, u64)> {
        let comes = |order: &&Order| order.taken() && order.began < at && order.began + since > at;
        let orders = self.orders.iter().filter(comes);
        let with_server = orders.filter_map(|order| Some((order, self.server_of(order)?)));
        with_server
            .filter(|(_, id)| self.servers.get(id).is_some_and(|track| track.at(at).is_some()))
            .filter(|(_, id)| !self.given_back(*id, at) && self.ready(*id).is_none_or(|ready| ready > at))
            .collect()
    }

    /// How long a pool may be left alone after an order for it failed. Karpenter's documents name no timer; its providers take an
    /// offering for sold out for some minutes.
    pub(in crate::check) fn longest_back_off(&self) -> Duration {
        match self.history.header.subject.provider {
            Provider::Karpenter => SOLD_OUT,
            Provider::Hetzner | Provider::Clusterapi => {
                self.timer(Timer::BackoffMax).unwrap_or(Duration::MAX)
            }
        }
    }

    /// Whether one node more may be too much in all: there are as many as there may be, or cores or memory are limited, of which
    /// nobody knows how much is counted.
    pub(in crate::check) fn limited(&self, at: Time) -> bool {
        let most = self.option(SubjectOption::MaxNodesTotal).and_then(|most| most.parse::<usize>().ok());
        let nodes = self.nodes.values().filter(|track| track.at(at).is_some()).count();
        let bare = |id: &u64| self.nodes_on(*id).all(|(_, track)| track.at(at).is_none());
        let machines = self.pools().iter().flat_map(|pool| self.live(&pool.name, at)).filter(bare).count();
        most.is_some_and(|most| nodes + machines >= most)
            || self.option(SubjectOption::CoresTotal).is_some()
            || self.option(SubjectOption::MemoryTotal).is_some()
    }

    /// Whether so many nodes of a pool are unready that cluster-autoscaler may leave it out: more than three, and more than 45 %.
    pub(in crate::check) fn ails(&self, pool: &Pool, at: Time) -> bool {
        if self.history.header.subject.provider == Provider::Karpenter {
            return false;
        }
        let live = self.live(&pool.name, at);
        let unready = |id: &&u64| {
            let mut nodes = self.nodes_on(**id).filter_map(|(_, track)| track.at(at));
            nodes.any(|node| !node.ready)
        };
        let unready = live.iter().filter(unready).count();
        unready > 3 && unready * 100 > live.len() * 45
    }

    /// When the machines of a pool were not sold, by the faults that the plan names.
    pub(in crate::check) fn unsold(&self, pool: &Pool) -> Vec<Spell> {
        let steps = self.history.header.plan["steps"].as_array().into_iter().flatten();
        let retired = steps.filter_map(|step| {
            let hurt = &step["act"]["hurt"];
            let (name, trouble) = (hurt["name"].as_str()?, &hurt["fault"]["cloud"]);
            let concerns = trouble["kind"] == "retired" && trouble["server_type"] == pool.machine.as_str();
            concerns.then_some(name)
        });
        let spells = |name: &'a str| self.faults.iter().filter(move |fault| fault.name == name);
        retired.flat_map(spells).map(|fault| fault.spell).collect()
    }

    /// Whether a pool had, or was believed to have, no machines that are sold at any moment between two.
    pub(in crate::check) fn sells_nothing(&self, pool: &Pool, from: Time, to: Time) -> bool {
        pool.also.is_empty() && self.unsold(pool).iter().any(|spell| spell.touches(from - TYPES, to))
    }

    /// Whether an order for a pool was refused or lost between two moments, or a server of it never came: it may be in back-off.
    pub(in crate::check) fn may_back_off(&self, pool: &str, from: Time, to: Time) -> bool {
        let failed = |order: &Order| {
            order.pool.as_deref() == Some(pool) && !order.taken() && order.ended >= from && order.began <= to
        };
        let cleared = |back: &GiveBack| {
            let never = self.ready(back.server).is_none_or(|ready| ready > back.began);
            never && self.pool_of(back.server) == Some(pool) && back.began >= from && back.began <= to
        };
        let overdue = |order: &Order| {
            let id = self.server_of(order);
            order.pool.as_deref() == Some(pool)
                && order.taken()
                && id.is_some_and(|id| self.is_missed(order, id, from, to))
        };
        self.orders.iter().any(|order| failed(order) || overdue(order)) || self.give_backs.iter().any(cleared)
    }

    /// Whether a server that was there between two moments had not been made in its time by the second, or had no ready node, and
    /// that time ended no earlier: it fails once, however long it stays.
    fn is_missed(&self, order: &Order, server: u64, from: Time, to: Time) -> bool {
        let Some(track) = self.servers.get(&server) else { return false };
        let runs = track.ever(order.began, to, |server| server.status == "running");
        let provision = self.timer(Timer::ProvisionTime);
        let granted = self.timer(Timer::CreationTimeout).filter(|_| !runs).or(provision);
        let due = order.began + granted.unwrap_or_default();
        track.ever(from, to, |_| true)
            && !self.given_back(server, from)
            && due <= to + self.slack()
            && from <= due + self.listing()
            && self.ready(server).is_none_or(|ready| ready > to)
    }
}
