//! The two kinds that keep a number of pods alive: ReplicaSet, and ReplicationController as the same with less.

use k8s_openapi::api::apps::v1::{ReplicaSet, ReplicaSetCondition, ReplicaSetStatus};
use k8s_openapi::api::core::v1::{
    PodTemplateSpec, ReplicationController, ReplicationControllerCondition, ReplicationControllerStatus,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

use crate::api::Kind;
use crate::selector::Selector;

pub(super) trait Replicates: Kind {
    /// As its events name it.
    const COMPONENT: &'static str;
    const SHELF: &'static str;

    fn selector(&self) -> Selector;
    fn replicas(&self) -> i32;
    fn min_ready_seconds(&self) -> i32;
    fn template(&self) -> Option<&PodTemplateSpec>;
    /// The status in the form of a ReplicaSet's.
    fn count(&self) -> ReplicaSetStatus;
    fn set_count(&mut self, status: ReplicaSetStatus);
}

impl Replicates for ReplicaSet {
    const COMPONENT: &'static str = "replicaset-controller";
    const SHELF: &'static str = "replicasets.apps";

    fn selector(&self) -> Selector {
        let selector = self.spec.as_ref().map(|spec| &spec.selector);
        Selector::from_typed(selector).unwrap_or_else(|_| Selector::nothing())
    }

    fn replicas(&self) -> i32 {
        self.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1)
    }

    fn min_ready_seconds(&self) -> i32 {
        self.spec.as_ref().and_then(|spec| spec.min_ready_seconds).unwrap_or_default()
    }

    fn template(&self) -> Option<&PodTemplateSpec> {
        self.spec.as_ref()?.template.as_ref()
    }

    fn count(&self) -> ReplicaSetStatus {
        self.status.clone().unwrap_or_default()
    }

    fn set_count(&mut self, status: ReplicaSetStatus) {
        self.status = Some(status);
    }
}

impl Replicates for ReplicationController {
    const COMPONENT: &'static str = "replication-controller";
    const SHELF: &'static str = "replicationcontrollers";

    fn selector(&self) -> Selector {
        let labels = self.spec.as_ref().and_then(|spec| spec.selector.clone());
        let selector =
            labels.map(|labels| LabelSelector { match_labels: Some(labels), ..Default::default() });
        Selector::from_typed(selector.as_ref()).unwrap_or_else(|_| Selector::nothing())
    }

    fn replicas(&self) -> i32 {
        self.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1)
    }

    fn min_ready_seconds(&self) -> i32 {
        self.spec.as_ref().and_then(|spec| spec.min_ready_seconds).unwrap_or_default()
    }

    fn template(&self) -> Option<&PodTemplateSpec> {
        self.spec.as_ref()?.template.as_ref()
    }

    fn count(&self) -> ReplicaSetStatus {
        let status = self.status.clone().unwrap_or_default();
        let condition = |one: ReplicationControllerCondition| ReplicaSetCondition {
            last_transition_time: one.last_transition_time,
            message: one.message,
            reason: one.reason,
            status: one.status,
            type_: one.type_,
        };
        ReplicaSetStatus {
            available_replicas: status.available_replicas,
            conditions: status.conditions.map(|all| all.into_iter().map(condition).collect()),
            fully_labeled_replicas: status.fully_labeled_replicas,
            observed_generation: status.observed_generation,
            ready_replicas: status.ready_replicas,
            replicas: status.replicas,
            terminating_replicas: None,
        }
    }

    fn set_count(&mut self, status: ReplicaSetStatus) {
        let condition = |one: ReplicaSetCondition| ReplicationControllerCondition {
            last_transition_time: one.last_transition_time,
            message: one.message,
            reason: one.reason,
            status: one.status,
            type_: one.type_,
        };
        self.status = Some(ReplicationControllerStatus {
            available_replicas: status.available_replicas,
            conditions: status.conditions.map(|all| all.into_iter().map(condition).collect()),
            fully_labeled_replicas: status.fully_labeled_replicas,
            observed_generation: status.observed_generation,
            ready_replicas: status.ready_replicas,
            replicas: status.replicas,
        });
    }
}
