//! A node as the scheduler sees it: what it is, and what is taken of it.

use std::collections::BTreeSet;
use std::sync::Arc;

use k8s_openapi::api::core::v1::Node as Written;

use super::pod::PodId;
use super::read::labels;
use super::request::Amounts;
use super::shape::{Labels, Port, Shape, Taint};

/// A place in the list of nodes.
pub(super) type NodeId = usize;

/// What the node's object says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) name: Box<str>,
    pub(super) labels: Labels,
    pub(super) taints: Box<[Taint]>,
    pub(super) unschedulable: bool,
    pub(super) allocatable: Amounts,
    pub(super) pods: i64,
}

impl Facts {
    pub(super) fn of(node: &Written) -> Self {
        let spec = node.spec.as_ref();
        let status = node.status.as_ref();
        let allocatable = status.and_then(|status| status.allocatable.as_ref().or(status.capacity.as_ref()));
        let pods = allocatable.and_then(|list| list.get("pods"));
        let pods = pods.and_then(|pods| pods.0.trim().parse::<crate::quantity::Quantity>().ok());
        let taint = |taint: &k8s_openapi::api::core::v1::Taint| Taint {
            key: taint.key.as_str().into(),
            value: taint.value.as_deref().unwrap_or_default().into(),
            effect: taint.effect.as_str().into(),
        };
        Self {
            name: node.metadata.name.as_deref().unwrap_or_default().into(),
            labels: labels(node.metadata.labels.as_ref()),
            taints: spec.into_iter().flat_map(|spec| spec.taints.iter().flatten()).map(taint).collect(),
            unschedulable: spec.is_some_and(|spec| spec.unschedulable == Some(true)),
            allocatable: Amounts::of(allocatable),
            pods: pods.map_or(0, |pods| pods.value()),
        }
    }
}

/// A node with its pods. Copies are cheap enough to try things out.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    pub(super) facts: Arc<Facts>,
    /// Whether its object exists. Pods may be bound to a node that has none, or none yet.
    pub(super) present: bool,
    pub(super) requested: Amounts,
    pub(super) scored: (i64, i64),
    pub(super) pods: Vec<PodId>,
    pub(super) ports: Vec<Port>,
    /// Pods that wait for room here.
    pub(super) nominated: BTreeSet<PodId>,
}

impl Node {
    pub(super) fn named(name: &str) -> Self {
        Self { facts: Arc::new(Facts { name: name.into(), ..Facts::default() }), ..Self::default() }
    }

    pub(super) fn add(&mut self, pod: PodId, shape: &Shape) {
        self.pods.push(pod);
        self.requested.add(&shape.requests);
        self.scored.0 += shape.scored.placed.0;
        self.scored.1 += shape.scored.placed.1;
        self.ports.extend(shape.ports.iter().cloned());
    }

    pub(super) fn remove(&mut self, pod: PodId, shape: &Shape) {
        let Some(place) = self.pods.iter().position(|own| *own == pod) else { return };
        self.pods.swap_remove(place);
        self.requested.remove(&shape.requests);
        self.scored.0 -= shape.scored.placed.0;
        self.scored.1 -= shape.scored.placed.1;
        for port in &shape.ports {
            if let Some(place) = self.ports.iter().position(|own| own == port) {
                self.ports.swap_remove(place);
            }
        }
    }
}
