//! A pod as the scheduler keeps it: a name, a shape and what changes while it lives.

use std::sync::Arc;

use k8s_openapi::api::core::v1::Pod as Written;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time as WrittenTime;
use mock_clock::Time;

use super::node::NodeId;

/// A place in the list of pods.
pub(super) type PodId = usize;
/// A place in the list of shapes.
pub(super) type ShapeId = usize;

/// `namespace/name`.
pub(crate) type PodKey = Arc<str>;

/// One pod.
#[derive(Clone, Debug)]
pub(super) struct Pod {
    pub(super) key: PodKey,
    pub(super) uid: Box<str>,
    pub(super) shape: ShapeId,
    pub(super) priority: i32,
    pub(super) node: Option<NodeId>,
    /// On `node` only because this scheduler said so: the binding has not been seen.
    pub(super) assumed: bool,
    pub(super) nominated: Option<NodeId>,
    pub(super) deleting: bool,
    /// Being deleted to make room.
    pub(super) preempted: bool,
    /// When its node started it; never, if it has not.
    pub(super) started: Time,
}

/// What a pod's object says, apart from its shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) key: PodKey,
    pub(super) uid: Box<str>,
    pub(super) priority: i32,
    pub(super) node: Option<Box<str>>,
    pub(super) nominated: Option<Box<str>>,
    pub(super) deleting: bool,
    pub(super) preempted: bool,
    pub(super) started: Time,
    pub(super) gates: Vec<Box<str>>,
    pub(super) scheduler: Box<str>,
    /// Succeeded or failed: it takes no room any more.
    pub(super) finished: bool,
}

/// The key of a pod, or of anything else with a namespace.
pub(super) fn key(namespace: &str, name: &str) -> PodKey {
    format!("{namespace}/{name}").into()
}

/// A moment of an object's metadata.
pub(super) fn moment(time: &WrittenTime) -> Time {
    Time::try_from(time.0).unwrap_or(Time::EPOCH)
}

impl Facts {
    pub(super) fn of(pod: &Written) -> Self {
        let (spec, status) = (pod.spec.as_ref(), pod.status.as_ref());
        let text =
            |text: Option<&String>| text.filter(|text| !text.is_empty()).map(|text| text.as_str().into());
        let phase = status.and_then(|status| status.phase.as_deref());
        let deleting = pod.metadata.deletion_timestamp.is_some();
        let conditions = status.into_iter().flat_map(|status| status.conditions.iter().flatten());
        let target = conditions.filter(|one| one.type_ == "DisruptionTarget").collect::<Vec<_>>();
        let preempting = target.first().is_some_and(|one| {
            one.status == "True" && one.reason.as_deref() == Some("PreemptionByScheduler")
        });
        let metadata = &pod.metadata;
        Self {
            key: key(
                metadata.namespace.as_deref().unwrap_or_default(),
                metadata.name.as_deref().unwrap_or_default(),
            ),
            uid: metadata.uid.as_deref().unwrap_or_default().into(),
            priority: spec.and_then(|spec| spec.priority).unwrap_or_default(),
            node: text(spec.and_then(|spec| spec.node_name.as_ref())),
            nominated: text(status.and_then(|status| status.nominated_node_name.as_ref())),
            deleting,
            preempted: deleting && preempting,
            started: status.and_then(|status| status.start_time.as_ref()).map_or(Time::NEVER, moment),
            gates: spec
                .into_iter()
                .flat_map(|spec| spec.scheduling_gates.iter().flatten())
                .map(|gate| gate.name.as_str().into())
                .collect(),
            scheduler: spec
                .and_then(|spec| spec.scheduler_name.as_deref())
                .unwrap_or("default-scheduler")
                .into(),
            finished: matches!(phase, Some("Succeeded" | "Failed")),
        }
    }
}
