//! Before an object is created.

use serde_json::{Map, Value, json};

use super::pod;
use crate::admit::default::rest::NAMESPACE_NAME;
use crate::admit::default::{status, workload};
use crate::admit::nature;
use crate::admit::read::{
    deep, inner_mut, is_zero, items_mut, keep, map_mut, present, put, remove, text, truth,
};

/// Resets what a client cannot set. `now` is the time as objects hold it.
pub(crate) fn for_create(group: &str, version: &str, kind: &str, object: &mut Value, now: &str) {
    if let Some(metadata) = inner_mut(object, "metadata") {
        remove(metadata, "deletionTimestamp");
        remove(metadata, "deletionGracePeriodSeconds");
        if nature::tracks_generation(group, kind) && kind != "CSIDriver" {
            put(metadata, "generation", 1);
        }
    }
    if nature::has_status(group, kind) && (group, kind) != ("", "Node") {
        put(object, "status", Map::new());
        status::status(group, version, kind, object);
    }
    match (group, kind) {
        ("", "Pod") => pod::create(object, now),
        ("", "Namespace") => namespace(object),
        ("", "Node") => node(object),
        ("", "PersistentVolume") => {
            put(object, "status", json!({"phase": "Pending", "lastPhaseTransitionTime": now}));
        }
        ("", "PersistentVolumeClaim") => claim(object),
        ("", "ServiceAccount") => secret_names(object),
        ("apps", "DaemonSet") => {
            let count = workload::template_generation(object).max(1);
            workload::put_template_generation(object, count);
        }
        ("batch", "Job") => job(object),
        _ => {}
    }
}

fn namespace(object: &mut Value) {
    put(object, "status", json!({"phase": "Active"}));
    let name = deep(object, &["metadata", "name"]).cloned().unwrap_or_default();
    if let Some(labels) = inner_mut(object, "metadata").and_then(|all| inner_mut(all, "labels")) {
        put(labels, NAMESPACE_NAME, name);
    }
    let Some(spec) = inner_mut(object, "spec") else { return };
    match spec.get_mut("finalizers").and_then(Value::as_array_mut) {
        Some(list) if list.iter().any(|finalizer| finalizer == "kubernetes") => {}
        Some(list) => list.push(Value::from("kubernetes")),
        None => put(spec, "finalizers", json!(["kubernetes"])),
    }
}

fn node(object: &mut Value) {
    if let Some(spec) = inner_mut(object, "spec") {
        remove(spec, "configSource");
    }
    if let Some(status) = inner_mut(object, "status") {
        remove(status, "config");
    }
}

fn claim(object: &mut Value) {
    put(object, "status", json!({"phase": "Pending"}));
    if let Some(spec) = inner_mut(object, "spec") {
        data_sources(spec);
    }
}

/// A claim's two fields for its source tell the same, if one of them is given.
pub(super) fn data_sources(spec: &mut Value) {
    match (present(spec, "dataSource"), present(spec, "dataSourceRef")) {
        (Some(source), None) => {
            let source = source.clone();
            put(spec, "dataSourceRef", source);
        }
        (None, Some(reference)) if text(reference, "namespace").is_empty() => {
            let reference = reference.clone();
            put(spec, "dataSource", reference);
        }
        _ => {}
    }
}

/// Of the secrets a service account lists, only the names are kept.
pub(super) fn secret_names(object: &mut Value) {
    for secret in items_mut(object, "secrets") {
        let mut kept = Value::Object(Map::new());
        keep(&mut kept, secret, "name");
        *secret = kept;
    }
}

/// The labels by which a job knows its pods; the selector needs only the first.
const JOB_UID: &str = "batch.kubernetes.io/controller-uid";
const JOB_UID_OLD: &str = "controller-uid";
const JOB_NAME: &str = "batch.kubernetes.io/job-name";
const JOB_NAME_OLD: &str = "job-name";

fn job(object: &mut Value) {
    let of = |field: &str| deep(object, &["metadata", field]).cloned().unwrap_or_default();
    let (name, uid, own) = (of("name"), of("uid"), of("labels"));
    let Some(spec) = inner_mut(object, "spec") else { return };
    if truth(spec, "manualSelector") {
        return;
    }
    let template = inner_mut(spec, "template").and_then(|template| inner_mut(template, "metadata"));
    let Some(labels) = template.and_then(|metadata| map_mut(metadata, "labels")) else { return };
    // A job without labels has its template's, and those that follow too.
    let is_shared = is_zero(Some(&own)) || own.as_object() == Some(&*labels);
    for (key, value) in [(JOB_NAME, &name), (JOB_NAME_OLD, &name), (JOB_UID, &uid), (JOB_UID_OLD, &uid)] {
        labels.entry(key).or_insert_with(|| value.clone());
    }
    let all = Value::Object(labels.clone());
    if let Some(labels) = inner_mut(spec, "selector").and_then(|selector| map_mut(selector, "matchLabels")) {
        labels.entry(JOB_UID).or_insert(uid);
    }
    if is_shared && let Some(metadata) = inner_mut(object, "metadata") {
        put(metadata, "labels", all);
    }
}
