//! What is worked out once for a pod before nodes are looked at: who is where, as far as it concerns this pod.
//!
//! A trial can be told that a pod came or went, so that pre-emption and nominations can be tried on a copy.

use std::collections::{BTreeMap, BTreeSet};

use crate::selector::Labels as _;

use super::cluster::{Cluster, claim_key};
use super::node::{Facts, NodeId};
use super::shape::{PodTerm, Shape, Spread};
use super::volume::Claim;

/// A label of nodes with a value.
type Domain<'a> = (&'a str, &'a str);

/// The pod's side of a decision.
#[derive(Clone, Debug)]
pub(super) struct Trial<'a> {
    pub(super) shape: &'a Shape,
    cluster: &'a Cluster,
    /// The required constraints.
    pub(super) spreads: Vec<Spreading<'a>>,
    /// Pods that do not want this one near, by domain.
    pub(super) unwelcome: BTreeMap<Domain<'a>, i64>,
    /// Pods this one wants to be near to.
    pub(super) wanted: BTreeMap<Domain<'a>, i64>,
    /// Pods this one wants to be far from.
    pub(super) avoided: BTreeMap<Domain<'a>, i64>,
    /// Uses by other pods of claims that only one pod may use.
    pub(super) claim_conflicts: i64,
    pub(super) claims: Claims<'a>,
    /// Zone labels of bound volumes, each with the values that will do.
    pub(super) zones: Vec<(&'a str, BTreeSet<&'a str>)>,
}

/// One required spread constraint with its counts.
#[derive(Clone, Debug)]
pub(super) struct Spreading<'a> {
    pub(super) rule: &'a Spread,
    pub(super) counts: BTreeMap<&'a str, i64>,
    /// Whether the pod counts itself.
    pub(super) own: i64,
    /// How many the emptiest domain has.
    pub(super) least: i64,
}

impl Spreading<'_> {
    fn find_least(&mut self) {
        let least = self.counts.values().copied().min().unwrap_or(i64::from(i32::MAX));
        self.least = if self.counts.len() < self.rule.min_domains { 0 } else { least };
    }
}

/// The pod's claims by what is left to do.
#[derive(Clone, Debug, Default)]
pub(super) struct Claims<'a> {
    pub(super) bound: Vec<&'a Claim>,
    pub(super) waiting: Vec<&'a Claim>,
}

impl<'a> Trial<'a> {
    pub(super) fn new(cluster: &'a Cluster, shape: &'a Shape, claims: Claims<'a>) -> Self {
        let mut trial = Self {
            shape,
            cluster,
            spreads: Vec::new(),
            unwelcome: BTreeMap::new(),
            wanted: BTreeMap::new(),
            avoided: BTreeMap::new(),
            claim_conflicts: 0,
            claims,
            zones: Vec::new(),
        };
        trial.count_spread();
        trial.count_neighbours();
        trial.claim_conflicts = shape
            .claims
            .iter()
            .map(|claim| claim_key(shape, &claim.name))
            .filter(|key| trial.single(key) && cluster.claim_users.contains_key(key))
            .count()
            .try_into()
            .unwrap_or(i64::MAX);
        trial
    }

    fn single(&self, key: &str) -> bool {
        self.cluster.storage.claims.get(key).is_some_and(Claim::for_one_pod)
    }

    /// Whether a node counts for a constraint.
    fn counts_for(&self, rule: &Spread, node: &Facts) -> bool {
        (!rule.honor_affinity || self.shape.nodes.matches(&node.name, &node.labels))
            && (!rule.honor_taints || self.shape.tolerates_all(&node.taints))
    }

    fn count_spread(&mut self) {
        let required = || self.shape.spread.iter().filter(|rule| rule.required);
        if required().next().is_none() {
            return;
        }
        let cluster = self.cluster;
        let mut domains = Vec::new();
        for rule in required() {
            let own = i64::from(rule.selector.matches(&self.shape.labels[..]));
            let mut counts = BTreeMap::new();
            // By node, for speed: this is done for all nodes and each pod.
            let mut of: Vec<Option<&str>> = vec![None; cluster.nodes.len()];
            for id in &cluster.order {
                let node = &*cluster.nodes[*id].facts;
                let complete = required().all(|rule| node.labels.label(&rule.topology).is_some());
                let counted = complete && self.counts_for(rule, node);
                of[*id] = counted.then(|| node.labels.label(&rule.topology)).flatten();
            }
            for value in of.iter().flatten() {
                counts.insert(*value, 0);
            }
            domains.push(of);
            self.spreads.push(Spreading { rule, counts, own, least: 0 });
        }
        for kept in cluster.shapes_of(&self.shape.namespace) {
            for (spreading, domains) in self.spreads.iter_mut().zip(&domains) {
                let selector = &spreading.rule.selector;
                if selector.is_everything() || !selector.matches(&kept.shape.labels[..]) {
                    continue;
                }
                for (node, count) in &kept.on {
                    if let Some(sum) = domains[*node].and_then(|value| spreading.counts.get_mut(value)) {
                        *sum += i64::try_from(count.alive).unwrap_or(i64::MAX);
                    }
                }
            }
        }
        self.spreads.iter_mut().for_each(Spreading::find_least);
    }

