//! Defaults of a pod spec wherever it stands: in a pod, or in the template of a workload.

use serde_json::{Map, Value};

use super::{container, resources, volume};
use crate::admit::read::{fill, fill_zero, inner_mut, items_mut, put, text};

/// The pod template below a field of a spec.
pub(super) fn template(spec: &mut Value, field: &str) {
    let Some(template) = inner_mut(spec, field) else { return };
    fill(template, "metadata", Map::new());
    if let Some(spec) = inner_mut(template, "spec") {
        pod_spec(spec);
    }
}

pub(super) fn pod_spec(spec: &mut Value) {
    fill_zero(spec, "dnsPolicy", "ClusterFirst");
    fill_zero(spec, "restartPolicy", "Always");
    fill(spec, "securityContext", Map::new());
    fill(spec, "terminationGracePeriodSeconds", 30);
    fill_zero(spec, "schedulerName", "default-scheduler");
    service_account(spec);
    for volume in items_mut(spec, "volumes") {
        volume::volume(volume);
    }
    for list in ["initContainers", "containers", "ephemeralContainers"] {
        for container in items_mut(spec, list) {
            container::container(container);
        }
    }
    resources::round(spec, "overhead");
    if let Some(all) = spec.get_mut("resources") {
        resources::round(all, "limits");
        resources::round(all, "requests");
    }
}

/// The name and its old alias tell the same; the name wins.
fn service_account(spec: &mut Value) {
    let (name, alias) = (text(spec, "serviceAccountName"), text(spec, "serviceAccount"));
    if name == alias {
        return;
    }
    let name = if name.is_empty() { alias } else { name }.to_owned();
    put(spec, "serviceAccount", name.as_str());
    put(spec, "serviceAccountName", name);
}
