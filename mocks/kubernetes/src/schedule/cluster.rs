//! What the scheduler knows of the cluster, kept up to date event by event.
//!
//! It reads nothing by itself and decides nothing. After any sequence of events it equals what the surviving objects
//! would give when told afresh.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::api::core::v1 as core;
use k8s_openapi::api::policy::v1::PodDisruptionBudget;

use crate::selector::{Labels as _, Selector};

use super::node::{Facts as NodeFacts, Node, NodeId};
use super::pod::{Facts as PodFacts, Pod, PodId, PodKey, ShapeId};
use super::read;
use super::shape::{Labels, Shape};
use super::volume::{Claim, Class, Storage, Volume};

/// Pods of one shape on one node: all of them, and those that are not being deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) all: usize,
    pub(super) alive: usize,
}

/// A shape in use.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) shape: Arc<Shape>,
    /// Pods that have it, placed or not.
    users: usize,
    pub(super) on: BTreeMap<NodeId, Count>,
}

/// A disruption budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Budget {
    pub(super) namespace: Box<str>,
    pub(super) selector: Selector,
    pub(super) allowed: i32,
    pub(super) disrupted: BTreeSet<Box<str>>,
}

/// The state.
#[derive(Debug, Default)]
pub(crate) struct Cluster {
    pub(super) nodes: Vec<Node>,
    node_names: BTreeMap<Box<str>, NodeId>,
    /// The nodes there are, zone after zone in turn.
    pub(super) order: Vec<NodeId>,
    order_is_stale: bool,
    pub(super) pods: Vec<Option<Pod>>,
    free_pods: Vec<PodId>,
    pod_keys: BTreeMap<PodKey, PodId>,
    pub(super) shapes: Vec<Option<Kept>>,
    free_shapes: Vec<ShapeId>,
    shape_ids: BTreeMap<Arc<Shape>, ShapeId>,
    /// Placed shapes that keep others away.
    pub(super) repelling: BTreeSet<ShapeId>,
    /// Placed shapes that count when others are scored.
    pub(super) attracting: BTreeSet<ShapeId>,
    pub(super) namespaces: BTreeMap<Box<str>, Labels>,
    pub(super) storage: Storage,
    /// How many placed pods use a claim, by `namespace/name`.
    pub(super) claim_users: BTreeMap<Box<str>, usize>,
    pub(super) budgets: BTreeMap<Box<str>, Budget>,
}

impl Cluster {
    pub(super) fn pod(&self, id: PodId) -> Option<&Pod> {
        self.pods.get(id).and_then(Option::as_ref)
    }

    pub(super) fn pod_id(&self, key: &str) -> Option<PodId> {
        self.pod_keys.get(key).copied()
    }

    /// A shape that is in use. A pod's own always is.
    pub(super) fn shape(&self, id: ShapeId) -> &Arc<Shape> {
        &self.shapes[id].as_ref().expect("a pod keeps its shape").shape
    }

    /// Shapes in use in one namespace.
    pub(super) fn shapes_of<'a>(&'a self, namespace: &'a str) -> impl Iterator<Item = &'a Kept> {
        self.shapes
            .iter()
            .flatten()
            .filter(move |kept| &*kept.shape.namespace == namespace && !kept.on.is_empty())
    }

    pub(super) fn namespace(&self, name: &str) -> &Labels {
        static NONE: std::sync::OnceLock<Labels> = std::sync::OnceLock::new();
        self.namespaces.get(name).unwrap_or_else(|| NONE.get_or_init(Labels::default))
    }

    pub(super) fn node_id(&self, name: &str) -> Option<NodeId> {
        self.node_names.get(name).copied().filter(|id| self.nodes[*id].present)
    }

    // Nodes.

    /// Takes note of a node. Gives its facts before and after, if they changed.
    pub(super) fn set_node(&mut self, node: &core::Node) -> Option<(Option<Arc<NodeFacts>>, Arc<NodeFacts>)> {
        let facts = NodeFacts::of(node);
        let id = self.place(&facts.name);
        let node = &mut self.nodes[id];
        let before = node.present.then(|| Arc::clone(&node.facts));
        if before.as_deref() == Some(&facts) {
            return None;
        }
        let moved = before.as_ref().is_none_or(|before| zone(&before.labels) != zone(&facts.labels));
        self.order_is_stale |= moved;
        node.facts = Arc::new(facts);
        node.present = true;
        Some((before, Arc::clone(&node.facts)))
    }

    pub(super) fn remove_node(&mut self, name: &str) {
        let Some(id) = self.node_names.get(name).copied() else { return };
        let node = &mut self.nodes[id];
        node.present = false;
        node.facts = Arc::new(NodeFacts { name: name.into(), ..NodeFacts::default() });
        self.order_is_stale = true;
    }

