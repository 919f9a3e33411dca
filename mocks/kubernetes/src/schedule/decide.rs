//! One decision: which node a pod goes to, or why there is none, in upstream's words.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::selector::Labels as _;

use super::cluster::{Cluster, claim_key};
use super::filter::{ClaimStep, claim_steps, fits};
use super::node::{Node, NodeId};
use super::pod::{Pod, PodId, PodKey};
use super::preempt::{self, Preemption};
use super::random::Random;
use super::reason::{Failure, Histogram, Plugins};
use super::score::{Packing, scores};
use super::shape::Shape;
use super::trial::{Claims, Trial};

/// As many nodes are looked for at least, if there are as many.
const ENOUGH: usize = 100;

/// What came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    Bind { node: Box<str>, claims: Vec<ClaimStep> },
    Unschedulable(Refusal),
}

/// Why not, and what follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) message: String,
    /// Who refused; an event that may change its mind gives the pod another try.
    pub(crate) rejected_by: Plugins,
    pub(crate) nomination: Nomination,
}

/// What becomes of `status.nominatedNodeName`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Nomination {
    Keep,
    Clear,
    /// Room is made here: `victims` go, and `yielding`, which had hoped for the same node, hope no more.
    On {
        node: Box<str>,
        victims: Vec<PodKey>,
        yielding: Vec<PodKey>,
    },
}

/// How decisions are made: the settings, the dice and the place to begin.
#[derive(Debug)]
pub(crate) struct Decider {
    pub(super) packing: Packing,
    pub(super) random: Random,
    /// Share of nodes to look at in percent; zero for upstream's sliding share.
    pub(super) percentage: usize,
    next_start: usize,
}

impl Decider {
    pub(crate) fn new(seed: u64, packing: Packing, percentage: usize) -> Self {
        Self { packing, random: Random::new(seed), percentage, next_start: 0 }
    }

    /// How many fitting nodes are enough.
    fn enough(&self, all: usize) -> usize {
        if all < ENOUGH {
            return all;
        }
        let sliding = 50usize.saturating_sub(all / 125).max(5);
        let percentage = if self.percentage == 0 { sliding } else { self.percentage };
        (all * percentage / 100).max(ENOUGH)
    }

    pub(super) fn decide(&mut self, cluster: &mut Cluster, id: PodId) -> Option<Decision> {
        cluster.arrange();
        let cluster = &*cluster;
        let pod = cluster.pod(id)?;
        let shape = Arc::clone(cluster.shape(pod.shape));
        let all = cluster.order.len();
        if all == 0 {
            let message = "no nodes available to schedule pods".to_owned();
            let (rejected_by, nomination) = (Plugins::default(), Nomination::Clear);
            return Some(Decision::Unschedulable(Refusal { message, rejected_by, nomination }));
        }
        let (trial, only) = match prepare(cluster, &shape) {
            Ok(prepared) => prepared,
            Err(refused) => return Some(Decision::Unschedulable(refused.refusal(all))),
        };
        if let Some(nominated) = pod.nominated.filter(|node| cluster.nodes[*node].present)
            && fits_beside_nominated(cluster, &trial, (id, pod), &cluster.nodes[nominated]).is_ok()
        {
            return Some(bind(cluster, &trial, nominated));
        }
        let (fitting, failures) = self.search(cluster, &trial, (id, pod), only.as_deref());
        if fitting.is_empty() {
            return Some(Decision::Unschedulable(self.refuse(
                cluster,
                &trial,
                (id, pod),
                &failures,
                only.as_deref(),
            )));
        }
        Some(bind(cluster, &trial, self.best(cluster, &shape, &fitting)))
    }

    /// Nodes that fit, until there are enough; and the failures met on the way.
    fn search(
        &mut self,
        cluster: &Cluster,
        trial: &Trial<'_>,
        pod: (PodId, &Pod),
        only: Option<&[NodeId]>,
    ) -> (Vec<NodeId>, Vec<(NodeId, Failure)>) {
        let nodes = only.unwrap_or(&cluster.order);
        let enough = self.enough(nodes.len());
        let start = if nodes.is_empty() { 0 } else { self.next_start % nodes.len() };
        let (mut fitting, mut failures) = (Vec::with_capacity(enough), Vec::new());
        for id in nodes[start..].iter().chain(&nodes[..start]) {
            match fits_beside_nominated(cluster, trial, pod, &cluster.nodes[*id]) {
                Ok(()) => fitting.push(*id),
                Err(failure) => failures.push((*id, failure)),
            }
            if fitting.len() == enough {
                break;
            }
        }
        self.next_start = (self.next_start + fitting.len() + failures.len()) % cluster.order.len();
        (fitting, failures)
    }

