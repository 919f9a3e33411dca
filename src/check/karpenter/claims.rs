//! What happened to claims and their nodes, as the checks of Karpenter look at it. Built from a history by each check that
//! needs it; it decides nothing, and doubts favour the subject.

use std::collections::BTreeMap;
use std::time::Duration;

use mock_clock::Time;

use crate::check::scene::{Scene, TIE};
use crate::history::History;
use crate::history::query::{
    self, Claim, ClaimCall, DISRUPTED_TAINTS, Node, NodeWrite, Pod, Spell, Track, Tracks,
};
use crate::terms::{Consolidate, Disruption, DisruptionBudget, Pool, Timer};

/// From the moment at which a node may go to the one at which it is told to: a look every ten seconds, fifteen seconds in which
/// nothing may change, ten in which the events of pods are taken together; and as much again for the calls.
pub(super) const DECISION: Duration = Duration::from_secs(60);
/// How long a command may take before it is given up, and its node let go: ten minutes in all versions, more where much is
/// under way.
pub(super) const COMMAND: Duration = Duration::from_secs(630);
/// What was seen no longer than this before something was decided, whoever decided need not have known.
pub(super) const LATE: Duration = Duration::from_secs(3);
/// A pod says with this that it is not to be disrupted, and so does a node.
pub(super) const DO_NOT_DISRUPT: &str = "karpenter.sh/do-not-disrupt";

/// A history with all that these checks share.
pub(super) struct Claims<'a> {
    pub(super) scene: Scene<'a>,
    pub(super) all: Tracks<String, Claim>,
    pub(super) creations: Vec<ClaimCall>,
    pub(super) deletions: Vec<ClaimCall>,
    /// Nodes that the subject itself has told to go.
    node_deletions: Vec<NodeWrite>,
    node_writes: Vec<NodeWrite>,
    pub(super) attachments: Tracks<String, String>,
    /// Servers that the cloud has agreed to take back, and when it was asked.
    pub(super) asked_back: BTreeMap<u64, Time>,
}

/// A claim that the subject has told to go, with all that belongs to it.
pub(super) struct Going<'s> {
    pub(super) call: &'s ClaimCall,
    pub(super) claim: &'s Claim,
    pub(super) pool: &'s Pool,
    pub(super) node: &'s str,
    pub(super) track: &'s Track<Node>,
}

impl<'a> Claims<'a> {
    pub(super) fn of(history: &'a History) -> Self {
        Self {
            scene: Scene::of(history),
            all: query::claims(history),
            creations: query::claim_creations(history),
            deletions: query::claim_deletions(history),
            node_deletions: query::node_deletions(history),
            node_writes: query::node_writes(history),
            attachments: query::attachments(history),
            asked_back: query::asked_back(history),
        }
    }

    /// The node of a claim, if it ever had one that was seen: the one that it names, or the one with its provider id, for only who
    /// registers a node has its claim name it.
    pub(super) fn node_of(&self, claim: &str) -> Option<(&str, &Track<Node>)> {
        let mut seen = self.all.get(claim)?.seen.iter().rev().filter_map(|seen| seen.state.as_ref());
        let named = seen.clone().find_map(|claim| claim.node.as_deref());
        let by_id = || {
            let id = seen.find_map(|claim| claim.provider_id.as_deref())?;
            self.scene.nodes.iter().find(|(_, node)| has_id(node, id)).map(|(name, _)| name.as_str())
        };
        let name = named.or_else(by_id)?;
        self.scene.nodes.get_key_value(name).map(|(name, track)| (name.as_str(), track))
    }

    /// The claim of a node.
    pub(super) fn claim_of(&self, node: &str) -> Option<(&str, &Track<Claim>)> {
        let of = |track: &Track<Claim>| track.last().and_then(|claim| claim.node.as_deref()) == Some(node);
        let by_id = |track: &Track<Claim>| {
            let id = track.last().filter(|claim| claim.node.is_none());
            let id = id.and_then(|claim| claim.provider_id.as_deref());
            id.zip(self.scene.nodes.get(node)).is_some_and(|(id, node)| has_id(node, id))
        };
        let named = self.all.iter().find(|(_, track)| of(track));
        let claim = named.or_else(|| self.all.iter().find(|(_, track)| by_id(track)));
        claim.map(|(name, track)| (name.as_str(), track))
    }