    /// The place of a node by its name, made if there is none.
    fn place(&mut self, name: &str) -> NodeId {
        if let Some(id) = self.node_names.get(name) {
            return *id;
        }
        // A place without an object, without pods and without hopes is as good as new.
        let unused = |node: &Node| !node.present && node.pods.is_empty() && node.nominated.is_empty();
        let id = match self.nodes.len() {
            few if few < 64 + 2 * self.order.len() => None,
            _ => self.nodes.iter().position(unused),
        };
        let id = id.unwrap_or(self.nodes.len());
        if let Some(node) = self.nodes.get_mut(id) {
            self.node_names.remove(&node.facts.name);
            *node = Node::named(name);
        } else {
            self.nodes.push(Node::named(name));
        }
        self.node_names.insert(name.into(), id);
        id
    }

    /// Brings the order up to date: one node of each zone in turn.
    pub(super) fn arrange(&mut self) {
        if !std::mem::take(&mut self.order_is_stale) {
            return;
        }
        let mut zones: BTreeMap<(&str, &str), Vec<NodeId>> = BTreeMap::new();
        for id in self.node_names.values().filter(|id| self.nodes[**id].present) {
            zones.entry(zone(&self.nodes[*id].facts.labels)).or_default().push(*id);
        }
        let longest = zones.values().map(Vec::len).max().unwrap_or_default();
        let turns = (0..longest).flat_map(|turn| zones.values().filter_map(move |zone| zone.get(turn)));
        self.order = turns.copied().collect();
    }

    // Pods.

    /// Takes note of a pod that is placed, or waits to be. Gives its id.
    pub(super) fn set_pod(&mut self, facts: &PodFacts, shape: Shape) -> PodId {
        let old = self.pod_id(&facts.key);
        if let Some(old) = old
            && self.pod(old).is_some_and(|pod| pod.uid != facts.uid)
        {
            self.remove_pod(&facts.key);
        }
        let known = self.pod_id(&facts.key);
        let assumed = known.and_then(|id| self.pod(id)).filter(|pod| pod.assumed).and_then(|pod| pod.node);
        let node = facts.node.as_deref().map(|name| self.place(name));
        let nominated = facts.nominated.as_deref().filter(|_| node.is_none()).map(|name| self.place(name));
        let shape = self.keep(shape);
        let pod = Pod {
            key: Arc::clone(&facts.key),
            uid: facts.uid.clone(),
            shape,
            priority: facts.priority,
            node: node.or(assumed),
            assumed: node.is_none() && assumed.is_some(),
            nominated,
            deleting: facts.deleting,
            preempted: facts.preempted,
            started: facts.started,
        };
        let id = known.unwrap_or_else(|| {
            self.free_pods.pop().unwrap_or_else(|| {
                self.pods.push(None);
                self.pods.len() - 1
            })
        });
        self.withdraw(id);
        self.pods[id] = Some(pod);
        self.pod_keys.insert(Arc::clone(&facts.key), id);
        self.enter(id);
        id
    }

    pub(super) fn remove_pod(&mut self, key: &str) -> Option<PodId> {
        let (_, id) = self.pod_keys.remove_entry(key)?;
        self.withdraw(id);
        self.pods[id] = None;
        self.free_pods.push(id);
        Some(id)
    }

    /// Puts a pod on a node before anybody else knows.
    pub(super) fn assume(&mut self, id: PodId, node: NodeId) {
        self.replace(id, |pod| {
            pod.node = Some(node);
            pod.assumed = true;
            pod.nominated = None;
        });
    }

    /// Takes back what was assumed.
    pub(super) fn forget(&mut self, id: PodId) {
        self.replace(id, |pod| {
            if pod.assumed {
                pod.node = None;
                pod.assumed = false;
            }
        });
    }

    pub(super) fn nominate(&mut self, id: PodId, node: Option<NodeId>) {
        self.replace(id, |pod| pod.nominated = node.filter(|_| pod.node.is_none()));
    }

    fn replace(&mut self, id: PodId, change: impl FnOnce(&mut Pod)) {
        let Some(mut pod) = self.pod(id).cloned() else { return };
        let kept = self.keep_again(pod.shape);
        self.withdraw(id);
        change(&mut pod);
        pod.shape = kept;
        self.pods[id] = Some(pod);
        self.enter(id);
    }

    /// Counts a pod where it is.
    fn enter(&mut self, id: PodId) {
        let Some(pod) = self.pods[id].as_ref() else { return };
        if let Some(node) = pod.nominated {
            self.nodes[node].nominated.insert(id);
        }
        let Some(node) = pod.node else { return };
        let (shape_id, alive) = (pod.shape, usize::from(!pod.deleting));
        let kept = self.shapes[shape_id].as_mut().expect("a pod keeps its shape");
        let count = kept.on.entry(node).or_default();
        count.all += 1;
        count.alive += alive;
        let shape = Arc::clone(&kept.shape);
        self.nodes[node].add(id, &shape);
        if !shape.anti_affinity.is_empty() {
            self.repelling.insert(shape_id);
        }
        if shape.attracts() {
            self.attracting.insert(shape_id);
        }
        for claim in &shape.claims {
            *self.claim_users.entry(claim_key(&shape, &claim.name)).or_default() += 1;
        }
    }

