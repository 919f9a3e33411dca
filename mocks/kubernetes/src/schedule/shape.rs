//! Everything about a pod that decides where it may run: its labels and what its spec asks for.
//!
//! Replicas share one shape, so a bound pod costs little more than its name. A shape is a plain value with an order:
//! equal shapes are kept once.

use crate::selector::{Labels as _, Selector};

use super::request::{Amounts, Scored};

/// Labels, sorted by key.
pub(super) type Labels = Box<[(Box<str>, Box<str>)]>;

/// What a pod is like, as far as scheduling cares.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Shape {
    pub(super) namespace: Box<str>,
    pub(super) labels: Labels,
    pub(super) requests: Amounts,
    pub(super) scored: Scored,
    pub(super) tolerations: Box<[Toleration]>,
    pub(super) nodes: NodeRule,
    pub(super) preferred_nodes: Box<[(i32, NodeTerm)]>,
    pub(super) affinity: Box<[PodTerm]>,
    pub(super) anti_affinity: Box<[PodTerm]>,
    /// With the weight; less than zero to keep away.
    pub(super) preferred_pods: Box<[(i64, PodTerm)]>,
    pub(super) spread: Box<[Spread]>,
    pub(super) ports: Box<[Port]>,
    pub(super) claims: Box<[Claim]>,
    /// `preemptionPolicy: Never`.
    pub(super) never_preempts: bool,
}

/// Which nodes a pod may run on: all of `selector`, and one of `terms` if there are any.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NodeRule {
    pub(super) selector: Labels,
    pub(super) terms: Option<Box<[NodeTerm]>>,
}

impl NodeRule {
    pub(super) fn is_none(&self) -> bool {
        self.selector.is_empty() && self.terms.is_none()
    }

    pub(super) fn matches(&self, name: &str, labels: &Labels) -> bool {
        self.selector.iter().all(|(key, value)| labels.label(key) == Some(value))
            && self.terms.as_ref().is_none_or(|terms| terms.iter().any(|term| term.matches(name, labels)))
    }
}

/// One alternative of a node affinity.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NodeTerm {
    /// Selects nothing if the term makes no sense.
    pub(super) labels: Selector,
    pub(super) fields: Box<[FieldRule]>,
}

/// A requirement on a node's field; the name is the only field there is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FieldRule {
    pub(super) field: Box<str>,
    pub(super) equal: bool,
    pub(super) value: Box<str>,
}

impl NodeTerm {
    pub(super) fn matches(&self, name: &str, labels: &Labels) -> bool {
        self.labels.matches(&labels[..])
            && self.fields.iter().all(|rule| {
                let value = if &*rule.field == "metadata.name" { name } else { "" };
                (value == &*rule.value) == rule.equal
            })
    }

    /// The one node it names, if it names one.
    pub(super) fn named(&self) -> Option<Result<&str, Conflict>> {
        let mut names = self
            .fields
            .iter()
            .filter(|rule| rule.equal && &*rule.field == "metadata.name")
            .map(|rule| &*rule.value);
        let first = names.next()?;
        Some(if names.all(|name| name == first) { Ok(first) } else { Err(Conflict) })
    }
}

/// A term that names two nodes at once.
#[derive(Debug)]
pub(super) struct Conflict;

/// Other pods to be near to, or far from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PodTerm {
    pub(super) topology: Box<str>,
    pub(super) selector: Selector,
    pub(super) namespaces: Box<[Box<str>]>,
    pub(super) namespace_selector: Selector,
}

impl PodTerm {
    /// Whether it speaks of pods like `other`, whose namespace has these labels.
    pub(super) fn matches(&self, other: &Shape, namespace: &Labels) -> bool {
        (self.namespaces.contains(&other.namespace) || self.namespace_selector.matches(&namespace[..]))
            && self.selector.matches(&other.labels[..])
    }
}

/// A topology spread constraint.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Spread {
    pub(super) topology: Box<str>,
    pub(super) selector: Selector,
    pub(super) max_skew: i64,
    pub(super) min_domains: usize,
    pub(super) honor_affinity: bool,
    pub(super) honor_taints: bool,
    /// `DoNotSchedule`; otherwise it only scores.
    pub(super) required: bool,
}

/// A port of the node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Port {
    pub(super) number: i32,
    pub(super) protocol: Box<str>,
    pub(super) address: Box<str>,
}

impl Port {
    pub(super) fn conflicts(&self, other: &Self) -> bool {
        let any = |port: &Self| &*port.address == "0.0.0.0";
        self.number == other.number
            && self.protocol == other.protocol
            && (any(self) || any(other) || self.address == other.address)
    }
}

/// A persistent volume claim that the pod mounts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Claim {
    pub(super) name: Box<str>,
    /// Made for this pod alone.
    pub(super) ephemeral: bool,
}

/// What a pod puts up with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Toleration {
    pub(super) key: Box<str>,
    pub(super) operator: Box<str>,
    pub(super) value: Box<str>,
    pub(super) effect: Box<str>,
}

/// What keeps pods away from a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Taint {
    pub(super) key: Box<str>,
    pub(super) value: Box<str>,
    pub(super) effect: Box<str>,
}

impl Taint {
    pub(super) fn forbids(&self) -> bool {
        matches!(&*self.effect, "NoSchedule" | "NoExecute")
    }
}

impl Toleration {
    pub(super) fn covers(&self, taint: &Taint) -> bool {
        (self.effect.is_empty() || self.effect == taint.effect)
            && (self.key.is_empty() || self.key == taint.key)
            && match &*self.operator {
                "" | "Equal" => self.value == taint.value,
                "Exists" => true,
                _ => false,
            }
    }
}

impl Shape {
    pub(super) fn tolerates(&self, taint: &Taint) -> bool {
        self.tolerations.iter().any(|toleration| toleration.covers(taint))
    }

    /// Whether every taint that forbids is tolerated.
    pub(super) fn tolerates_all(&self, taints: &[Taint]) -> bool {
        taints.iter().all(|taint| !taint.forbids() || self.tolerates(taint))
    }

    /// Whether it says anything about other pods that counts when a third one is scored.
    pub(super) fn attracts(&self) -> bool {
        !self.affinity.is_empty() || !self.preferred_pods.is_empty()
    }
}
