//! Defaults: what the server fills into an object before admission looks at it.
//!
//! The same functions run on create, on update and after a patch; they only add what is missing. Aliases that the
//! server keeps in step (`serviceAccount`, `podIP`, `stringData`, …) are brought in step here too. Custom resource
//! definitions have their own room.

mod batch;
pub(super) mod container;
mod hpa;
mod network;
mod pod;
pub(super) mod resources;
pub(super) mod rest;
pub(super) mod status;
mod storage;
mod template;
mod volume;
pub(super) mod workload;
mod written;

use serde_json::Value;

/// Fills the defaults of a built-in kind.
pub(crate) fn default(group: &str, version: &str, kind: &str, object: &mut Value) {
    match (group, kind) {
        ("", "Pod") => pod::pod(object),
        ("", "PodTemplate") => template::template(object, "template"),
        ("", "ReplicationController") => workload::replication_controller(object),
        ("", "Service") => network::service(object),
        ("", "Endpoints") => network::endpoints(object),
        ("", "PersistentVolume") => storage::persistent_volume(object),
        ("", "PersistentVolumeClaim") => storage::claim(object),
        ("", "LimitRange") => rest::limit_range(object),
        ("", "ResourceQuota") => rest::resource_quota(object),
        ("", "Namespace") => rest::namespace(object),
        ("", "Node") => rest::node(object),
        ("", "Secret") => rest::secret(object),
        ("apps", "Deployment") => workload::deployment(object),
        ("apps", "ReplicaSet") => workload::replica_set(object),
        ("apps", "StatefulSet") => workload::stateful_set(object),
        ("apps", "DaemonSet") => workload::daemon_set(object),
        ("batch", "Job") => batch::job(object),
        ("batch", "CronJob") => batch::cron_job(object),
        ("policy", "PodDisruptionBudget") => rest::disruption_budget(object),
        ("autoscaling", "HorizontalPodAutoscaler") => hpa::horizontal_pod_autoscaler(version, object),
        ("networking.k8s.io", "IngressClass") => network::ingress_class(object),
        ("networking.k8s.io", "NetworkPolicy") => network::network_policy(object),
        ("discovery.k8s.io", "EndpointSlice") => network::endpoint_slice(object),
        ("storage.k8s.io", "StorageClass") => storage::storage_class(object),
        ("storage.k8s.io", "CSIDriver") => storage::driver(object),
        ("scheduling.k8s.io", "PriorityClass") => rest::priority_class(object),
        ("rbac.authorization.k8s.io", "RoleBinding" | "ClusterRoleBinding") => rest::binding(object),
        ("resource.k8s.io", "ResourceClaim" | "ResourceClaimTemplate") => rest::device_claim(kind, object),
        _ => {}
    }
    status::status(group, version, kind, object);
    written::written(group, kind, object);
}