    /// The opposite, and lets go of the shape.
    fn withdraw(&mut self, id: PodId) {
        let Some(pod) = self.pods.get_mut(id).and_then(Option::take) else { return };
        if let Some(node) = pod.nominated {
            self.nodes[node].nominated.remove(&id);
        }
        if let Some(node) = pod.node {
            let kept = self.shapes[pod.shape].as_mut().expect("a pod keeps its shape");
            if let Some(count) = kept.on.get_mut(&node) {
                count.all -= 1;
                count.alive -= usize::from(!pod.deleting);
                if count.all == 0 {
                    kept.on.remove(&node);
                }
            }
            let (shape, placed) = (Arc::clone(&kept.shape), !kept.on.is_empty());
            self.nodes[node].remove(id, &shape);
            if !placed {
                self.repelling.remove(&pod.shape);
                self.attracting.remove(&pod.shape);
            }
            for claim in &shape.claims {
                let key = claim_key(&shape, &claim.name);
                if let Some(users) = self.claim_users.get_mut(&key) {
                    *users -= 1;
                    if *users == 0 {
                        self.claim_users.remove(&key);
                    }
                }
            }
        }
        self.release(pod.shape);
    }

    fn keep(&mut self, shape: Shape) -> ShapeId {
        if let Some(id) = self.shape_ids.get(&shape) {
            return self.keep_again(*id);
        }
        let shape = Arc::new(shape);
        let kept = Some(Kept { shape: Arc::clone(&shape), users: 1, on: BTreeMap::new() });
        let id = if let Some(id) = self.free_shapes.pop() {
            self.shapes[id] = kept;
            id
        } else {
            self.shapes.push(kept);
            self.shapes.len() - 1
        };
        self.shape_ids.insert(shape, id);
        id
    }

    fn keep_again(&mut self, id: ShapeId) -> ShapeId {
        self.shapes[id].as_mut().expect("a pod keeps its shape").users += 1;
        id
    }

    fn release(&mut self, id: ShapeId) {
        let kept = self.shapes[id].as_mut().expect("a pod keeps its shape");
        kept.users -= 1;
        if kept.users == 0 {
            let shape = Arc::clone(&kept.shape);
            self.shapes[id] = None;
            self.shape_ids.remove(&shape);
            self.free_shapes.push(id);
        }
    }

    // Everything else.

    /// Whether all claims of a pod of this shape have their volumes.
    pub(super) fn claims_are_bound(&self, shape: &Shape) -> bool {
        let bound = |key: Box<str>| self.storage.claims.get(&key).is_some_and(|claim| claim.bound);
        shape.claims.iter().all(|claim| bound(claim_key(shape, &claim.name)))
    }

    pub(super) fn set_namespace(&mut self, namespace: &core::Namespace) {
        let name = namespace.metadata.name.as_deref().unwrap_or_default();
        self.namespaces.insert(name.into(), read::labels(namespace.metadata.labels.as_ref()));
    }

    pub(super) fn set_volume(&mut self, volume: &core::PersistentVolume) {
        let volume = Volume::of(volume);
        self.storage.volumes.insert(volume.name.clone(), volume);
    }

    pub(super) fn set_claim(&mut self, claim: &core::PersistentVolumeClaim) {
        let claim = Claim::of(claim);
        self.storage.claims.insert(claim.key.clone(), claim);
    }

    pub(super) fn set_class(&mut self, class: &k8s_openapi::api::storage::v1::StorageClass) {
        let name = class.metadata.name.as_deref().unwrap_or_default();
        self.storage.classes.insert(name.into(), Class::of(class));
    }

    pub(super) fn set_budget(&mut self, budget: &PodDisruptionBudget) {
        let metadata = &budget.metadata;
        let namespace = metadata.namespace.as_deref().unwrap_or_default();
        let key = format!("{namespace}/{}", metadata.name.as_deref().unwrap_or_default());
        let selector = budget.spec.as_ref().and_then(|spec| spec.selector.as_ref());
        let status = budget.status.as_ref();
        let disrupted = status.and_then(|status| status.disrupted_pods.as_ref());
        let budget = Budget {
            namespace: namespace.into(),
            selector: Selector::from_typed(selector).unwrap_or_else(|_| Selector::nothing()),
            allowed: status.map_or(0, |status| status.disruptions_allowed),
            disrupted: disrupted.into_iter().flatten().map(|(name, _)| name.as_str().into()).collect(),
        };
        self.budgets.insert(key.into(), budget);
    }
}

/// The key of a claim that a pod of this shape names.
pub(super) fn claim_key(shape: &Shape, name: &str) -> Box<str> {
    format!("{}/{name}", shape.namespace).into()
}

/// Region and zone.
fn zone(labels: &Labels) -> (&str, &str) {
    let label = |key: &str, old: &str| labels.label(key).or_else(|| labels.label(old)).unwrap_or_default();
    (
        label("topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"),
        label("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"),
    )
}
