//! The controllers that make pods, started together.

use k8s_openapi::api::apps::v1::ReplicaSet;
use k8s_openapi::api::core::v1::ReplicationController;
use tokio::task::JoinSet;

use super::daemon_set::DaemonSets;
use super::deployment::Deployments;
use super::frame::run;
use super::job::Jobs;
use super::replica_set::ReplicaSets;
use super::stateful_set::StatefulSets;
use super::ttl::TtlAfterFinished;
use crate::api::Api;

/// Starts each of them that is not off. The names are those of kube-controller-manager.
pub(crate) fn workloads(api: &Api, tasks: &mut JoinSet<()>, off: &dyn Fn(&str) -> bool) {
    macro_rules! start {
        ($name:literal, $controller:ty, $make:expr) => {
            if !off($name) {
                let api = api.clone();
                tasks.spawn(async move { run(api, $name, <$controller>::SHELVES, || $make).await });
            }
        };
    }
    start!("deployment-controller", Deployments, Deployments::new());
    start!("replicaset-controller", ReplicaSets<ReplicaSet>, ReplicaSets::<ReplicaSet>::new());
    start!(
        "replicationcontroller-controller",
        ReplicaSets<ReplicationController>,
        ReplicaSets::<ReplicationController>::new()
    );
    start!("statefulset-controller", StatefulSets, StatefulSets::new());
    start!("daemonset-controller", DaemonSets, DaemonSets::new());
    start!("job-controller", Jobs, Jobs::new());
    start!("ttl-after-finished-controller", TtlAfterFinished, TtlAfterFinished);
}