    /// The pool of a claim, as the plan gave it.
    pub(super) fn pool_of(&self, claim: &Claim) -> Option<&'a Pool> {
        self.scene.pool(claim.pool.as_deref()?)
    }

    /// Claims that the subject told to go, when they had a node that could be used.
    pub(super) fn going(&self) -> impl Iterator<Item = Going<'_>> {
        self.deletions.iter().filter_map(|call| {
            let claim = self.all.get(&call.name)?.at(call.began).filter(|claim| claim.initialized)?;
            let (node, track) = self.node_of(&call.name)?;
            track.at(call.began)?;
            Some(Going { call, claim, pool: self.pool_of(claim)?, node, track })
        })
    }

    /// Those that it had chosen: their nodes carried the taint before, nobody had deleted them, and they were not too old.
    pub(super) fn chosen(&self) -> impl Iterator<Item = Going<'_>> {
        self.going().filter(|going| {
            let tainted = |until| going.track.ever(going.call.began - COMMAND, until, is_chosen);
            // Who only follows a node that is told to go taints it afterwards.
            let chosen = tainted(going.call.began)
                || (tainted(going.call.ended + TIE) && !self.deleted_by_others(going));
            chosen && !Self::forced(going)
        })
    }

    /// When it was decided that a claim should go: the write began by which its node got the taint, or it was told to go without.
    pub(super) fn decided(&self, going: &Going<'_>) -> Time {
        let (before, then) = (going.call.began - TIE, going.call.ended + TIE);
        let spells = going.track.spells(is_chosen);
        let Some(chosen) = spells.into_iter().rev().find(|spell| spell.touches(before, then)) else {
            return going.call.began;
        };
        let wrote = |write: &&NodeWrite| {
            let ended = self.scene.history.events[write.event].at;
            write.node == going.node && write.began <= chosen.from + TIE && chosen.from <= ended + TIE
        };
        let write = self.node_writes.iter().filter(wrote).map(|write| write.began).min();
        write.unwrap_or(chosen.from).min(chosen.from).min(going.call.began)
    }

    /// Whether something else than a choice was reason enough: the node was deleted by somebody, or had its age.
    pub(super) fn forced(going: &Going<'_>) -> bool {
        let deleted = going.track.at(going.call.began).is_some_and(|node| node.ending);
        let ending = deleted || going.track.at(going.call.began).is_none();
        let old = going.claim.created.zip(disruption(going.pool).expire_after);
        ending || old.is_some_and(|(created, age)| going.call.began + TIE >= created + age.0)
    }

    /// Whether the node was told to go by somebody else, as close to the call as makes no difference.
    pub(super) fn deleted_by_others(&self, going: &Going<'_>) -> bool {
        let Some(ending) = going.track.spells(|node| node.ending).into_iter().next() else { return false };
        let close = ending.from <= going.call.ended + TIE;
        close && !self.node_deletions.iter().any(|it| it.node == going.node && it.began <= ending.from)
    }

    /// How long a node of a pool must be left alone by pods; nothing if it is never consolidated.
    pub(super) fn after(&self, pool: &Pool) -> Option<Duration> {
        let disruption = disruption(pool);
        let unneeded = self.scene.timer(Timer::UnneededTime);
        let after = disruption.after.map(|period| period.0).or(unneeded);
        after.filter(|_| disruption.consolidate != Consolidate::Never)
    }

    /// The times for which a usable node of a claim had nothing on it but what goes with it, was ready and not protected, each
    /// with node, claim and pool.
    pub(super) fn vacancies(&self) -> Vec<(Spell, &str, &Track<Claim>, &'a Pool)> {
        let mut all = Vec::new();
        for track in self.all.values() {
            let Some(pool) = track.last().and_then(|claim| self.pool_of(claim)) else { continue };
            let Some(node) = track.last().and_then(|claim| claim.node.as_deref()) else { continue };
            let Some(usable) = track.spells(|claim| claim.initialized && !claim.ending).into_iter().next()
            else {
                continue;
            };
            let Some((node, nodes)) = self.scene.nodes.get_key_value(node) else { continue };
            for vacant in self.scene.vacant(node) {
                for free in nodes.spells(|node| node.ready && !is_protected(node)) {
                    // Nodes of the beginning are usable to Karpenter before their kubelet has said that they are ready.
                    let from = vacant.from.max(usable.from).max(free.from + TIE);
                    let began = if vacant.from < free.from { free.began } else { vacant.began };
                    let ends = [vacant, usable, free].map(|spell| spell.to.zip(spell.ended));
                    let (to, ended) = ends.into_iter().flatten().min().unzip();
                    if from < to.unwrap_or(self.scene.end) {
                        all.push((Spell { from, to, began, ended }, node.as_str(), track, pool));
                    }
                }
            }
        }
        all
    }

    /// When a pod last came to a node or began to leave it, before a moment, and the event that shows it.
    pub(super) fn last_pod_event(&self, node: &str, before: Time) -> Option<(Time, usize)> {
        let on = |pod: &Pod| pod.occupies(node) && !pod.ending;
        let turns = self.scene.pods_on(node).flat_map(|(_, track)| {
            let spells = track.spells(on).into_iter();
            spells.flat_map(|spell| [Some((spell.from, spell.began)), spell.to.zip(spell.ended)]).flatten()
        });
        turns.filter(|(at, _)| *at <= before).max()
    }

    /// So many of a pool may go at a time, as its budgets say for this many nodes; nothing if they say more than a number.
    pub(super) fn allowed(pool: &Pool, nodes: usize) -> Option<usize> {
        let plain = disruption(pool).budgets.is_none_or(|budgets| budgets.iter().all(is_plain));
        Self::at_most(pool, nodes).filter(|_| plain)
    }

    /// So many of a pool may go at a time at most, whatever those budgets say that do not always count.
    pub(super) fn at_most(pool: &Pool, nodes: usize) -> Option<usize> {
        let Some(budgets) = disruption(pool).budgets else { return part(nodes, "10%") };
        if budgets.is_empty() {
            return Some(nodes);
        }
        budgets.iter().filter(|budget| is_plain(budget)).filter_map(|budget| part(nodes, &budget.nodes)).min()
    }
}

