//! From the world and what is remembered of it to what shall be done: the whole of the autoscaler's judgement.
//!
//! It is a function of view, memory and settings; nothing here waits or asks. Parts: [`standing`] of the pools,
//! [`scale_up`] with its [`expander`], [`scale_down`] with what is [`drainable`].

mod drainable;
mod expander;
mod scale_down;
mod scale_up;
mod standing;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::defect::Defect;
use crate::memory::Memory;
use crate::settings::Settings;
use crate::simulate::{HOSTNAME, Place, Room};
use crate::view::{Node, Owner, Pod, View};

pub(crate) use expander::Expander;
use standing::{Stage, Standing};

/// Taints of ours.
pub(crate) const TO_BE_DELETED: &str = "ToBeDeletedByClusterAutoscaler";
pub(crate) const CANDIDATE: &str = "DeletionCandidateOfClusterAutoscaler";

/// What shall be done.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Decision {
    /// Servers that never became nodes, or that nobody wants.
    pub(crate) discard: Vec<u64>,
    pub(crate) buys: Vec<Buy>,
    /// Pods for which nothing can be bought, and why.
    pub(crate) hopeless: Vec<(String, String)>,
    /// Nodes that get the soft taint, and nodes that lose it.
    pub(crate) mark: Vec<String>,
    pub(crate) unmark: Vec<String>,
    pub(crate) removals: Vec<Removal>,
    /// Pools whose machines did not come in time.
    pub(crate) timed_out: Vec<String>,
    pub(crate) healthy: bool,
}

/// Machines of a pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Buy {
    pub(crate) pool: String,
    pub(crate) count: usize,
    /// The size of the pool before.
    pub(crate) from: usize,
    /// For whom, by key.
    pub(crate) pods: Vec<String>,
}

/// A node that goes, with its server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Removal {
    pub(crate) node: String,
    pub(crate) server: u64,
    /// To be evicted and waited for, by key.
    pub(crate) pods: Vec<String>,
    /// To be evicted if that can be had, by key.
    pub(crate) daemons: Vec<String>,
}

pub(crate) fn decide(
    view: &View,
    memory: &mut Memory,
    settings: &Settings,
    expander: &mut Expander,
) -> Decision {
    let mut decision = Decision::default();
    let mut standings = standing::standings(view, memory, settings);
    note_arrivals(view, memory, settings, &standings, &mut decision);
    discard(view, memory, settings, &mut standings, &mut decision);
    decision.healthy = is_healthy(&standings, view, settings) || settings.has(Defect::ScalesUnhealthyCluster);
    if !decision.healthy {
        memory.unneeded.clear();
        return decision;
    }
    let mut room = room(view, memory, settings, &standings);
    resettle(view, memory, &mut room);
    scale_up::scale_up(view, memory, settings, expander, &mut standings, &mut room, &mut decision);
    scale_down::scale_down(view, memory, settings, &standings, &room, &mut decision);
    decision
}

/// Which pools have kept their word, and which have broken it.
fn note_arrivals(
    view: &View,
    memory: &mut Memory,
    settings: &Settings,
    standings: &BTreeMap<String, Standing>,
    decision: &mut Decision,
) {
    let patience = settings.arguments.max_node_provision_time;
    for (pool, since) in memory.awaited.clone() {
        let Some(standing) = standings.get(&pool) else { continue };
        let late =
            standing.machines.iter().any(|machine| matches!(machine.stage, Stage::Overdue | Stage::Failed));
        if standing.upcoming(settings) == 0 && !late {
            memory.kept_its_word(view.now, &pool);
        } else if view.now.since(since) >= patience && !settings.has(Defect::TrustsPhantoms) {
            memory.awaited.remove(&pool);
            memory.failed(view.now, &pool, settings);
            decision.timed_out.push(pool);
        }
    }
}

/// Gives up what never became a node, down to the minimum.
fn discard(
    view: &View,
    memory: &mut Memory,
    settings: &Settings,
    standings: &mut BTreeMap<String, Standing>,
    decision: &mut Decision,
) {
    for (name, standing) in standings {
        let pool = &settings.pools[name];
        let min = if settings.has(Defect::RemovesUnregisteredBelowMin) { 0 } else { pool.min };
        let mut size = standing.size();
        for machine in &mut standing.machines {
            let overdue = machine.stage == Stage::Overdue
                && !settings.has(Defect::LeaksUnregisteredServers)
                && !settings.has(Defect::TrustsPhantoms);
            let excess =
                settings.has(Defect::ShrinksAboveMax) && size > pool.max && machine.stage == Stage::Ready;
            let failed = machine.stage == Stage::Failed;
            if failed {
                memory.failed(view.now, name, settings);
            }
            if ((overdue || failed) && size > min) || excess {
                size -= 1;
                machine.stage = Stage::Ending;
                memory.given_up.insert(machine.id);
                decision.discard.push(machine.id);
            }
        }
    }
}

