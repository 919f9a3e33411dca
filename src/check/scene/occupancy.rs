//! What runs on a node, and whether that is much.

use std::collections::BTreeMap;

use mock_clock::Time;

use super::Scene;
use crate::history::query::{Daemon, Node, Pod, Spell, Track, Tracks};
use crate::terms::{Room, SubjectOption};

/// What residents ever asked for on one node, or would ask for, at most.
pub(super) fn residents(pods: &Tracks<String, Pod>, daemons: &Tracks<String, Daemon>) -> Room {
    let mut by_node: BTreeMap<&str, Room> = BTreeMap::new();
    for pod in pods.values().filter_map(|track| track.last()).filter(|pod| pod.resident()) {
        let node = by_node.entry(pod.node.as_deref().unwrap_or_default()).or_default();
        *node = *node + pod.asks;
    }
    let daemons = daemons.values().filter_map(|track| track.last()).map(|daemon| daemon.asks).sum();
    by_node.values().fold(daemons, |most, room| Room {
        cpu_milli: most.cpu_milli.max(room.cpu_milli),
        memory_mib: most.memory_mib.max(room.memory_mib),
    })
}

/// What pods ask for together.
fn sum<'p>(pods: impl Iterator<Item = &'p Pod>) -> Room {
    pods.map(|pod| pod.asks).sum()
}

impl Scene<'_> {
    /// The tracks of all pods that ever were on a node.
    pub(in crate::check) fn pods_on(&self, node: &str) -> impl Iterator<Item = (&str, &Track<Pod>)> {
        let keys = self.pods_of_node.get(node).into_iter().flatten();
        keys.filter_map(|key| Some((key.as_str(), self.pods.get(key)?)))
    }

    /// The pods that make a node needed at a moment.
    pub(in crate::check) fn occupants(&self, node: &str, at: Time) -> Vec<&Pod> {
        self.pods_on(node).filter_map(|(_, track)| track.at(at)).filter(|pod| pod.occupies(node)).collect()
    }

    /// The times for which a node was there with nothing on it but what goes with it.
    pub(in crate::check) fn vacant(&self, node: &str) -> Vec<Spell> {
        let Some(track) = self.nodes.get(node) else { return Vec::new() };
        let mut taken: Vec<Spell> =
            self.pods_on(node).flat_map(|(_, pod)| pod.spells(|pod| pod.occupies(node))).collect();
        taken.sort_by_key(|spell| spell.from);
        let mut vacant = Vec::new();
        for there in track.spells(|_| true) {
            let mut free = Some((there.from, there.began));
            for spell in
                taken.iter().filter(|spell| spell.touches(there.from, there.to.unwrap_or(Time::NEVER)))
            {
                let Some((from, began)) = free else { break };
                if from < spell.from {
                    vacant.push(Spell { from, to: Some(spell.from), began, ended: Some(spell.began) });
                }
                free = match (spell.to, spell.ended) {
                    (Some(to), Some(ended)) if to > from => Some((to, ended)),
                    (Some(_), _) => free,
                    (None, _) => None,
                };
            }
            if let Some((from, began)) = free
                && there.to.is_none_or(|to| from < to)
            {
                vacant.push(Spell { from, to: there.to, began, ended: there.ended });
            }
        }
        vacant
    }

    /// Pods of a lower priority do not count; the documents' default is -10.
    pub(in crate::check) fn cutoff(&self) -> i64 {
        let option = self.option(SubjectOption::ExpendablePodsPriorityCutoff);
        option.and_then(|cutoff| cutoff.parse().ok()).unwrap_or(-10)
    }

    /// Whether a pod keeps no node: its node may go under it, and nobody asks it to go before.
    pub(in crate::check) fn expendable(&self, pod: &Pod) -> bool {
        pod.priority < self.cutoff()
    }

    /// What the pods on a node ask for at a moment, residents and those that do not count left out.
    pub(in crate::check) fn asked_of(&self, node: &str, at: Time) -> Room {
        sum(self.occupants(node, at).into_iter().filter(|pod| !self.expendable(pod)))
    }

    /// What all pods on a node take from others at a moment, residents included, those that do not count left out.
    pub(in crate::check) fn taken_on(&self, node: &str, at: Time) -> Room {
        let bound = self.pods_on(node).filter_map(|(_, track)| track.at(at));
        let residents = bound.filter(|pod| pod.resident() && pod.node.as_deref() == Some(node));
        self.asked_of(node, at) + sum(residents.filter(|pod| !pod.finished()))
    }

    /// How much of a node must be used to keep it, in percent.
    pub(in crate::check) fn threshold(&self) -> u64 {
        self.option(SubjectOption::UtilizationThreshold)
            .and_then(|percent| percent.parse().ok())
            .unwrap_or(50)
    }

    /// Whether the pods on a node, even without residents and those that have been told to end, ask for more than the threshold.
    pub(in crate::check) fn well_used(&self, node: &str, state: &Node, at: Time) -> bool {
        let counts = |pod: &&Pod| !pod.ending && !self.expendable(pod);
        let asked = sum(self.occupants(node, at).into_iter().filter(counts));
        let threshold = self.threshold();
        asked.cpu_milli * 100 > state.room.cpu_milli * threshold
            || asked.memory_mib * 100 > state.room.memory_mib * threshold
    }

    /// The moments at which anything on a node changed.
    pub(in crate::check) fn changes_on(&self, node: &str, from: Time, to: Time) -> Vec<Time> {
        let pods = self.pods_on(node).flat_map(|(_, track)| track.seen.iter().map(|seen| seen.at));
        let nodes = self.nodes.get(node).into_iter().flat_map(|track| track.seen.iter().map(|seen| seen.at));
        let mut moments: Vec<Time> = pods.chain(nodes).filter(|at| from <= *at && *at <= to).collect();
        moments.extend([from, to]);
        moments.sort_unstable();
        moments.dedup();
        moments
    }

    /// Whether the pods on a node asked for more than the threshold all the time between two moments.
    pub(in crate::check) fn well_used_throughout(&self, node: &str, from: Time, to: Time) -> bool {
        let Some(track) = self.nodes.get(node) else { return false };
        let used =
            |at: Time| track.at(at).is_some_and(|state| state.ready && self.well_used(node, state, at));
        self.changes_on(node, from, to).into_iter().all(used)
    }

    /// Whether there are so many unready nodes that the subject stands still: more than three, and more than 45 %.
    pub(in crate::check) fn mostly_unready(&self, at: Time) -> bool {
        let there: Vec<&Node> = self.nodes.values().filter_map(|track| track.at(at)).collect();
        let unready = there.iter().filter(|node| !node.ready).count();
        unready > 3 && unready * 100 > there.len() * 45
    }

    /// Whether there were so many at any moment between two: what is known of unneeded nodes is forgotten then.
    pub(in crate::check) fn ever_mostly_unready(&self, from: Time, to: Time) -> bool {
        let changes = self.nodes.values().flat_map(|track| track.seen.iter().map(|seen| seen.at));
        changes.filter(|at| from < *at && *at < to).chain([from, to]).any(|at| self.mostly_unready(at))
    }
}
