//! Whether an event could help a pod that was refused. Too much hope costs a try, too little a stuck pod.

use super::cluster::Cluster;
use super::filter::tolerates_unschedulable;
use super::node::Facts;
use super::observe::Change;
use super::reason::Plugins;
use super::shape::{PodTerm, Shape};

const VOLUMES: Plugins = Plugins::VOLUME_BINDING.or(Plugins::VOLUME_ZONE);

/// Whether `change` could help a pod of this shape that `rejected` refused. Nobody in particular refuses when there are
/// no nodes at all.
pub(super) fn helps(cluster: &Cluster, change: &Change, shape: &Shape, rejected: Plugins) -> bool {
    match change {
        Change::Nothing | Change::Pending { .. } | Change::Gone { .. } => false,
        Change::Node { before, now } => {
            rejected == Plugins::default() || node_helps(before.as_deref(), now, shape, rejected)
        }
        Change::Placed { shape: other, .. } => {
            let near = any_matches(cluster, &shape.affinity, other);
            rejected.any(Plugins::POD_AFFINITY) && near
                || rejected.any(Plugins::SPREAD) && alike(shape, other)
        }
        Change::Left { shape: other, .. } => left_helps(cluster, other, shape, rejected),
        Change::Volume | Change::Class => rejected.any(VOLUMES),
        Change::Claim => rejected.any(VOLUMES.or(Plugins::VOLUME_RESTRICTIONS).or(Plugins::VOLUME_LIMITS)),
        Change::AttachLimits => rejected.any(Plugins::VOLUME_LIMITS.or(Plugins::VOLUME_BINDING)),
        Change::Attachment => rejected.any(Plugins::VOLUME_LIMITS),
        Change::Namespace => rejected.any(Plugins::POD_AFFINITY),
    }
}

fn node_helps(before: Option<&Facts>, now: &Facts, shape: &Shape, rejected: Plugins) -> bool {
    let newly = |holds: &dyn Fn(&Facts) -> bool| holds(now) && !before.is_some_and(holds);
    let relabelled = before.is_none_or(|before| before.labels != now.labels);
    let open = |node: &Facts| !node.unschedulable || tolerates_unschedulable(shape);
    let by_label = VOLUMES.or(Plugins::POD_AFFINITY).or(Plugins::VOLUME_LIMITS);
    rejected.any(Plugins::UNSCHEDULABLE) && newly(&open)
        || rejected.any(Plugins::TAINTS) && newly(&|node| shape.tolerates_all(&node.taints))
        || rejected.any(Plugins::NODE_AFFINITY)
            && newly(&|node| shape.nodes.matches(&node.name, &node.labels))
        || rejected.any(Plugins::RESOURCES) && has_grown(before, now, shape)
        || rejected.any(Plugins::PORTS.or(Plugins::VOLUME_RESTRICTIONS)) && before.is_none()
        || rejected.any(by_label) && relabelled
        || rejected.any(Plugins::SPREAD)
            && (relabelled || before.is_some_and(|before| before.taints != now.taints))
}

/// Whether the pod would fit the node if it were empty, and there is more of something it wants.
fn has_grown(before: Option<&Facts>, now: &Facts, shape: &Shape) -> bool {
    let wants = &shape.requests;
    let amounts = |node: &Facts| {
        let has = &node.allocatable;
        let other = wants.other.iter().map(|(name, wants)| (*wants, has.other(name)));
        [(1, node.pods), (wants.cpu, has.cpu), (wants.memory, has.memory), (wants.disk, has.disk)]
            .into_iter()
            .chain(other)
            .collect::<Vec<_>>()
    };
    let now = amounts(now);
    let Some(before) = before.map(amounts) else { return now.iter().all(|(wants, has)| wants <= has) };
    let more = before.iter().zip(&now).any(|(before, now)| now.0 > 0 && now.1 > before.1);
    more && now.iter().all(|(wants, has)| wants <= has)
}

fn left_helps(cluster: &Cluster, left: &Shape, shape: &Shape, rejected: Plugins) -> bool {
    let shares =
        || shape.claims.iter().any(|claim| left.claims.contains(claim)) && alike_namespace(shape, left);
    let collides = || shape.ports.iter().any(|port| left.ports.iter().any(|other| other.conflicts(port)));
    let repels = || {
        any_matches(cluster, &shape.anti_affinity, left) || any_matches(cluster, &left.anti_affinity, shape)
    };
    rejected.any(Plugins::RESOURCES)
        || rejected.any(Plugins::PORTS) && collides()
        || rejected.any(Plugins::POD_AFFINITY) && repels()
        || rejected.any(Plugins::SPREAD) && alike(shape, left)
        || rejected.any(Plugins::VOLUME_RESTRICTIONS) && shares()
        || rejected.any(Plugins::VOLUME_LIMITS) && !left.claims.is_empty()
}

fn alike_namespace(shape: &Shape, other: &Shape) -> bool {
    shape.namespace == other.namespace
}

/// Whether a spread constraint counts pods like `other`.
fn alike(shape: &Shape, other: &Shape) -> bool {
    let counts = |rule: &super::shape::Spread| rule.selector.matches(&other.labels[..]);
    alike_namespace(shape, other) && shape.spread.iter().any(counts)
}

fn any_matches(cluster: &Cluster, terms: &[PodTerm], other: &Shape) -> bool {
    let namespace = cluster.namespace(&other.namespace);
    terms.iter().any(|term| term.matches(other, namespace))
}