    /// The best of the fitting nodes; among equals the dice decide.
    fn best(&mut self, cluster: &Cluster, shape: &Shape, fitting: &[NodeId]) -> NodeId {
        if let [only] = fitting {
            return *only;
        }
        let scores = scores(cluster, shape, fitting, self.packing);
        let most = scores.iter().copied().max().unwrap_or_default();
        let best = || fitting.iter().zip(&scores).filter(|(_, score)| **score == most).map(|(id, _)| *id);
        let chosen = self.random.below(best().count());
        best().nth(chosen).unwrap_or(fitting[0])
    }

    fn refuse(
        &mut self,
        cluster: &Cluster,
        trial: &Trial<'_>,
        pod: (PodId, &Pod),
        failures: &[(NodeId, Failure)],
        only: Option<&[NodeId]>,
    ) -> Refusal {
        let all = cluster.order.len();
        let mut histogram = Histogram::of(failures.iter().map(|(_, failure)| *failure), trial.shape);
        if only.is_some() {
            let text = "node(s) didn't satisfy plugin(s) [NodeAffinity]";
            histogram.add(text, all.saturating_sub(failures.len()));
        }
        let failures: BTreeMap<NodeId, Failure> = failures.iter().copied().collect();
        let mut message = histogram.message(all);
        let preemption = preempt::preempt(cluster, trial, pod, &failures, &mut self.random);
        let nomination = match preemption {
            Preemption::Found { node, victims, yielding } => Nomination::On { node, victims, yielding },
            Preemption::None { message: why, keep } => {
                message.push_str(" no new claims to deallocate, preemption: ");
                message.push_str(&why);
                if keep { Nomination::Keep } else { Nomination::Clear }
            }
        };
        let plugins = failures.values().fold(Plugins::default(), |all, failure| all.or(failure.plugin));
        let rejected_by = if only.is_some() { plugins.or(Plugins::NODE_AFFINITY) } else { plugins };
        Refusal { message, rejected_by, nomination }
    }
}

fn bind(cluster: &Cluster, trial: &Trial<'_>, node: NodeId) -> Decision {
    let node = &cluster.nodes[node];
    let claims = claim_steps(cluster, trial, node).unwrap_or_default();
    Decision::Bind { node: node.facts.name.clone(), claims }
}

/// A pod no node can help, found before any was looked at.
struct Refused {
    why: String,
    plugin: Plugins,
}

impl Refused {
    /// Upstream's later plugins have not run then, and one of them says so.
    fn refusal(self, nodes: usize) -> Refusal {
        let message = format!("0/{nodes} nodes are available: {}. not found", self.why);
        Refusal { message, rejected_by: self.plugin, nomination: Nomination::Keep }
    }
}

/// What is worked out before nodes are looked at, and the nodes to look at if they are not all.
fn prepare<'a>(cluster: &'a Cluster, shape: &'a Shape) -> Result<(Trial<'a>, Option<Vec<NodeId>>), Refused> {
    let only = named_nodes(cluster, shape)?;
    let claims = claims(cluster, shape)?;
    let mut trial = Trial::new(cluster, shape, claims);
    trial.zones = zones(cluster, shape, &trial.claims)?;
    Ok((trial, only))
}

/// The nodes that every alternative of the affinity names, if every one names some.
fn named_nodes(cluster: &Cluster, shape: &Shape) -> Result<Option<Vec<NodeId>>, Refused> {
    let Some(terms) = shape.nodes.terms.as_deref().filter(|terms| !terms.is_empty()) else { return Ok(None) };
    let mut names = BTreeSet::new();
    for term in terms {
        match term.named() {
            None => return Ok(None),
            Some(Ok(name)) => names.insert(name),
            Some(Err(_)) => false,
        };
    }
    if names.is_empty() {
        let why = "pod affinity terms conflict".to_owned();
        return Err(Refused { why, plugin: Plugins::NODE_AFFINITY });
    }
    Ok(Some(names.into_iter().filter_map(|name| cluster.node_id(name)).collect()))
}

