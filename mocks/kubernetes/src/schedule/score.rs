//! Which of the nodes that fit is best: upstream's plugins, their normalisation and their weights.
//!
//! Images count for nothing here, and pods without constraints of their own are not spread by their service.

use std::collections::BTreeMap;

use crate::selector::Labels as _;

use super::cluster::{Cluster, Kept};
use super::node::{Node, NodeId};
use super::request::Amounts;
use super::shape::{Shape, Spread, Taint};

const BEST: i64 = 100;
const HOSTNAME: &str = "kubernetes.io/hostname";

/// Whether free nodes or full ones are preferred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Packing {
    #[default]
    LeastAllocated,
    MostAllocated,
}

/// The weighted sum for each node, in the order of `nodes`.
pub(super) fn scores(cluster: &Cluster, shape: &Shape, nodes: &[NodeId], packing: Packing) -> Vec<i64> {
    let node = |id: &NodeId| &cluster.nodes[*id];
    let mut sums: Vec<i64> = nodes.iter().map(|id| resources(shape, node(id), packing)).collect();
    let mut weigh = |weight: i64, scores: &[i64]| {
        for (sum, score) in sums.iter_mut().zip(scores) {
            *sum += weight * score;
        }
    };
    let mut taints: Vec<i64> = nodes.iter().map(|id| disliked(shape, &node(id).facts.taints)).collect();
    normalise(&mut taints, true);
    weigh(3, &taints);
    if !shape.preferred_nodes.is_empty() {
        let mut preferred: Vec<i64> = nodes.iter().map(|id| preferred(shape, node(id))).collect();
        normalise(&mut preferred, false);
        weigh(2, &preferred);
    }
    if let Some(spread) = spread(cluster, shape, nodes) {
        weigh(2, &spread);
    }
    if let Some(neighbours) = neighbours(cluster, shape, nodes) {
        weigh(2, &neighbours);
    }
    sums
}

/// Room that is left, and how evenly it is used.
fn resources(shape: &Shape, node: &Node, packing: Packing) -> i64 {
    let has = &node.facts.allocatable;
    let share = |wanted: i64, has: i64| match packing {
        _ if wanted > has => 0,
        Packing::LeastAllocated => (has - wanted) * BEST / has,
        Packing::MostAllocated => wanted * BEST / has,
    };
    let asked = [
        (node.scored.0 + shape.scored.coming.0, has.cpu),
        (node.scored.1 + shape.scored.coming.1, has.memory),
    ];
    let known = asked.iter().filter(|(_, has)| *has != 0);
    let (sum, count) =
        known.fold((0, 0), |(sum, count), (wanted, has)| (sum + share(*wanted, *has), count + 1));
    let room = if count == 0 { 0 } else { sum / count };
    room + balance(&shape.requests, &node.requested, has)
}

fn balance(wants: &Amounts, taken: &Amounts, has: &Amounts) -> i64 {
    if wants.cpu == 0 && wants.memory == 0 {
        return 0;
    }
    #[expect(clippy::cast_precision_loss, reason = "upstream divides in floating point")]
    let used = |wants: i64, taken: i64, has: i64| ((taken + wants) as f64 / has as f64).min(1.0);
    let apart = if has.cpu == 0 || has.memory == 0 {
        0.0
    } else {
        let cpu = used(wants.cpu, taken.cpu, has.cpu);
        ((cpu - used(wants.memory, taken.memory, has.memory)) / 2.0).abs()
    };
    whole((1.0 - apart) * 100.0)
}

/// Cut off after the point, as upstream converts.
#[expect(clippy::cast_possible_truncation, reason = "scores are small")]
fn whole(score: f64) -> i64 {
    score as i64
}

/// How many taints ask softly to stay away.
fn disliked(shape: &Shape, taints: &[Taint]) -> i64 {
    let soft = taints.iter().filter(|taint| &*taint.effect == "PreferNoSchedule" && !shape.tolerates(taint));
    i64::try_from(soft.count()).unwrap_or(i64::MAX)
}

fn preferred(shape: &Shape, node: &Node) -> i64 {
    let facts = &node.facts;
    let terms = shape.preferred_nodes.iter().filter(|(_, term)| term.matches(&facts.name, &facts.labels));
    terms.map(|(weight, _)| i64::from(*weight)).sum()
}

/// Scales to a hundred, with the most best, or worst.
fn normalise(scores: &mut [i64], most_is_worst: bool) {
    let most = scores.iter().copied().max().unwrap_or_default();
    for score in scores {
        let scaled = if most == 0 { 0 } else { BEST * *score / most };
        *score = if most_is_worst { BEST - scaled } else { scaled };
    }
}

