//! Whether a node fits a pod: the plugins in upstream's order, each with its reason.

use std::collections::{BTreeMap, BTreeSet};

use crate::selector::Labels as _;

use super::cluster::{Cluster, claim_key};
use super::node::Node;
use super::reason::{Failure, Plugins, Reason};
use super::shape::{Shape, Taint};
use super::trial::Trial;
use super::volume::Claim;

/// What a chosen node asks of the pod's claims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ClaimStep {
    /// Bind this claim to this volume.
    Bind { claim: Box<str>, volume: Box<str> },
    /// Name the node, so that a volume is made for it.
    Provision { claim: Box<str> },
}

/// The whole of it.
pub(super) fn fits(cluster: &Cluster, trial: &Trial<'_>, node: &Node) -> Result<(), Failure> {
    let shape = trial.shape;
    let facts = &*node.facts;
    if facts.unschedulable && !tolerates_unschedulable(shape) {
        return Err(Failure::unresolvable(Plugins::UNSCHEDULABLE, Reason::UNSCHEDULABLE));
    }
    if !facts.taints.is_empty() && !shape.tolerates_all(&facts.taints) {
        return Err(Failure::unresolvable(Plugins::TAINTS, Reason::TAINTS));
    }
    if !shape.nodes.is_none() && !shape.nodes.matches(&facts.name, &facts.labels) {
        return Err(Failure::unresolvable(Plugins::NODE_AFFINITY, Reason::NODE_AFFINITY));
    }
    if shape.ports.iter().any(|port| node.ports.iter().any(|taken| taken.conflicts(port))) {
        return Err(Failure::resolvable(Plugins::PORTS, Reason::PORTS));
    }
    has_room(shape, node)?;
    if !shape.claims.is_empty() {
        volumes_fit(cluster, trial, node)?;
    }
    spreads(trial, node)?;
    neighbours(trial, node)
}

pub(super) fn tolerates_unschedulable(shape: &Shape) -> bool {
    let taint = Taint {
        key: "node.kubernetes.io/unschedulable".into(),
        value: "".into(),
        effect: "NoSchedule".into(),
    };
    shape.tolerates(&taint)
}

fn has_room(shape: &Shape, node: &Node) -> Result<(), Failure> {
    let (wants, has, taken) = (&shape.requests, &node.facts.allocatable, &node.requested);
    let mut failure = Failure::none(Plugins::RESOURCES);
    if i64::try_from(node.pods.len()).unwrap_or(i64::MAX) >= node.facts.pods {
        failure.add(Reason::PODS, false);
    }
    let mut check = |wants: i64, has: i64, taken: i64, reason: Reason| {
        if wants > 0 && wants > has - taken {
            failure.add(reason, wants > has);
        }
    };
    check(wants.cpu, has.cpu, taken.cpu, Reason::CPU);
    check(wants.memory, has.memory, taken.memory, Reason::MEMORY);
    check(wants.disk, has.disk, taken.disk, Reason::DISK);
    for (place, (name, wants)) in wants.other.iter().enumerate() {
        check(*wants, has.other(name), taken.other(name), Reason::other(place));
    }
    if failure.is_none() { Ok(()) } else { Err(failure) }
}

fn volumes_fit(cluster: &Cluster, trial: &Trial<'_>, node: &Node) -> Result<(), Failure> {
    if trial.claim_conflicts > 0 {
        return Err(Failure::resolvable(Plugins::VOLUME_RESTRICTIONS, Reason::ONE_POD_CLAIM));
    }
    if !attachable(cluster, trial.shape, node) {
        return Err(Failure::resolvable(Plugins::VOLUME_LIMITS, Reason::VOLUME_COUNT));
    }
    claim_steps(cluster, trial, node)?;
    let zones = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"];
    let old = ["failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"];
    let labels = &node.facts.labels;
    if zones.iter().chain(&old).all(|key| labels.label(key).is_none()) {
        return Ok(());
    }
    for (key, values) in &trial.zones {
        let newer = old.iter().position(|old| old == key).map_or(*key, |place| zones[place]);
        let value = labels.label(key).or_else(|| labels.label(newer));
        if !value.is_some_and(|value| values.contains(value)) {
            return Err(Failure::unresolvable(Plugins::VOLUME_ZONE, Reason::VOLUME_ZONE));
        }
    }
    Ok(())
}

