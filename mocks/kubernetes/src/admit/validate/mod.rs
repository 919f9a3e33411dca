//! Validation: what a real server refuses, in its words and under its field paths.
//!
//! Object metadata is checked for every kind. Beyond that the kinds that schedulers, autoscalers and their users write
//! are checked thoroughly; of the others only what follows from the schema is known elsewhere. Not checked: security
//! contexts, dynamic resource claims, exotic volume sources, cron schedules, network policies, ingress rules.

mod affinity;
mod batch;
mod config;
mod container;
mod event;
mod field;
mod limits;
mod meta;
mod node;
mod pod;
mod pod_resize;
mod pod_status;
mod pod_update;
mod probe;
mod resources;
mod schedule;
mod selector;
mod service;
mod small;
mod spread;
mod storage;
mod volume;
mod workload;

use serde_json::Value;

use super::nature;
use crate::status::Wrong;

/// Everything wrong with an object. `old` is the stored object of an update; `subresource` is
/// empty for the object itself.
pub(crate) fn validate(
    group: &str,
    version: &str,
    kind: &str,
    subresource: &str,
    object: &Value,
    old: Option<&Value>,
) -> Vec<Wrong> {
    let mut wrong = Vec::new();
    match old {
        Some(old) => {
            wrong = metadata_changed(is_foreign(group), object, old);
            update(group, version, kind, subresource, object, old, &mut wrong);
        }
        None => create(group, version, kind, object, &mut wrong),
    }
    wrong
}

/// What is wrong with the metadata of a custom resource.
pub(crate) fn validate_metadata(namespaced: bool, object: &Value, old: Option<&Value>) -> Vec<Wrong> {
    if let Some(old) = old {
        return metadata_changed(true, object, old);
    }
    let mut wrong = Vec::new();
    meta::create_foreign(nature::NameRule::Subdomain, !namespaced, object, &mut wrong);
    wrong
}

/// Upstream looks at changed metadata twice: before the update, and with the rest of the object.
fn metadata_changed(foreign: bool, object: &Value, old: &Value) -> Vec<Wrong> {
    let mut wrong = Vec::new();
    if foreign {
        meta::update_foreign(object, old, &mut wrong);
    } else {
        meta::update(object, old, &mut wrong);
    }
    wrong.extend(wrong.clone());
    wrong
}

/// Groups whose kinds are not known to the core's own rules.
fn is_foreign(group: &str) -> bool {
    group == "apiextensions.k8s.io"
}

fn create(group: &str, version: &str, kind: &str, object: &Value, wrong: &mut Vec<Wrong>) {
    // Events of the core group bring names of any sort and are checked by their own old rules.
    if (group, kind) == ("", "Event") {
        event::event(version, object, wrong);
        if !wrong.is_empty() {
            return;
        }
        meta::create(nature::NameRule::Segment, false, object, wrong);
        return;
    }
    let (rule, is_cluster_scoped) = (nature::name_rule(group, kind), nature::is_cluster_scoped(group, kind));
    if is_foreign(group) {
        meta::create_foreign(rule, is_cluster_scoped, object, wrong);
    } else {
        meta::create(rule, is_cluster_scoped, object, wrong);
    }
    content(group, version, kind, object, wrong);
    match (group, kind) {
        ("", "Pod") => pod::new(object, wrong),
        ("batch", "CronJob") => batch::cron_job_name(object, wrong),
        ("batch", "Job") => batch::generated(object, wrong),
        ("apps", "StatefulSet") => workload::claim_templates(object, wrong),
        ("events.k8s.io", "Event") => event::event_v1(object, wrong),
        _ => {}
    }
}

