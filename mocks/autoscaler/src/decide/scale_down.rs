//! What to give back: nodes that have been unneeded for long enough, empty ones first, and never below a minimum.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::drainable::{Leavers, leavers};
use super::standing::{Machine, Stage, Standing};
use super::{CANDIDATE, Decision, Removal, counts};
use crate::defect::Defect;
use crate::memory::Memory;
use crate::settings::Settings;
use crate::simulate::Room;
use crate::view::{Node, Owner, Pod, View};

const DISABLED: &str = "cluster-autoscaler.kubernetes.io/scale-down-disabled";
/// So many soft taints are set or taken in a loop.
const SOFT_TAINTS: usize = 10;

/// A node that is not needed.
struct Unneeded<'a> {
    node: &'a Node,
    machine: &'a Machine,
    pool: &'a str,
    leavers: Leavers,
}

pub(super) fn scale_down(
    view: &View,
    memory: &mut Memory,
    settings: &Settings,
    standings: &BTreeMap<String, Standing>,
    room: &Room,
    decision: &mut Decision,
) {
    if !settings.arguments.scale_down_enabled {
        return;
    }
    memory.left_alone.retain(|_, until| *until > view.now);
    let unneeded = unneeded(view, memory, settings, standings, room);
    let names: BTreeSet<&str> = unneeded.iter().map(|unneeded| unneeded.node.name.as_str()).collect();
    memory.unneeded.retain(|name, _| names.contains(name.as_str()));
    for name in &names {
        memory.unneeded.entry((*name).to_owned()).or_insert(view.now);
    }
    soft_taints(view, memory, settings, &names, decision);
    if may_remove(view, memory, settings) {
        choose(view, memory, settings, standings, &unneeded, decision);
    }
}

/// The nodes that could all go together, as far as the pods of one fit on those that stay.
fn unneeded<'a>(
    view: &'a View,
    memory: &Memory,
    settings: &Settings,
    standings: &'a BTreeMap<String, Standing>,
    room: &Room,
) -> Vec<Unneeded<'a>> {
    let mut candidates = Vec::new();
    for (pool, standing) in standings.iter().filter(|(pool, _)| !view.kept.contains(*pool)) {
        for machine in &standing.machines {
            let node = machine.node.as_ref().and_then(|name| view.nodes.get(name));
            let Some(node) = node.filter(|node| is_eligible(node, machine, view, memory, settings)) else {
                continue;
            };
            if let Some(leavers) = leavers(view, settings, &node.name) {
                candidates.push(Unneeded { node, machine, pool, leavers });
            }
        }
    }
    // Empty ones need nobody; and what was unneeded before stays so, rather than giving way to its like.
    candidates.sort_by_key(|c| {
        let since = memory.unneeded.get(&c.node.name).copied();
        (!c.leavers.pods.is_empty(), since.is_none(), since, c.node.name.clone())
    });
    let mut room = room.clone();
    candidates.retain(|candidate| {
        let Some(index) = room.places.iter().position(|place| place.name == candidate.node.name) else {
            return false;
        };
        if room.places[index].wanted {
            return false;
        }
        // What was moved here in thought must move on.
        let moved = room.places[index].pods.iter().filter(|pod| {
            pod.node.as_ref() != Some(&candidate.node.name)
                && !matches!(pod.owner, Owner::DaemonSet | Owner::Mirror)
        });
        let moving: Vec<Pod> = candidate.leavers.pods.iter().chain(moved).cloned().collect();
        let moving = if settings.has(Defect::DrainsWithoutRoom) { Vec::new() } else { moving };
        let Some(rest) = room.without(index, &moving) else { return false };
        room = rest;
        true
    });
    candidates
}

fn is_eligible(node: &Node, machine: &Machine, view: &View, memory: &Memory, settings: &Settings) -> bool {
    let arguments = &settings.arguments;
    let unready_may_go = (arguments.scale_down_unready_enabled
        || settings.has(Defect::RemovesUnreadyUnasked))
        && !settings.has(Defect::KeepsUnreadyNodes);
    let old_enough = match machine.stage {
        Stage::Ready => true,
        Stage::Unready => unready_may_go,
        _ => false,
    };
    let disabled = node.annotations.get(DISABLED).is_some_and(|value| value == "true")
        && !settings.has(Defect::IgnoresScaleDownDisabled);
    let full = utilization(node, view, settings) > arguments.scale_down_utilization_threshold
        && !settings.has(Defect::IgnoresUtilization);
    old_enough
        && !disabled
        && !full
        && !memory.removals.contains_key(&node.name)
        && !memory.left_alone.contains_key(&node.name)
}

/// The larger share that is asked for, of cores or of memory.
#[expect(clippy::cast_precision_loss, reason = "machines have fewer than 2^52 bytes")]
fn utilization(node: &Node, view: &View, settings: &Settings) -> f64 {
    let (mut cpu, mut memory) = (0, 0);
    for pod in view.pods.values().filter(|pod| pod.node.as_ref() == Some(&node.name) && counts(pod, settings))
    {
        cpu += pod.requests.cpu;
        memory += pod.requests.memory;
    }
    let share = |asked: u64, all: u64| asked as f64 / all.max(1) as f64;
    share(cpu, node.allocatable.cpu).max(share(memory, node.allocatable.memory))
}

