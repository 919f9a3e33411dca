//! Making room: which pods of lower priority would have to go, and on which node it hurts least.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use mock_clock::Time;

use super::cluster::Cluster;
use super::decide::fits_beside_nominated;
use super::node::{Node, NodeId};
use super::pod::{Pod, PodId, PodKey};
use super::random::Random;
use super::reason::{Failure, Histogram, Plugins, Reason};
use super::trial::Trial;

/// What came of it.
pub(super) enum Preemption {
    Found {
        node: Box<str>,
        victims: Vec<PodKey>,
        yielding: Vec<PodKey>,
    },
    /// No room can be made; `keep` leaves an older nomination alone.
    None {
        message: String,
        keep: bool,
    },
}

/// One node with those who would have to go, most important first.
struct Candidate {
    node: NodeId,
    victims: Vec<PodId>,
    /// How many of them a budget protects.
    violations: usize,
}

pub(super) fn preempt(
    cluster: &Cluster,
    trial: &Trial<'_>,
    (id, pod): (PodId, &Pod),
    failures: &BTreeMap<NodeId, Failure>,
    random: &mut Random,
) -> Preemption {
    if let Some(why) = not_eligible(cluster, trial, pod, failures) {
        return Preemption::None { message: why.to_owned(), keep: true };
    }
    let helpful = |id: &&NodeId| failures.get(*id).is_some_and(|failure| !failure.unresolvable);
    let potential: Vec<NodeId> = cluster.order.iter().filter(helpful).copied().collect();
    let wanted = (potential.len() / 10).max(100).min(potential.len());
    let start = random.below(potential.len());
    let (mut candidates, mut refused) = (Vec::new(), Vec::new());
    for node in potential.iter().cycle().skip(start).take(potential.len()) {
        match victims(cluster, trial, (id, pod), *node) {
            Ok(candidate) => candidates.push(candidate),
            Err(failure) => refused.push(failure),
        }
        let harmless = candidates.iter().any(|candidate: &Candidate| candidate.violations == 0);
        if harmless && candidates.len() >= wanted {
            break;
        }
    }
    let Some(best) = best(cluster, candidates) else {
        let all = cluster.order.len();
        let mut histogram = Histogram::of(refused.iter().copied(), trial.shape);
        histogram.add("Preemption is not helpful for scheduling", all - refused.len());
        return Preemption::None { message: histogram.message(all), keep: false };
    };
    let node = &cluster.nodes[best.node];
    let lower = node.nominated.iter().filter_map(|other| cluster.pod(*other));
    let yielding =
        lower.filter(|other| other.priority < pod.priority).map(|other| other.key.clone()).collect();
    // Who is on the way out already need not be asked again.
    let victims = best.victims.iter().filter_map(|victim| cluster.pod(*victim));
    let victims = victims.filter(|victim| !victim.deleting).map(|victim| victim.key.clone()).collect();
    Preemption::Found { node: node.facts.name.clone(), victims, yielding }
}

fn not_eligible(
    cluster: &Cluster,
    trial: &Trial<'_>,
    pod: &Pod,
    failures: &BTreeMap<NodeId, Failure>,
) -> Option<&'static str> {
    if trial.shape.never_preempts {
        return Some("not eligible due to preemptionPolicy=Never.");
    }
    let nominated = pod.nominated.filter(|id| cluster.nodes[*id].present)?;
    if failures.get(&nominated).is_none_or(|failure| failure.unresolvable) {
        return None;
    }
    let leaving =
        |id: &PodId| cluster.pod(*id).is_some_and(|other| other.priority < pod.priority && other.preempted);
    let waits = cluster.nodes[nominated].pods.iter().any(leaving);
    waits.then_some("not eligible due to a terminating pod on the nominated node.")
}

/// More important first: by priority, then by age.
fn importance(cluster: &Cluster, id: PodId) -> (Reverse<i32>, Time) {
    cluster.pod(id).map_or((Reverse(i32::MIN), Time::NEVER), |pod| (Reverse(pod.priority), pod.started))
}