/// Whether so few nodes are unready that what is seen can be believed.
fn is_healthy(standings: &BTreeMap<String, Standing>, view: &View, settings: &Settings) -> bool {
    let starting: Vec<&String> = standings
        .values()
        .flat_map(|standing| &standing.machines)
        .filter(|machine| machine.stage == Stage::Starting)
        .filter_map(|machine| machine.node.as_ref())
        .collect();
    let startup = settings.arguments.max_node_startup_time;
    let unready = |node: &&Node| {
        !node.ready
            && !starting.contains(&&node.name)
            && view.now.since(node.created) >= startup
            && !node.has_taint(TO_BE_DELETED)
    };
    let count = view.nodes.values().filter(unready).count();
    #[expect(clippy::cast_precision_loss, reason = "clusters have fewer than 2^52 nodes")]
    let percent = 100.0 * count as f64 / view.nodes.len().max(1) as f64;
    count <= settings.arguments.ok_total_unready_count
        || percent <= settings.arguments.max_total_unready_percentage
}

/// The cluster as it is, and the machines that are on their way to it.
fn room(view: &View, memory: &Memory, settings: &Settings, standings: &BTreeMap<String, Standing>) -> Room {
    let mut room = Room::default();
    for node in view.nodes.values() {
        let mut place = place_of(node, settings);
        let starting = standings.values().flat_map(|standing| &standing.machines);
        let mut starting = starting.filter(|machine| machine.stage != Stage::Ready);
        place.closed |= memory.removals.contains_key(&node.name);
        let starts = starting.any(|machine| machine.node.as_ref() == Some(&node.name));
        place.closed |= starts;
        // What is upcoming stands in for it below, also while nobody knows whose node it is: it is no domain of a spread besides.
        if starts || !node.ready {
            place.labels.remove(HOSTNAME);
        }
        for pod in
            view.pods.values().filter(|pod| counts(pod, settings) && pod.node.as_ref() == Some(&node.name))
        {
            place.put(pod);
        }
        room.places.push(place);
    }
    for (name, standing) in standings {
        let coming =
            if settings.has(Defect::DoubleBuysWhileUpcoming) { 0 } else { standing.upcoming(settings) };
        let Some(template) = scale_up::template(view, settings, &settings.pools[name], standing) else {
            continue;
        };
        for number in 0..coming {
            let place = Place { upcoming: true, ..template.clone() };
            room.places.push(place.called(format!("upcoming-{name}-{number}")));
        }
    }
    room
}

/// Whether a pod takes room: it has not ended and is not expendable.
fn counts(pod: &Pod, settings: &Settings) -> bool {
    !pod.ended
        && (pod.priority >= settings.arguments.expendable_pods_priority_cutoff
            || settings.has(Defect::BuysForExpendablePods))
}

/// The node, still without pods.
fn place_of(node: &Node, settings: &Settings) -> Place {
    let cordoned = node.cordoned && !settings.has(Defect::CountsCordonedNodes);
    Place {
        name: node.name.clone(),
        labels: node.labels.clone(),
        // The scheduler minds hard taints only, and the cordon is one.
        taints: node
            .taints
            .iter()
            .filter(|taint| {
                !(settings.has(Defect::CountsCordonedNodes)
                    && taint.key == "node.kubernetes.io/unschedulable")
            })
            .cloned()
            .collect(),
        closed: cordoned || !node.ready,
        upcoming: false,
        free: node.allocatable.clone(),
        pods: Vec::new(),
        wanted: false,
    }
}

/// The pods of nodes that are being removed need room elsewhere.
fn resettle(view: &View, memory: &Memory, room: &mut Room) {
    for node in memory.removals.keys() {
        let moving = view.pods.values().filter(|pod| {
            pod.node.as_ref() == Some(node)
                && !pod.ended
                && !matches!(pod.owner, Owner::DaemonSet | Owner::Mirror | Owner::Nobody)
        });
        for pod in moving {
            if let Some(index) = room.put(pod, |place| !place.upcoming) {
                room.places[index].wanted = true;
            }
        }
    }
}