/// Whether a budget counts at any time and for any reason.
fn is_plain(budget: &DisruptionBudget) -> bool {
    budget.schedule.is_none() && budget.reasons.is_empty()
}

/// Whether a node ever said that the cloud calls it so.
fn has_id(node: &Track<Node>, id: &str) -> bool {
    let mut seen = node.seen.iter().filter_map(|seen| seen.state.as_ref());
    seen.any(|node| node.provider_id.as_deref() == Some(id))
}

/// How the nodes of a pool are disrupted.
pub(super) fn disruption(pool: &Pool) -> Disruption {
    pool.disruption.clone().unwrap_or_default()
}

/// Whether a node carries the taint of those that were chosen.
pub(super) fn is_chosen(node: &Node) -> bool {
    DISRUPTED_TAINTS.iter().any(|taint| node.has_taint(taint))
}

/// Whether a node says that it is not to be disrupted.
pub(super) fn is_protected(node: &Node) -> bool {
    node.annotations.get(DO_NOT_DISRUPT).is_some_and(|value| value == "true")
}

/// Whether a pod says that it is not to be disrupted.
pub(super) fn is_pinned(pod: &Pod) -> bool {
    pod.annotations.get(DO_NOT_DISRUPT).is_some_and(|value| value == "true")
}

/// `3` or `10%` of so many nodes, rounded up.
fn part(nodes: usize, written: &str) -> Option<usize> {
    match written.strip_suffix('%') {
        Some(percent) => percent.parse::<usize>().ok().map(|percent| (nodes * percent).div_ceil(100)),
        None => written.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_rounded_up() {
        assert_eq!(
            (part(5, "10%"), part(20, "10%"), part(5, "0%"), part(5, "3")),
            (Some(1), Some(2), Some(0), Some(3))
        );
        assert_eq!(part(5, "some"), None);
    }
}