/// A soft taint tells the scheduler to prefer other nodes.
fn soft_taints(
    view: &View,
    memory: &Memory,
    settings: &Settings,
    unneeded: &BTreeSet<&str>,
    decision: &mut Decision,
) {
    for (name, node) in &view.nodes {
        let (has, wants) = (node.has_taint(CANDIDATE), unneeded.contains(name.as_str()));
        if memory.removals.contains_key(name) {
            continue;
        }
        if wants && !has && decision.mark.len() < SOFT_TAINTS {
            decision.mark.push(name.clone());
        } else if !wants && has && !settings.has(Defect::LeavesSoftTaints) {
            decision.unmark.push(name.clone());
        }
    }
}

/// Whether none of the pauses forbids it.
fn may_remove(view: &View, memory: &Memory, settings: &Settings) -> bool {
    let arguments = &settings.arguments;
    let over = |last: Option<mock_clock::Time>, pause: Duration| {
        last.is_none_or(|last| view.now.since(last) >= pause)
    };
    (over(memory.last_scale_up, arguments.scale_down_delay_after_add)
        || settings.has(Defect::NoPauseAfterScaleUp))
        && over(memory.last_removal, arguments.scale_down_delay_after_delete)
        && over(memory.last_failure, arguments.scale_down_delay_after_failure)
}

/// Of those that were unneeded for long enough, as many as may go at a time.
fn choose(
    view: &View,
    memory: &mut Memory,
    settings: &Settings,
    standings: &BTreeMap<String, Standing>,
    unneeded: &[Unneeded<'_>],
    decision: &mut Decision,
) {
    let arguments = &settings.arguments;
    let endless = |defect, limit| if settings.has(defect) { usize::MAX } else { limit };
    let at_once = endless(Defect::RemovesAllEmptyAtOnce, arguments.max_scale_down_parallelism);
    let draining = endless(Defect::DrainsSeveralAtOnce, arguments.max_drain_parallelism);
    let mut drains = memory.removals.values().filter(|drains| **drains).count();
    let mut total = memory.removals.len();
    let mut sizes: BTreeMap<&str, usize> =
        standings.iter().map(|(name, s)| (name.as_str(), s.size())).collect();
    for name in memory.removals.keys() {
        let pool = standings.iter().find(|(_, s)| s.machines.iter().any(|m| m.node.as_ref() == Some(name)));
        if let Some(size) = pool.and_then(|(pool, _)| sizes.get_mut(pool.as_str())) {
            *size -= 1;
        }
    }
    let mut floor = Floor::of(view, memory, settings);
    for candidate in unneeded {
        let Some(size) = sizes.get_mut(candidate.pool) else { continue };
        let keeps = usize::from(settings.has(Defect::KeepsLastNode));
        let min = settings.pools[candidate.pool].min.max(keeps);
        let min = if settings.has(Defect::ShrinksBelowMin) { 0 } else { min };
        let drain = !candidate.leavers.pods.is_empty();
        if *size <= min || total >= at_once || (drain && drains >= draining) {
            continue;
        }
        if !is_ripe(candidate, view, memory, settings) || !floor.lower(candidate.node) {
            continue;
        }
        (*size, total, drains) = (*size - 1, total + 1, drains + usize::from(drain));
        memory.removals.insert(candidate.node.name.clone(), drain);
        let keys = |pods: &[Pod]| pods.iter().map(Pod::key).collect();
        decision.removals.push(Removal {
            node: candidate.node.name.clone(),
            server: candidate.machine.id,
            pods: keys(&candidate.leavers.pods),
            daemons: keys(&candidate.leavers.daemons),
        });
    }
}

/// Whether it was unneeded for long enough.
fn is_ripe(candidate: &Unneeded<'_>, view: &View, memory: &Memory, settings: &Settings) -> bool {
    let arguments = &settings.arguments;
    let mut wait = if candidate.machine.stage == Stage::Unready {
        arguments.scale_down_unready_time
    } else {
        let own = settings.pools.get(candidate.pool).and_then(|pool| pool.unneeded_time);
        own.unwrap_or(arguments.scale_down_unneeded_time)
    };
    if settings.has(Defect::RemovesTooEarly) {
        wait /= 2;
    }
    if settings.has(Defect::RemovesTooLate) {
        wait *= 2;
    }
    memory.unneeded.get(&candidate.node.name).is_some_and(|since| view.now.since(*since) >= wait)
}

/// The least the cluster may have.
struct Floor {
    cpu: u64,
    memory: u64,
}

impl Floor {
    fn of(view: &View, memory: &Memory, settings: &Settings) -> Self {
        let staying = view.nodes.values().filter(|node| !memory.removals.contains_key(&node.name));
        let (cpu, bytes) = staying
            .fold((0, 0), |(cpu, bytes), node| (cpu + node.allocatable.cpu, bytes + node.allocatable.memory));
        let (cores, gib) = (settings.arguments.cores_total.0, settings.arguments.memory_total.0);
        Self { cpu: cpu.saturating_sub(cores * 1000), memory: bytes.saturating_sub(gib << 30) }
    }

    /// Takes a node away, if what stays is enough.
    fn lower(&mut self, node: &Node) -> bool {
        let rest =
            self.cpu.checked_sub(node.allocatable.cpu).zip(self.memory.checked_sub(node.allocatable.memory));
        if let Some((cpu, memory)) = rest {
            (self.cpu, self.memory) = (cpu, memory);
        }
        rest.is_some()
    }
}
