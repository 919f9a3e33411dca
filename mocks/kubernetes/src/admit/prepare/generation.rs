//! When an update counts: which part of an object of each kind is what somebody wants.

use serde_json::Value;

use crate::admit::nature;
use crate::admit::read::{deep, inner_mut, integer, present, put};
use crate::admit::same::{same, same_field};

/// Raises the generation by one if the update changes what is wanted.
pub(super) fn count(group: &str, kind: &str, object: &mut Value, old: &Value) {
    if !nature::tracks_generation(group, kind) || !is_changed(group, kind, object, old) {
        return;
    }
    let before = present(old, "metadata").and_then(|all| integer(all, "generation")).unwrap_or_default();
    if let Some(metadata) = inner_mut(object, "metadata") {
        put(metadata, "generation", before + 1);
    }
}

fn is_changed(group: &str, kind: &str, object: &Value, old: &Value) -> bool {
    let differs = |names: &[&str]| !same_field(deep(object, names), deep(old, names));
    match (group, kind) {
        ("scheduling.k8s.io", "PriorityClass") => false,
        ("", "PodTemplate") => differs(&["template"]),
        ("apps", "Deployment") => differs(&["spec"]) || differs(&["metadata", "annotations"]),
        ("discovery.k8s.io", "EndpointSlice") => {
            differs(&["metadata", "labels"]) || differs_beyond_metadata(object, old)
        }
        (
            "admissionregistration.k8s.io",
            "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration",
        ) => differs(&["webhooks"]),
        _ => differs(&["spec"]),
    }
}

fn differs_beyond_metadata(object: &Value, old: &Value) -> bool {
    let without = |value: &Value| {
        let mut value = value.clone();
        if let Some(map) = value.as_object_mut() {
            for name in ["metadata", "apiVersion", "kind"] {
                map.remove(name);
            }
        }
        value
    };
    !same(&without(object), &without(old))
}
