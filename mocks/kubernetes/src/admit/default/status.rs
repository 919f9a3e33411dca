//! The status the server writes into every object of a kind that has one, and the counts that stand there as zero.

use serde_json::Value;

use crate::admit::nature;
use crate::admit::read::{fill, inner_mut, present, put};

/// Fills what the server writes even when it is zero.
pub(in crate::admit) fn status(group: &str, version: &str, kind: &str, object: &mut Value) {
    if !nature::has_status(group, kind) {
        return;
    }
    let Some(status) = inner_mut(object, "status") else { return };
    for count in counts(group, version, kind) {
        fill(status, count, 0);
    }
    match (group, kind) {
        ("autoscaling", _) if version != "v1" && present(status, "currentMetrics").is_none() => {
            put(status, "currentMetrics", Value::Null);
        }
        ("storage.k8s.io", "VolumeAttachment") => fill(status, "attached", false),
        ("" | "networking.k8s.io", "Service" | "Ingress") => {
            inner_mut(status, "loadBalancer");
        }
        _ => {}
    }
}

fn counts(group: &str, version: &str, kind: &str) -> &'static [&'static str] {
    match (group, kind) {
        ("", "ReplicationController") | ("apps", "ReplicaSet") => &["replicas"],
        ("apps", "StatefulSet") => &["replicas", "availableReplicas"],
        ("apps", "DaemonSet") => {
            &["currentNumberScheduled", "desiredNumberScheduled", "numberMisscheduled", "numberReady"]
        }
        ("policy", "PodDisruptionBudget") => {
            &["currentHealthy", "desiredHealthy", "disruptionsAllowed", "expectedPods"]
        }
        ("autoscaling", _) if version == "v1" => &["currentReplicas", "desiredReplicas"],
        ("autoscaling", _) => &["desiredReplicas"],
        _ => &[],
    }
}