    fn count_neighbours(&mut self) {
        let (cluster, shape) = (self.cluster, self.shape);
        let present = |id: &NodeId| cluster.nodes[*id].present.then(|| &*cluster.nodes[*id].facts);
        for id in &cluster.repelling {
            let Some(kept) = &cluster.shapes[*id] else { continue };
            let terms = unwelcoming(cluster, &kept.shape, shape);
            if terms.is_empty() {
                continue;
            }
            for (node, count) in &kept.on {
                let Some(node) = present(node) else { continue };
                add(&mut self.unwelcome, terms.iter().copied(), node, count.all);
            }
        }
        if shape.affinity.is_empty() && shape.anti_affinity.is_empty() {
            return;
        }
        for kept in cluster.shapes.iter().flatten().filter(|kept| !kept.on.is_empty()) {
            let near = matches_all(cluster, shape, &kept.shape);
            let far = matching(cluster, &shape.anti_affinity, &kept.shape);
            if !near && far.is_empty() {
                continue;
            }
            for (node, count) in &kept.on {
                let Some(node) = present(node) else { continue };
                if near {
                    add(&mut self.wanted, shape.affinity.iter(), node, count.all);
                }
                add(&mut self.avoided, far.iter().copied(), node, count.all);
            }
        }
    }

    /// Whether the pod would be near to itself: the first of a series has nobody else to be near to.
    pub(super) fn wants_itself(&self) -> bool {
        matches_all(self.cluster, self.shape, self.shape)
    }

    /// A pod came to a node, or went.
    pub(super) fn adjust(&mut self, other: &'a Shape, node: &'a Facts, by: i64) {
        let (cluster, shape) = (self.cluster, self.shape);
        if other.namespace == shape.namespace {
            let complete = self.spreads.iter().all(|one| node.labels.label(&one.rule.topology).is_some());
            for place in 0..self.spreads.len() {
                let rule = self.spreads[place].rule;
                if !complete || !rule.selector.matches(&other.labels[..]) || !self.counts_for(rule, node) {
                    continue;
                }
                if let Some(value) = node.labels.label(&rule.topology) {
                    *self.spreads[place].counts.entry(value).or_default() += by;
                    self.spreads[place].find_least();
                }
            }
        }
        let unwelcoming = unwelcoming(cluster, other, shape);
        change(&mut self.unwelcome, unwelcoming.into_iter(), node, by);
        if matches_all(cluster, shape, other) {
            change(&mut self.wanted, shape.affinity.iter(), node, by);
        }
        change(&mut self.avoided, matching(cluster, &shape.anti_affinity, other).into_iter(), node, by);
        let shared = |claim: &&super::shape::Claim| {
            let key = claim_key(shape, &claim.name);
            other.namespace == shape.namespace && other.claims.contains(claim) && self.single(&key)
        };
        let shared = shape.claims.iter().filter(shared).count();
        self.claim_conflicts += by * i64::try_from(shared).unwrap_or_default();
    }
}

/// Those of `terms` that speak of pods like `other`.
fn matching<'a>(cluster: &Cluster, terms: &'a [PodTerm], other: &Shape) -> Vec<&'a PodTerm> {
    if terms.is_empty() {
        return Vec::new();
    }
    let namespace = cluster.namespace(&other.namespace);
    terms.iter().filter(|term| term.matches(other, namespace)).collect()
}

/// The terms by which a placed pod keeps the incoming one away.
fn unwelcoming<'a>(cluster: &Cluster, placed: &'a Shape, incoming: &Shape) -> Vec<&'a PodTerm> {
    matching(cluster, &placed.anti_affinity, incoming)
}

/// Whether `other` is what all affinity terms ask for.
fn matches_all(cluster: &Cluster, shape: &Shape, other: &Shape) -> bool {
    !shape.affinity.is_empty() && matching(cluster, &shape.affinity, other).len() == shape.affinity.len()
}

fn add<'a>(
    counts: &mut BTreeMap<Domain<'a>, i64>,
    terms: impl Iterator<Item = &'a PodTerm>,
    node: &'a Facts,
    count: usize,
) {
    change(counts, terms, node, i64::try_from(count).unwrap_or(i64::MAX));
}

fn change<'a>(
    counts: &mut BTreeMap<Domain<'a>, i64>,
    terms: impl Iterator<Item = &'a PodTerm>,
    node: &'a Facts,
    by: i64,
) {
    for term in terms {
        let Some(value) = node.labels.label(&term.topology) else { continue };
        let domain = (&*term.topology, value);
        let count = counts.entry(domain).or_default();
        *count += by;
        if *count == 0 {
            counts.remove(&domain);
        }
    }
}