/// What holds for the object itself, new or updated.
fn content(group: &str, version: &str, kind: &str, object: &Value, wrong: &mut Vec<Wrong>) {
    match (group, kind) {
        ("", "Pod") => pod::pod(object, wrong),
        ("", "PodTemplate") => pod::template_of(object, wrong),
        ("", "Node") => node::node(object, wrong),
        ("", "Namespace") => small::namespace(object, wrong),
        ("", "Service") => service::service(object, wrong),
        ("", "ConfigMap") => config::config_map(object, wrong),
        ("", "Secret") => config::secret(object, wrong),
        ("", "ReplicationController") => workload::replication_controller(object, wrong),
        ("", "PersistentVolume") => storage::volume(object, wrong),
        ("", "PersistentVolumeClaim") => storage::claim(object, wrong),
        ("", "LimitRange") => limits::limit_range(object, wrong),
        ("", "ResourceQuota") => limits::quota(object, wrong),
        ("apps", "Deployment") => workload::deployment(object, wrong),
        ("apps", "ReplicaSet") => workload::replica_set(object, wrong),
        ("apps", "StatefulSet") => workload::stateful_set(object, wrong),
        ("apps", "DaemonSet") => workload::daemon_set(object, wrong),
        ("apps", "ControllerRevision") => small::controller_revision(object, wrong),
        ("batch", "Job") => batch::job(object, wrong),
        ("batch", "CronJob") => batch::cron_job(object, wrong),
        ("policy", "PodDisruptionBudget") => small::disruption_budget(object, wrong),
        ("coordination.k8s.io", "Lease") => small::lease(object, wrong),
        ("scheduling.k8s.io", "PriorityClass") => small::priority_class(object, wrong),
        ("storage.k8s.io", "StorageClass") => storage::storage_class(object, wrong),
        ("storage.k8s.io", "CSINode") => storage::node_drivers(object, wrong),
        ("node.k8s.io", "RuntimeClass") => small::runtime_class(object, wrong),
        ("autoscaling", "HorizontalPodAutoscaler") => small::autoscaler(version, object, wrong),
        ("events.k8s.io", "Event") => event::event(version, object, wrong),
        _ => {}
    }
}

fn update(
    group: &str,
    version: &str,
    kind: &str,
    subresource: &str,
    object: &Value,
    old: &Value,
    wrong: &mut Vec<Wrong>,
) {
    match subresource {
        "" => {}
        "status" => return status(group, kind, object, old, wrong),
        "finalize" => return small::finalizers(object, wrong),
        "ephemeralcontainers" | "resize" => {
            return pod_update::subresource(subresource, object, old, wrong);
        }
        _ => return,
    }
    if (group, kind) == ("", "Event") {
        return event::event(version, object, wrong);
    }
    content(group, version, kind, object, wrong);
    match (group, kind) {
        ("", "Pod") => pod_update::pod(object, old, wrong),
        ("", "Node") => node::update(object, old, wrong),
        ("", "Service") => service::update(object, old, wrong),
        ("", "ConfigMap" | "Secret") => config::update(kind, object, old, wrong),
        ("", "PersistentVolume") => storage::volume_update(object, old, wrong),
        ("", "PersistentVolumeClaim") => storage::claim_update(object, old, wrong),
        ("apps", _) => workload::update(kind, object, old, wrong),
        ("batch", "Job") => batch::job_update(object, old, wrong),
        ("scheduling.k8s.io", "PriorityClass") => small::priority_class_update(object, old, wrong),
        ("storage.k8s.io", "StorageClass") => storage::storage_class_update(object, old, wrong),
        ("storage.k8s.io", "CSINode") => storage::node_drivers_update(object, old, wrong),
        ("storage.k8s.io", "VolumeAttachment") => storage::attachment_update(object, old, wrong),
        ("node.k8s.io", "RuntimeClass") => small::runtime_class_update(object, old, wrong),
        ("rbac.authorization.k8s.io", "RoleBinding" | "ClusterRoleBinding") => {
            small::binding_update(object, old, wrong);
        }
        _ => {}
    }
}

fn status(group: &str, kind: &str, object: &Value, old: &Value, wrong: &mut Vec<Wrong>) {
    match (group, kind) {
        ("", "Pod") => pod_status::pod(object, old, wrong),
        ("", "Node") => node::update(object, old, wrong),
        ("", "Namespace") => small::namespace_status(object, wrong),
        ("apps", _) | ("", "ReplicationController") => workload::status(kind, object, wrong),
        ("policy", "PodDisruptionBudget") => small::disruption_budget_status(object, wrong),
        _ => {}
    }
}