/// `ScheduleAnyway` constraints: the fewer pods alike in a domain, the better.
fn spread(cluster: &Cluster, shape: &Shape, nodes: &[NodeId]) -> Option<Vec<i64>> {
    let rules: Vec<&Spread> = shape.spread.iter().filter(|rule| !rule.required).collect();
    if rules.is_empty() {
        return None;
    }
    let complete = |id: &NodeId| {
        let labels = &cluster.nodes[*id].facts.labels;
        rules.iter().all(|rule| labels.label(&rule.topology).is_some())
    };
    let scored = nodes.iter().filter(|id| complete(id)).count();
    let mut sums: Vec<f64> = vec![0.0; nodes.len()];
    for rule in &rules {
        let value = |id: NodeId| cluster.nodes[id].facts.labels.label(&rule.topology);
        let mut counts: BTreeMap<&str, i64> = BTreeMap::new();
        let per_node = &*rule.topology == HOSTNAME;
        if !per_node {
            counts.extend(nodes.iter().filter(|id| complete(id)).filter_map(|id| Some((value(*id)?, 0))));
        }
        let mut here: BTreeMap<NodeId, i64> = BTreeMap::new();
        let alike =
            |kept: &&Kept| !rule.selector.is_everything() && rule.selector.matches(&kept.shape.labels[..]);
        for kept in cluster.shapes_of(&shape.namespace).filter(alike) {
            for (id, count) in &kept.on {
                let alive = i64::try_from(count.alive).unwrap_or(i64::MAX);
                if per_node {
                    *here.entry(*id).or_default() += alive;
                } else if let Some(sum) = counted(cluster, shape, rule, *id)
                    .filter(|_| complete(id))
                    .and_then(|value| counts.get_mut(value))
                {
                    *sum += alive;
                }
            }
        }
        let domains = if per_node { scored } else { counts.len() };
        #[expect(clippy::cast_precision_loss, reason = "upstream weighs in floating point")]
        let weight = ((domains + 2) as f64).ln();
        for (sum, id) in sums.iter_mut().zip(nodes).filter(|(_, id)| complete(id)) {
            let count = if per_node { here.get(id) } else { value(*id).and_then(|value| counts.get(value)) };
            #[expect(clippy::cast_precision_loss, reason = "upstream weighs in floating point")]
            let score = count.copied().unwrap_or_default() as f64 * weight + (rule.max_skew - 1) as f64;
            *sum += score;
        }
    }
    let scores: Vec<Option<i64>> =
        sums.iter().zip(nodes).map(|(sum, id)| complete(id).then(|| whole(sum.round()))).collect();
    let least = scores.iter().flatten().copied().min().unwrap_or_default();
    let most = scores.iter().flatten().copied().max().unwrap_or_default();
    let scale = |score: i64| if most == 0 { BEST } else { BEST * (most + least - score) / most };
    Some(scores.into_iter().map(|score| score.map_or(0, scale)).collect())
}

/// The domain of a node, if the node counts for the constraint.
fn counted<'a>(cluster: &'a Cluster, shape: &Shape, rule: &Spread, id: NodeId) -> Option<&'a str> {
    let node = &cluster.nodes[id];
    let facts = &*node.facts;
    let counts = node.present
        && (!rule.honor_affinity || shape.nodes.matches(&facts.name, &facts.labels))
        && (!rule.honor_taints || shape.tolerates_all(&facts.taints));
    counts.then(|| facts.labels.label(&rule.topology)).flatten()
}

/// What this pod and those already placed prefer about each other.
fn neighbours(cluster: &Cluster, shape: &Shape, nodes: &[NodeId]) -> Option<Vec<i64>> {
    let all = !shape.preferred_pods.is_empty();
    let some = cluster.attracting.iter().filter_map(|id| cluster.shapes[*id].as_ref());
    let kept: Vec<&Kept> = if all { cluster.shapes.iter().flatten().collect() } else { some.collect() };
    let mut topologies: BTreeMap<Box<str>, BTreeMap<&str, i64>> = BTreeMap::new();
    for kept in kept {
        for (topology, weight) in opinions(cluster, shape, kept) {
            for (id, count) in &kept.on {
                let node = &cluster.nodes[*id];
                let Some(value) = node.facts.labels.label(&topology).filter(|_| node.present) else {
                    continue;
                };
                let sum = topologies.entry(topology.clone()).or_default().entry(value).or_default();
                *sum += weight * i64::try_from(count.all).unwrap_or(i64::MAX);
            }
        }
    }
    if topologies.is_empty() {
        return None;
    }
    let score = |id: &NodeId| {
        let labels = &cluster.nodes[*id].facts.labels;
        let known = topologies.iter().filter_map(|(topology, sums)| sums.get(labels.label(topology)?));
        known.sum::<i64>()
    };
    let scores: Vec<i64> = nodes.iter().map(score).collect();
    let least = scores.iter().copied().min().unwrap_or_default();
    let range = scores.iter().copied().max().unwrap_or_default() - least;
    #[expect(clippy::cast_precision_loss, reason = "upstream divides in floating point")]
    let scale = |score: i64| whole(100.0 * ((score - least) as f64 / range as f64));
    Some(scores.into_iter().map(|score| if range > 0 { scale(score) } else { 0 }).collect())
}

/// What each pod of a kept shape weighs in its domain, by the label that makes the domain.
fn opinions(cluster: &Cluster, shape: &Shape, kept: &Kept) -> BTreeMap<Box<str>, i64> {
    let other = &kept.shape;
    let (here, there) = (cluster.namespace(&shape.namespace), cluster.namespace(&other.namespace));
    let own = shape.preferred_pods.iter().filter(|(_, term)| term.matches(other, there));
    let required = other.affinity.iter().filter(|term| term.matches(shape, here));
    let theirs = other.preferred_pods.iter().filter(|(_, term)| term.matches(shape, here));
    let mut weights = BTreeMap::new();
    let weighed = own.chain(theirs).map(|(weight, term)| (*weight, term));
    for (weight, term) in weighed.chain(required.map(|term| (1, term))) {
        *weights.entry(term.topology.clone()).or_default() += weight;
    }
    weights
}