/// Whether the node can attach what it does not have attached already.
fn attachable(cluster: &Cluster, shape: &Shape, node: &Node) -> bool {
    let storage = &cluster.storage;
    let Some(limits) = storage.limits.get(&node.facts.name).filter(|limits| !limits.is_empty()) else {
        return true;
    };
    let of = |shape: &Shape| {
        let claims =
            shape.claims.iter().filter_map(|claim| storage.claims.get(&claim_key(shape, &claim.name)));
        claims
            .filter_map(|claim| storage.attachable(claim))
            .map(|(driver, name)| (name, driver))
            .collect::<Vec<_>>()
    };
    let mut wanted: BTreeMap<String, &str> = of(shape).into_iter().collect();
    let mut attached: BTreeMap<String, &str> = BTreeMap::new();
    for pod in node.pods.iter().filter_map(|id| cluster.pod(*id)) {
        attached.extend(of(cluster.shape(pod.shape)));
    }
    wanted.retain(|name, _| !attached.contains_key(name));
    for (on, volume) in storage.attachments.values() {
        let csi = storage.volumes.get(volume).and_then(|volume| volume.csi.as_ref());
        if let Some((driver, handle)) = csi.filter(|_| *on == node.facts.name) {
            attached.insert(format!("{driver}/{handle}"), driver);
        }
    }
    let count = |volumes: &BTreeMap<String, &str>, driver: &str| {
        volumes.values().filter(|own| **own == driver).count()
    };
    wanted.values().all(|driver| {
        let sum = count(&wanted, driver) + count(&attached, driver);
        limits.get(*driver).is_none_or(|limit| i64::try_from(sum).unwrap_or(i64::MAX) <= *limit)
    })
}

/// What would have to be done for the claims on this node.
pub(super) fn claim_steps(
    cluster: &Cluster,
    trial: &Trial<'_>,
    node: &Node,
) -> Result<Vec<ClaimStep>, Failure> {
    let storage = &cluster.storage;
    let (name, labels) = (&*node.facts.name, &node.facts.labels);
    let mut failure = Failure::none(Plugins::VOLUME_BINDING);
    for claim in &trial.claims.bound {
        match storage.volumes.get(&claim.volume) {
            None => failure.add(Reason::VOLUME_GONE, true),
            Some(volume) if !volume.reaches(name, labels) => failure.add(Reason::VOLUME_AFFINITY, true),
            Some(_) => continue,
        }
        break;
    }
    let mut steps = Vec::new();
    let mut taken = BTreeSet::new();
    let mut waiting = trial.claims.waiting.clone();
    waiting.sort_by_key(|claim| claim.size);
    let provisions = |claim: &Claim| {
        let class = storage.classes.get(&claim.class);
        class.is_some_and(|class| class.provisions() && class.reaches(labels))
    };
    for claim in waiting {
        let selected = claim.selected_node.as_deref();
        let volume = match selected {
            None => storage.match_volume(claim, (name, labels), &taken),
            Some(_) => None,
        };
        if let Some(volume) = volume {
            taken.insert(&volume.name);
            steps.push(ClaimStep::Bind { claim: claim.key.clone(), volume: volume.name.clone() });
        } else if selected.is_none_or(|selected| selected == name) && provisions(claim) {
            steps.push(ClaimStep::Provision { claim: claim.key.clone() });
        } else {
            failure.add(Reason::NO_VOLUME, true);
            break;
        }
    }
    if failure.is_none() { Ok(steps) } else { Err(failure) }
}

fn spreads(trial: &Trial<'_>, node: &Node) -> Result<(), Failure> {
    for spreading in &trial.spreads {
        let Some(value) = node.facts.labels.label(&spreading.rule.topology) else {
            return Err(Failure::unresolvable(Plugins::SPREAD, Reason::SPREAD_LABEL));
        };
        let count = spreading.counts.get(value).copied().unwrap_or_default();
        if count + spreading.own - spreading.least > spreading.rule.max_skew {
            return Err(Failure::resolvable(Plugins::SPREAD, Reason::SPREAD));
        }
    }
    Ok(())
}

fn neighbours(trial: &Trial<'_>, node: &Node) -> Result<(), Failure> {
    let (shape, labels) = (trial.shape, &node.facts.labels);
    let count = |counts: &BTreeMap<(&str, &str), i64>, topology: &str, value: &str| {
        counts.get(&(topology, value)).copied().unwrap_or_default()
    };
    if !shape.affinity.is_empty() {
        let values = shape.affinity.iter().map(|term| (&*term.topology, labels.label(&term.topology)));
        let mut company = true;
        for (topology, value) in values {
            let Some(value) = value else {
                return Err(Failure::unresolvable(Plugins::POD_AFFINITY, Reason::AFFINITY));
            };
            company &= count(&trial.wanted, topology, value) > 0;
        }
        let first = || trial.wanted.is_empty() && trial.wants_itself();
        if !company && !first() {
            return Err(Failure::unresolvable(Plugins::POD_AFFINITY, Reason::AFFINITY));
        }
    }
    let near = |term: &super::shape::PodTerm| {
        labels.label(&term.topology).is_some_and(|value| count(&trial.avoided, &term.topology, value) > 0)
    };
    if !trial.avoided.is_empty() && shape.anti_affinity.iter().any(near) {
        return Err(Failure::resolvable(Plugins::POD_AFFINITY, Reason::ANTI_AFFINITY));
    }
    if !trial.unwelcome.is_empty()
        && labels.iter().any(|(key, value)| count(&trial.unwelcome, key, value) > 0)
    {
        return Err(Failure::resolvable(Plugins::POD_AFFINITY, Reason::EXISTING_ANTI_AFFINITY));
    }
    Ok(())
}