/// The pods that would have to leave a node: all of lower priority, less those for whom there is still room.
fn victims(
    cluster: &Cluster,
    trial: &Trial<'_>,
    (id, pod): (PodId, &Pod),
    node: NodeId,
) -> Result<Candidate, Failure> {
    let original = &cluster.nodes[node];
    let (mut empty, mut trial) = (original.clone(), trial.clone());
    let lower = |other: &PodId| cluster.pod(*other).is_some_and(|other| other.priority < pod.priority);
    let mut potential: Vec<PodId> = original.pods.iter().copied().filter(lower).collect();
    if potential.is_empty() {
        return Err(Failure::unresolvable(Plugins::default(), Reason::NO_VICTIMS));
    }
    for victim in &potential {
        leave(cluster, &mut trial, &mut empty, *victim);
    }
    fits_beside_nominated(cluster, &trial, (id, pod), &empty)?;
    potential.sort_by_key(|victim| importance(cluster, *victim));
    let (protected, free) = by_budget(cluster, &potential);
    let (mut victims, mut violations) = (Vec::new(), 0);
    for (place, victim) in protected.iter().chain(&free).enumerate() {
        let Some(shape) = cluster.pod(*victim).map(|victim| cluster.shape(victim.shape)) else { continue };
        empty.add(*victim, shape);
        trial.adjust(shape, &original.facts, 1);
        if fits_beside_nominated(cluster, &trial, (id, pod), &empty).is_err() {
            leave(cluster, &mut trial, &mut empty, *victim);
            victims.push(*victim);
            violations += usize::from(place < protected.len());
        }
    }
    victims.sort_by_key(|victim| importance(cluster, *victim));
    Ok(Candidate { node, victims, violations })
}

fn leave<'a>(cluster: &'a Cluster, trial: &mut Trial<'a>, node: &mut Node, victim: PodId) {
    let Some(pod) = cluster.pod(victim) else { return };
    let shape = cluster.shape(pod.shape);
    node.remove(victim, shape);
    if let Some(place) = pod.node {
        trial.adjust(shape, &cluster.nodes[place].facts, -1);
    }
}

/// Those whose going would break a budget, and the others; both in the order they came.
fn by_budget(cluster: &Cluster, pods: &[PodId]) -> (Vec<PodId>, Vec<PodId>) {
    let mut allowed: Vec<i32> = cluster.budgets.values().map(|budget| budget.allowed).collect();
    pods.iter().partition(|id| {
        let Some(pod) = cluster.pod(**id) else { return false };
        let shape = cluster.shape(pod.shape);
        let mut violated = false;
        for (allowed, budget) in allowed.iter_mut().zip(cluster.budgets.values()) {
            let name = pod.key.split_once('/').map_or("", |(_, name)| name);
            let covers = !shape.labels.is_empty()
                && budget.namespace == shape.namespace
                && !budget.selector.is_everything()
                && budget.selector.matches(&shape.labels[..])
                && !budget.disrupted.contains(name);
            if covers {
                *allowed -= 1;
                violated |= *allowed < 0;
            }
        }
        violated
    })
}

/// The node where it hurts least: fewest broken budgets, then the lowest highest priority, the lowest sum of
/// priorities, the fewest victims, and the youngest among the most important ones.
fn best(cluster: &Cluster, candidates: Vec<Candidate>) -> Option<Candidate> {
    let pods = |candidate: &Candidate| -> Vec<(i32, Time)> {
        let victims = candidate.victims.iter().filter_map(|id| cluster.pod(*id));
        victims.map(|pod| (pod.priority, pod.started)).collect()
    };
    let pain = |candidate: &Candidate| {
        let pods = pods(candidate);
        let highest = pods.iter().map(|(priority, _)| *priority).max();
        // Raised above zero, so that one more victim never makes a sum smaller.
        let sum: i64 = pods.iter().map(|(priority, _)| i64::from(*priority) + (1 << 31)).sum();
        let oldest =
            pods.iter().filter(|(priority, _)| Some(*priority) == highest).map(|(_, started)| *started).min();
        (candidate.violations, highest, sum, pods.len(), Reverse(oldest))
    };
    candidates.into_iter().filter(|candidate| !candidate.victims.is_empty()).min_by_key(pain)
}
