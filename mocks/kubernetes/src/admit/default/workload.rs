//! Defaults of the workloads that keep pods running.

use serde_json::{Map, Value};

use super::{storage, template};
use crate::admit::read::{deep, fill, fill_zero, inner_mut, is_zero, items_mut, present, put, text};

pub(super) fn deployment(object: &mut Value) {
    let Some(spec) = inner_mut(object, "spec") else { return };
    template::template(spec, "template");
    fill(spec, "replicas", 1);
    fill(spec, "revisionHistoryLimit", 10);
    fill(spec, "progressDeadlineSeconds", 600);
    let Some(strategy) = inner_mut(spec, "strategy") else { return };
    fill_zero(strategy, "type", "RollingUpdate");
    if text(strategy, "type") == "RollingUpdate"
        && let Some(rolling) = inner_mut(strategy, "rollingUpdate")
    {
        fill(rolling, "maxUnavailable", "25%");
        fill(rolling, "maxSurge", "25%");
    }
}

pub(super) fn replica_set(object: &mut Value) {
    let Some(spec) = inner_mut(object, "spec") else { return };
    template::template(spec, "template");
    fill(spec, "replicas", 1);
}

pub(super) fn replication_controller(object: &mut Value) {
    let Some(spec) = inner_mut(object, "spec") else { return };
    fill(spec, "replicas", 1);
    if present(spec, "template").is_none() {
        return;
    }
    template::template(spec, "template");
    let Some(labels) = deep(spec, &["template", "metadata", "labels"]).cloned() else { return };
    fill_zero(spec, "selector", labels.clone());
    labels_from_template(object, labels);
}

/// An object without labels takes those of its pods.
pub(super) fn labels_from_template(object: &mut Value, labels: Value) {
    if is_zero(deep(object, &["metadata", "labels"]))
        && let Some(metadata) = inner_mut(object, "metadata")
    {
        put(metadata, "labels", labels);
    }
}

pub(super) fn stateful_set(object: &mut Value) {
    let Some(spec) = inner_mut(object, "spec") else { return };
    template::template(spec, "template");
    fill_zero(spec, "podManagementPolicy", "OrderedReady");
    fill(spec, "replicas", 1);
    fill(spec, "revisionHistoryLimit", 10);
    fill(spec, "serviceName", "");
    for claim in items_mut(spec, "volumeClaimTemplates") {
        fill(claim, "kind", "PersistentVolumeClaim");
        fill(claim, "apiVersion", "v1");
        fill(claim, "metadata", Map::new());
        storage::claim(claim);
    }
    if let Some(retention) = inner_mut(spec, "persistentVolumeClaimRetentionPolicy") {
        fill_zero(retention, "whenDeleted", "Retain");
        fill_zero(retention, "whenScaled", "Retain");
    }
    let Some(strategy) = inner_mut(spec, "updateStrategy") else { return };
    if text(strategy, "type").is_empty() {
        put(strategy, "type", "RollingUpdate");
        fill(strategy, "rollingUpdate", Map::new());
    }
    if text(strategy, "type") == "RollingUpdate"
        && let Some(rolling) = strategy.get_mut("rollingUpdate")
    {
        fill(rolling, "partition", 0);
        fill(rolling, "maxUnavailable", 1);
    }
}

/// Where a daemon set's template counter is kept since its field was retired.
const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

pub(super) fn daemon_set(object: &mut Value) {
    if let Some(annotations) = inner_mut(object, "metadata").and_then(|all| inner_mut(all, "annotations")) {
        fill(annotations, TEMPLATE_GENERATION, "0");
    }
    let Some(spec) = inner_mut(object, "spec") else { return };
    template::template(spec, "template");
    fill(spec, "revisionHistoryLimit", 10);
    let Some(strategy) = inner_mut(spec, "updateStrategy") else { return };
    fill_zero(strategy, "type", "RollingUpdate");
    if text(strategy, "type") == "RollingUpdate"
        && let Some(rolling) = inner_mut(strategy, "rollingUpdate")
    {
        fill(rolling, "maxUnavailable", 1);
        fill(rolling, "maxSurge", 0);
    }
}

/// The counter of template changes, read from its annotation.
pub(in crate::admit) fn template_generation(object: &Value) -> i64 {
    let text = deep(object, &["metadata", "annotations", TEMPLATE_GENERATION]).and_then(Value::as_str);
    text.and_then(|text| text.parse().ok()).unwrap_or_default()
}

pub(in crate::admit) fn put_template_generation(object: &mut Value, count: i64) {
    if let Some(annotations) = inner_mut(object, "metadata").and_then(|all| inner_mut(all, "annotations")) {
        put(annotations, TEMPLATE_GENERATION, count.to_string());
    }
}