fn claims<'a>(cluster: &'a Cluster, shape: &Shape) -> Result<Claims<'a>, Refused> {
    let mut claims = Claims::default();
    let storage = &cluster.storage;
    let missing = |own: &&super::shape::Claim| {
        !own.ephemeral && !storage.claims.contains_key(&claim_key(shape, &own.name))
    };
    if let Some(own) = shape.claims.iter().find(missing) {
        let why = format!("persistentvolumeclaim \"{}\" not found", own.name);
        return Err(Refused { why, plugin: Plugins::VOLUME_RESTRICTIONS });
    }
    let refused = |why: String| Refused { why, plugin: Plugins::VOLUME_BINDING };
    let mut unbound = false;
    for own in &shape.claims {
        let name = &own.name;
        let Some(claim) = storage.claims.get(&claim_key(shape, name)) else {
            return Err(refused(format!(
                "waiting for ephemeral volume controller to create the persistentvolumeclaim \"{name}\""
            )));
        };
        if claim.lost {
            let volume = &claim.volume;
            return Err(refused(format!(
                "persistentvolumeclaim \"{name}\" bound to non-existent persistentvolume \"{volume}\""
            )));
        }
        if claim.deleting {
            return Err(refused(format!("persistentvolumeclaim \"{name}\" is being deleted")));
        }
        let waits = storage.classes.get(&claim.class).is_some_and(|class| class.waits);
        if claim.bound {
            claims.bound.push(claim);
        } else if waits && claim.volume.is_empty() {
            claims.waiting.push(claim);
        } else {
            unbound = true;
        }
    }
    if unbound {
        return Err(refused("pod has unbound immediate PersistentVolumeClaims".to_owned()));
    }
    Ok(claims)
}

/// The zone and region labels of bound volumes. Several values stand in one label, between double underscores.
fn zones<'a>(
    cluster: &'a Cluster,
    shape: &Shape,
    claims: &Claims<'a>,
) -> Result<Vec<(&'a str, BTreeSet<&'a str>)>, Refused> {
    const KEYS: [&str; 4] = [
        "failure-domain.beta.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region",
        "topology.kubernetes.io/zone",
        "topology.kubernetes.io/region",
    ];
    let ephemeral = |claim: &super::volume::Claim| {
        shape.claims.iter().any(|own| own.ephemeral && claim_key(shape, &own.name) == claim.key)
    };
    let mut zones = Vec::new();
    for claim in claims.bound.iter().filter(|claim| !ephemeral(claim)) {
        let Some(volume) = cluster.storage.volumes.get(&claim.volume) else {
            let why = format!("persistentvolume \"{}\" not found", claim.volume);
            return Err(Refused { why, plugin: Plugins::VOLUME_ZONE });
        };
        let label = |key: &&'static str| Some((*key, volume.labels.label(key)?.split("__").collect()));
        zones.extend(KEYS.iter().filter_map(label));
    }
    Ok(zones)
}

/// Whether a node fits, with the pods of at least the same priority that hope for it, and without them.
pub(super) fn fits_beside_nominated(
    cluster: &Cluster,
    trial: &Trial<'_>,
    (id, pod): (PodId, &Pod),
    node: &Node,
) -> Result<(), Failure> {
    let hopeful = |other: &PodId| {
        *other != id && cluster.pod(*other).is_some_and(|other| other.priority >= pod.priority)
    };
    if node.nominated.iter().any(hopeful) {
        let (mut crowded, mut trial) = (node.clone(), trial.clone());
        for other in node.nominated.iter().copied().filter(hopeful) {
            let Some(pod) = cluster.pod(other) else { continue };
            let shape = cluster.shape(pod.shape);
            crowded.add(other, shape);
            trial.adjust(shape, &node.facts, 1);
        }
        fits(cluster, &trial, &crowded)?;
    }
    fits(cluster, trial, node)
}
