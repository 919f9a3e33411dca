//! A pod in brief: what the controllers of workloads ask about it, read once a change.
//!
//! The object itself is shared with the store, so a controller of many pods keeps little more than pointers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use mock_clock::Time;
use serde::Deserialize;

use super::family::Child;
use crate::api;
use crate::store::Object;

const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";

#[derive(Clone, Debug)]
pub(super) struct Brief {
    pub(super) object: Arc<Object>,
    pub(super) phase: Phase,
    /// Since when it is ready, if it is.
    pub(super) ready: Option<Time>,
    /// Empty before it is bound.
    pub(super) node: Box<str>,
    pub(super) deletion_cost: i32,
    /// The most restarts of any of its containers.
    pub(super) restarts: i32,
    /// The restarts of all of them together.
    pub(super) restarts_total: i32,
    pub(super) born: Time,
    /// A Job still has to count it.
    pub(super) tracked: bool,
}

/// Holds a pod until its Job has counted it.
pub(super) const TRACKING: &str = "batch.kubernetes.io/job-tracking";

/// In the order in which pods are given up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub(super) enum Phase {
    #[default]
    Pending,
    Unknown,
    Running,
    Succeeded,
    Failed,
}

impl Brief {
    pub(super) fn name(&self) -> &str {
        &self.object.key.name
    }

    pub(super) fn uid(&self) -> &str {
        &self.object.uid
    }

    pub(super) fn is_finished(&self) -> bool {
        matches!(self.phase, Phase::Succeeded | Phase::Failed)
    }

    /// It runs, or is to run, and nobody has asked it to stop.
    pub(super) fn is_active(&self) -> bool {
        !self.is_finished() && !self.object.deleting
    }

    pub(super) fn is_terminating(&self) -> bool {
        !self.is_finished() && self.object.deleting
    }

    pub(super) fn is_ready(&self) -> bool {
        self.ready.is_some()
    }

    /// When it will have been ready for so long.
    pub(super) fn available_at(&self, min_ready_seconds: i32) -> Option<Time> {
        Some(self.ready? + seconds(min_ready_seconds.into()))
    }

    pub(super) fn is_available(&self, min_ready_seconds: i32, now: Time) -> bool {
        self.available_at(min_ready_seconds).is_some_and(|then| then <= now)
    }

    pub(super) fn read(&self) -> Option<Pod> {
        api::read(&self.object)
    }
}

/// No less than none.
pub(super) fn seconds(number: i64) -> Duration {
    Duration::from_secs(u64::try_from(number).unwrap_or_default())
}

/// How long until the first of these pods has been ready for long enough.
pub(super) fn until_available<'a>(
    pods: impl Iterator<Item = &'a Brief>,
    min_ready_seconds: i32,
    now: Time,
) -> Option<Duration> {
    let later = pods.filter_map(|pod| pod.available_at(min_ready_seconds)).filter(|then| *then > now);
    later.min().map(|then| then - now)
}

impl Child for Brief {
    type Kind = Pod;

    fn of(object: &Arc<Object>) -> Option<Self> {
        let sketch: Sketch = serde_json::from_slice(&object.json).ok()?;
        let (metadata, status) = (sketch.metadata, sketch.status.unwrap_or_default());
        let cost = metadata.annotations.as_ref().and_then(|all| all.get(DELETION_COST));
        let restarts = |list: &Option<Vec<Container>>| -> Vec<i32> {
            list.iter().flatten().map(|container| container.restart_count).collect()
        };
        let (regular, initial) =
            (restarts(&status.container_statuses), restarts(&status.init_container_statuses));
        let ready =
            status.conditions.iter().flatten().find(|one| one.kind == "Ready" && one.status == "True");
        let born = metadata.creation_timestamp.unwrap_or(Time::EPOCH);
        Some(Self {
            object: object.clone(),
            phase: status.phase.unwrap_or_default(),
            ready: ready.map(|one| one.last_transition_time.unwrap_or(born)),
            node: sketch.spec.unwrap_or_default().node_name.unwrap_or_default(),
            deletion_cost: cost.and_then(|cost| cost.parse().ok()).unwrap_or_default(),
            restarts: regular.iter().copied().max().unwrap_or_default(),
            restarts_total: regular.iter().chain(&initial).fold(0, |sum, count| sum.saturating_add(*count)),
            born,
            tracked: metadata.finalizers.iter().flatten().any(|finalizer| finalizer == TRACKING),
        })
    }

    fn object(&self) -> &Arc<Object> {
        &self.object
    }

    fn is_adoptable(&self) -> bool {
        self.is_active()
    }
}

/// The parts of a pod that a brief is made of.
#[derive(Deserialize)]
struct Sketch {
    metadata: Metadata,
    spec: Option<Spec>,
    status: Option<Status>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    creation_timestamp: Option<Time>,
    annotations: Option<BTreeMap<String, String>>,
    finalizers: Option<Vec<String>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    node_name: Option<Box<str>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    phase: Option<Phase>,
    conditions: Option<Vec<Condition>>,
    container_statuses: Option<Vec<Container>>,
    init_container_statuses: Option<Vec<Container>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Condition {
    #[serde(rename = "type")]
    kind: String,
    status: String,
    last_transition_time: Option<Time>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Container {
    #[serde(default)]
    restart_count: i32,
}
