//! Why a node does not fit, in upstream's words, in a form that costs nothing to collect: a set of bits.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::shape::Shape;

/// What looks at a node. The bits tell which events may help a pod that was refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Plugins(pub(super) u32);

impl Plugins {
    pub(super) const UNSCHEDULABLE: Self = Self(1);
    pub(super) const TAINTS: Self = Self(1 << 1);
    pub(super) const NODE_AFFINITY: Self = Self(1 << 2);
    pub(super) const PORTS: Self = Self(1 << 3);
    pub(super) const RESOURCES: Self = Self(1 << 4);
    pub(super) const VOLUME_RESTRICTIONS: Self = Self(1 << 5);
    pub(super) const VOLUME_LIMITS: Self = Self(1 << 6);
    pub(super) const VOLUME_BINDING: Self = Self(1 << 7);
    pub(super) const VOLUME_ZONE: Self = Self(1 << 8);
    pub(super) const SPREAD: Self = Self(1 << 9);
    pub(super) const POD_AFFINITY: Self = Self(1 << 10);

    pub(super) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) const fn any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

const TEXTS: [&str; 20] = [
    "node(s) were unschedulable",
    "node(s) had untolerated taint(s)",
    "node(s) didn't match Pod's node affinity/selector",
    "node(s) didn't have free ports for the requested pod ports",
    "Too many pods",
    "Insufficient cpu",
    "Insufficient memory",
    "Insufficient ephemeral-storage",
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
    "node(s) exceed max volume count",
    "node(s) didn't match PersistentVolume's node affinity",
    "node(s) didn't find available persistent volumes to bind",
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
    "node(s) had no available volume zone",
    "node(s) didn't match pod topology spread constraints",
    "node(s) didn't match pod topology spread constraints (missing required label)",
    "node(s) didn't match pod affinity rules",
    "node(s) didn't match pod anti-affinity rules",
    "node(s) didn't satisfy existing pods anti-affinity rules",
    "No preemption victims found for incoming pod",
];

/// Why one node does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    reasons: u64,
    /// Removing pods would not help.
    pub(super) unresolvable: bool,
    pub(super) plugin: Plugins,
}

/// A reason: a bit. Extended resources have those after the fixed texts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reason(usize);

impl Reason {
    pub(super) const UNSCHEDULABLE: Self = Self(0);
    pub(super) const TAINTS: Self = Self(1);
    pub(super) const NODE_AFFINITY: Self = Self(2);
    pub(super) const PORTS: Self = Self(3);
    pub(super) const PODS: Self = Self(4);
    pub(super) const CPU: Self = Self(5);
    pub(super) const MEMORY: Self = Self(6);
    pub(super) const DISK: Self = Self(7);
    pub(super) const ONE_POD_CLAIM: Self = Self(8);
    pub(super) const VOLUME_COUNT: Self = Self(9);
    pub(super) const VOLUME_AFFINITY: Self = Self(10);
    pub(super) const NO_VOLUME: Self = Self(11);
    pub(super) const VOLUME_GONE: Self = Self(12);
    pub(super) const VOLUME_ZONE: Self = Self(13);
    pub(super) const SPREAD: Self = Self(14);
    pub(super) const SPREAD_LABEL: Self = Self(15);
    pub(super) const AFFINITY: Self = Self(16);
    pub(super) const ANTI_AFFINITY: Self = Self(17);
    pub(super) const EXISTING_ANTI_AFFINITY: Self = Self(18);
    pub(super) const NO_VICTIMS: Self = Self(19);

    /// Not enough of the pod's extended resource at this place of its list.
    pub(super) fn other(place: usize) -> Self {
        Self((TEXTS.len() + place).min(63))
    }
}

impl Failure {
    pub(super) fn unresolvable(plugin: Plugins, reason: Reason) -> Self {
        Self { reasons: 1 << reason.0, unresolvable: true, plugin }
    }

    pub(super) fn resolvable(plugin: Plugins, reason: Reason) -> Self {
        Self { reasons: 1 << reason.0, unresolvable: false, plugin }
    }

    /// Several reasons of one plugin, to be filled.
    pub(super) fn none(plugin: Plugins) -> Self {
        Self { reasons: 0, unresolvable: false, plugin }
    }

    pub(super) fn add(&mut self, reason: Reason, unresolvable: bool) {
        self.reasons |= 1 << reason.0;
        self.unresolvable |= unresolvable;
    }

    pub(super) fn is_none(self) -> bool {
        self.reasons == 0
    }
}

/// How many nodes failed for which reason.
#[derive(Debug, Default)]
pub(super) struct Histogram {
    counts: BTreeMap<String, usize>,
}

impl Histogram {
    pub(super) fn of(failures: impl Iterator<Item = Failure>, shape: &Shape) -> Self {
        let mut counts = [0usize; 64];
        for failure in failures {
            let mut reasons = failure.reasons;
            while reasons != 0 {
                counts[reasons.trailing_zeros() as usize] += 1;
                reasons &= reasons - 1;
            }
        }
        let mut histogram = Self::default();
        for (place, count) in counts.into_iter().enumerate().filter(|(_, count)| *count > 0) {
            let text = TEXTS.get(place).map_or_else(
                || {
                    let other = shape.requests.other.get(place - TEXTS.len());
                    format!("Insufficient {}", other.map_or("", |(name, _)| name))
                },
                |text| (*text).to_owned(),
            );
            histogram.add(text, count);
        }
        histogram
    }

    pub(super) fn add(&mut self, reason: impl Into<String>, count: usize) {
        if count > 0 {
            *self.counts.entry(reason.into()).or_default() += count;
        }
    }

    /// `0/3 nodes are available: 1 Insufficient cpu, 2 …`.
    pub(super) fn message(&self, nodes: usize) -> String {
        let mut parts: Vec<String> =
            self.counts.iter().map(|(text, count)| format!("{count} {text}")).collect();
        parts.sort();
        let mut message = format!("0/{nodes} nodes are available:");
        if !parts.is_empty() {
            let _ = write!(message, " {}.", parts.join(", "));
        }
        message
    }
}
