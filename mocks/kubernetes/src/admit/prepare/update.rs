//! Before an update of an object or of one of its subresources is stored.

use serde_json::{Value, json};

use super::{create, generation, pod};
use crate::admit::default::rest::NAMESPACE_NAME;
use crate::admit::default::workload;
use crate::admit::nature;
use crate::admit::read::{deep, inner_mut, is_zero, keep, present, put, text};
use crate::admit::same::same_field;

/// Restores what a client cannot change, and counts the generation. `subresource` is empty for the object itself.
pub(crate) fn for_update(
    group: &str,
    kind: &str,
    subresource: &str,
    object: &mut Value,
    old: &Value,
    now: &str,
) {
    let stored = present(old, "metadata").cloned().unwrap_or_default();
    if let Some(metadata) = inner_mut(object, "metadata") {
        keep(metadata, &stored, "generation");
    }
    match (group, kind, subresource) {
        ("", "Pod", "ephemeralcontainers") => pod::ephemeral_containers(object, old),
        ("", "Pod", "resize") => pod::resize(object, old),
        ("", "Namespace", "finalize") => keep(object, old, "status"),
        (_, _, "status") => status(group, kind, object, old, now),
        ("certificates.k8s.io", "CertificateSigningRequest", _) => keep(object, old, "spec"),
        _ => whole(group, kind, object, old),
    }
    if let Some(metadata) = inner_mut(object, "metadata") {
        unchangeable(metadata, &stored);
    }
}

/// Metadata that no update can change or drop.
fn unchangeable(metadata: &mut Value, stored: &Value) {
    if text(metadata, "uid").is_empty() {
        keep(metadata, stored, "uid");
    }
    if present(stored, "creationTimestamp").is_some() {
        keep(metadata, stored, "creationTimestamp");
    }
    if present(stored, "deletionTimestamp").is_some() {
        keep(metadata, stored, "deletionTimestamp");
    }
    if present(metadata, "deletionGracePeriodSeconds").is_none() {
        keep(metadata, stored, "deletionGracePeriodSeconds");
    }
}

fn whole(group: &str, kind: &str, object: &mut Value, old: &Value) {
    if nature::has_status(group, kind) {
        keep(object, old, "status");
    }
    match (group, kind) {
        ("", "Namespace") => namespace(object, old),
        ("", "Node") => {
            if deep(old, &["spec", "configSource"]).is_none()
                && let Some(spec) = inner_mut(object, "spec")
            {
                crate::admit::read::remove(spec, "configSource");
            }
        }
        ("", "PersistentVolumeClaim") => {
            if let Some(spec) = inner_mut(object, "spec") {
                create::data_sources(spec);
            }
        }
        ("", "ServiceAccount") => create::secret_names(object),
        ("apps", "DaemonSet") => {
            let count = workload::template_generation(old);
            let is_new = !same_field(deep(object, &["spec", "template"]), deep(old, &["spec", "template"]));
            workload::put_template_generation(object, count + i64::from(is_new));
        }
        _ => {}
    }
    generation::count(group, kind, object, old);
}

fn namespace(object: &mut Value, old: &Value) {
    let spec = present(old, "spec").cloned().unwrap_or_default();
    if let Some(new) = inner_mut(object, "spec") {
        keep(new, &spec, "finalizers");
    }
    let name = deep(object, &["metadata", "name"]).cloned().unwrap_or_default();
    if let Some(labels) = inner_mut(object, "metadata").and_then(|all| inner_mut(all, "labels")) {
        put(labels, NAMESPACE_NAME, name);
    }
}

fn status(group: &str, kind: &str, object: &mut Value, old: &Value, now: &str) {
    if let Some(map) = object.as_object_mut() {
        // Everything but the status and metadata is the stored object's.
        map.retain(|name, _| matches!(name.as_str(), "apiVersion" | "kind" | "metadata" | "status"));
    }
    for name in ["spec", "data"] {
        if present(old, name).is_some() {
            keep(object, old, name);
        }
    }
    match (group, kind) {
        ("", "Pod") => pod::status(object, old),
        ("", "PersistentVolume") => phase_time(object, old, now),
        ("apps", "Deployment") => keep_metadata(object, old, &["labels"]),
        ("storage.k8s.io", "VolumeAttachment")
        | ("resource.k8s.io" | "apiextensions.k8s.io" | "admissionregistration.k8s.io", _)
        | ("networking.k8s.io", "ServiceCIDR")
        | ("certificates.k8s.io", "PodCertificateRequest") => keep_metadata(object, old, STATUS_KEEPS),
        ("flowcontrol.apiserver.k8s.io", _) => {
            keep_metadata(object, old, STATUS_KEEPS);
        }
        _ => {}
    }
}

/// Metadata that newer kinds do not let the status endpoint change.
const STATUS_KEEPS: &[&str] =
    &["deletionTimestamp", "generation", "labels", "annotations", "finalizers", "ownerReferences"];

pub(super) fn keep_metadata(object: &mut Value, old: &Value, names: &[&str]) {
    let stored = present(old, "metadata").cloned().unwrap_or_default();
    if let Some(metadata) = inner_mut(object, "metadata") {
        for name in names {
            keep(metadata, &stored, name);
        }
    }
}

pub(super) fn reset_metadata(object: &mut Value, old: &Value) {
    keep_metadata(object, old, STATUS_KEEPS);
}

/// When a volume's phase changes, the time of it does.
fn phase_time(object: &mut Value, old: &Value, now: &str) {
    const TIME: &str = "lastPhaseTransitionTime";
    let stored = present(old, "status").cloned().unwrap_or_else(|| json!({}));
    let Some(status) = inner_mut(object, "status") else { return };
    let is_same_phase = text(status, "phase") == text(&stored, "phase");
    if is_same_phase && is_zero(status.get(TIME)) {
        keep(status, &stored, TIME);
    } else if !is_same_phase && (is_zero(status.get(TIME)) || status.get(TIME) == stored.get(TIME)) {
        put(status, TIME, now);
    }
}
