//! Deployments, replica sets, stateful sets, daemon sets, replication controllers.

use serde_json::{Map, Value, json};

use super::{field, pod, selector, storage};
use crate::admit::names;
use crate::admit::path::Path;
use crate::admit::read::{entries, integer, is_zero, items, present, text};
use crate::admit::same::same;
use crate::status::Wrong;

const SPEC: Path<'static> = Path::Top("spec");

pub(super) fn deployment(object: &Value, wrong: &mut Vec<Wrong>) {
    let spec = field::part(object, "spec");
    field::not_negative(spec, &SPEC, "replicas", wrong);
    selected(spec, "deployment", "ReplicaSet", wrong);
    deployment_strategy(field::part(spec, "strategy"), &SPEC.field("strategy"), wrong);
    field::not_negative(spec, &SPEC, "minReadySeconds", wrong);
    field::not_negative(spec, &SPEC, "revisionHistoryLimit", wrong);
    let Some(deadline) = integer(spec, "progressDeadlineSeconds") else { return };
    field::not_negative(spec, &SPEC, "progressDeadlineSeconds", wrong);
    if deadline <= integer(spec, "minReadySeconds").unwrap_or_default() {
        let path = SPEC.field("progressDeadlineSeconds");
        wrong.push(Wrong::invalid(path, &json!(deadline), "must be greater than minReadySeconds"));
    }
}

fn deployment_strategy(strategy: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    let rolling = field::part(strategy, "rollingUpdate");
    match text(strategy, "type") {
        "Recreate" => {
            if !rolling.is_null() {
                let why = "may not be specified when strategy `type` is 'Recreate'";
                wrong.push(Wrong::forbidden(path.field("rollingUpdate"), why));
            }
        }
        "RollingUpdate" => {
            let path = path.field("rollingUpdate");
            counts(rolling, &["maxUnavailable", "maxSurge"], &path, wrong);
            let unavailable = rolling.get("maxUnavailable");
            if field::number_of(unavailable) == 0 && field::number_of(rolling.get("maxSurge")) == 0 {
                let value = unavailable.unwrap_or(&Value::Null);
                let why = "may not be 0 when `maxSurge` is 0";
                wrong.push(Wrong::invalid(path.field("maxUnavailable"), value, why));
            }
            if let Some(value) = unavailable {
                field::at_most_all(&path.field("maxUnavailable"), value, wrong);
            }
        }
        _ => {
            let shown = strategy_shown(strategy);
            wrong.push(Wrong::not_supported_shown(path, &shown, &["Recreate", "RollingUpdate"]));
        }
    }
}

/// A strategy as upstream's struct prints.
fn strategy_shown(strategy: &Value) -> String {
    let rolling = present(strategy, "rollingUpdate").map_or_else(
        || "null".to_owned(),
        |rolling| {
            let of = |name: &str| field::part(rolling, name);
            format!("{{\"MaxUnavailable\":{},\"MaxSurge\":{}}}", of("maxUnavailable"), of("maxSurge"))
        },
    );
    format!("{{\"Type\":{},\"RollingUpdate\":{rolling}}}", json!(text(strategy, "type")))
}

fn counts(object: &Value, fields: &[&str], path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    for name in fields {
        if let Some(value) = present(object, name) {
            field::count_or_percent(&path.field(name), value, wrong);
        }
    }
}

pub(super) fn replica_set(object: &Value, wrong: &mut Vec<Wrong>) {
    let spec = field::part(object, "spec");
    field::not_negative(spec, &SPEC, "replicas", wrong);
    field::not_negative(spec, &SPEC, "minReadySeconds", wrong);
    // Upstream says deployment here as well.
    selected(spec, "deployment", "ReplicaSet", wrong);
}

/// A selector that is there, says something and matches the template; then the template itself.
fn selected(spec: &Value, word: &str, kind: &str, wrong: &mut Vec<Wrong>) {
    selector_given(spec, word, wrong);
    if present(spec, "selector").is_none_or(is_readable) {
        template(spec, kind, wrong);
    } else {
        let shown = selector::shown(field::part(spec, "selector"));
        wrong.push(Wrong::invalid_shown(SPEC.field("selector"), &shown, "invalid label selector"));
    }
}

/// Whether every expression has an operator that means something.
fn is_readable(selector: &Value) -> bool {
    items(selector, "matchExpressions").iter().all(|expression| {
        let has_values = !items(expression, "values").is_empty();
        match text(expression, "operator") {
            "In" | "NotIn" => has_values,
            "Exists" | "DoesNotExist" => !has_values,
            _ => false,
        }
    })
}

fn selector_given(spec: &Value, word: &str, wrong: &mut Vec<Wrong>) {
    let path = SPEC.field("selector");
    let Some(given) = present(spec, "selector") else {
        wrong.push(Wrong::required(path, ""));
        return;
    };
    selector::selector(spec, &SPEC, "selector", wrong);
    if selector::is_empty(given) {
        let why = format!("empty selector is invalid for {word}");
        wrong.push(Wrong::invalid_shown(path, &selector::shown(given), &why));
    }
}

/// The selector matches the template, and the template can run for ever.
fn template(spec: &Value, kind: &str, wrong: &mut Vec<Wrong>) {
    let path = SPEC.field("template");
    let template = field::part(spec, "template");
    matching(spec, template, &path, wrong);
    pod::template(template, &path, wrong);
    for_ever(template, kind, &path, wrong);
}

fn matching(spec: &Value, template: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    let labels = field::part(field::part(template, "metadata"), "labels");
    // Where there is no selector at all, nothing matches; an empty one matches everything.
    let is_match = present(spec, "selector").is_some_and(|given| selector::matches(given, labels));
    if !is_match {
        let path = path.field("metadata");
        wrong.push(Wrong::invalid(
            path.field("labels"),
            labels,
            "`selector` does not match template `labels`",
        ));
    }
}

fn for_ever(template: &Value, kind: &str, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    let body = field::part(template, "spec");
    let path = path.field("spec");
    let policy = text(body, "restartPolicy");
    if policy != "Always" {
        wrong.push(Wrong::not_supported(path.field("restartPolicy"), &json!(policy), &["Always"]));
    }
    if present(body, "activeDeadlineSeconds").is_some() {
        let why = format!("activeDeadlineSeconds in {kind} is not Supported");
        wrong.push(Wrong::forbidden(path.field("activeDeadlineSeconds"), &why));
    }
}

pub(super) fn replication_controller(object: &Value, wrong: &mut Vec<Wrong>) {
    let spec = field::part(object, "spec");
    field::not_negative(spec, &SPEC, "minReadySeconds", wrong);
    if is_zero(spec.get("selector")) {
        wrong.push(Wrong::required(SPEC.field("selector"), ""));
    }
    field::not_negative(spec, &SPEC, "replicas", wrong);
    let path = SPEC.field("template");
    let Some(template) = present(spec, "template") else {
        wrong.push(Wrong::required(path, ""));
        return;
    };
    let labels = field::part(field::part(template, "metadata"), "labels");
    if entries(spec, "selector").any(|(key, value)| labels.get(key) != Some(value)) {
        let path = path.field("metadata");
        wrong.push(Wrong::invalid(
            path.field("labels"),
            labels,
            "`selector` does not match template `labels`",
        ));
    }
    pod::template(template, &path, wrong);
    for_ever(template, "ReplicationController", &path, wrong);
}

pub(super) fn daemon_set(object: &Value, wrong: &mut Vec<Wrong>) {
    let spec = field::part(object, "spec");
    selector::selector(spec, &SPEC, "selector", wrong);
    let path = SPEC.field("template");
    let template = field::part(spec, "template");
    let given = field::part(spec, "selector");
    let labels = field::part(field::part(template, "metadata"), "labels");
    if is_readable(given) && (given.is_null() || !selector::matches(given, labels)) {
        let at = path.field("metadata");
        wrong.push(Wrong::invalid(at.field("labels"), labels, "`selector` does not match template `labels`"));
    }
    if !given.is_null() && selector::is_empty(given) {
        let why = "empty selector is invalid for daemonset";
        wrong.push(Wrong::invalid_shown(SPEC.field("selector"), &selector::shown(given), why));
    }
    pod::template(template, &path, wrong);
    for_ever(template, "DaemonSet", &path, wrong);
    field::not_negative(spec, &SPEC, "minReadySeconds", wrong);
    daemon_strategy(field::part(spec, "updateStrategy"), &SPEC.field("updateStrategy"), wrong);
    field::not_negative(spec, &SPEC, "revisionHistoryLimit", wrong);
}

fn daemon_strategy(strategy: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    match text(strategy, "type") {
        "OnDelete" => {}
        "RollingUpdate" => {
            let path = path.field("rollingUpdate");
            let rolling = field::part(strategy, "rollingUpdate");
            counts(rolling, &["maxUnavailable", "maxSurge"], &path, wrong);
            for name in ["maxUnavailable", "maxSurge"] {
                if let Some(value) = present(rolling, name) {
                    field::at_most_all(&path.field(name), value, wrong);
                }
            }
            let surge = rolling.get("maxSurge");
            let has = |name: &str| field::number_of(rolling.get(name)) != 0;
            if has("maxUnavailable") && has("maxSurge") {
                let why = "may not be set when maxUnavailable is non-zero";
                wrong.push(Wrong::invalid(path.field("maxSurge"), surge.unwrap_or(&Value::Null), why));
            } else if !has("maxUnavailable") && !has("maxSurge") {
                let why = "cannot be 0 when maxSurge is 0";
                wrong.push(Wrong::required(path.field("maxUnavailable"), why));
            }
        }
        _ => {
            let shown = strategy_shown(strategy);
            wrong.push(Wrong::not_supported_shown(path, &shown, &["RollingUpdate", "OnDelete"]));
        }
    }
}

pub(super) fn stateful_set(object: &Value, wrong: &mut Vec<Wrong>) {
    let spec = field::part(object, "spec");
    let policy = text(spec, "podManagementPolicy");
    if !matches!(policy, "OrderedReady" | "Parallel") {
        let path = SPEC.field("podManagementPolicy");
        wrong.push(Wrong::invalid(path, &json!(policy), "must be 'OrderedReady' or 'Parallel'"));
    }
    stateful_strategy(field::part(spec, "updateStrategy"), &SPEC.field("updateStrategy"), wrong);
    let retention = field::part(spec, "persistentVolumeClaimRetentionPolicy");
    for name in ["whenDeleted", "whenScaled"] {
        let path = SPEC.field("persistentVolumeClaimRetentionPolicy");
        field::one_of_if_given(&path.field(name), text(retention, name), &["Retain", "Delete"], wrong);
    }
    field::not_negative(spec, &SPEC, "replicas", wrong);
    field::not_negative(spec, &SPEC, "minReadySeconds", wrong);
    field::not_negative(field::part(spec, "ordinals"), &SPEC.field("ordinals"), "start", wrong);
    selector_given(spec, "statefulset", wrong);
    let path = SPEC.field("template");
    let template = with_claims(spec);
    if present(spec, "selector").is_none_or(is_readable) {
        matching(spec, &template, &path, wrong);
        pod::template(&template, &path, wrong);
    } else {
        let shown = selector::shown(field::part(spec, "selector"));
        wrong.push(Wrong::invalid_shown(SPEC.field("selector"), &shown, ""));
    }
    for_ever(&template, "StatefulSet", &path, wrong);
}

/// The template as its pods will have it: with a volume for each claim template.
fn with_claims(spec: &Value) -> Value {
    let mut template = field::part(spec, "template").clone();
    let claims = items(spec, "volumeClaimTemplates");
    if claims.is_empty() {
        return template;
    }
    let name_of = |claim: &Value| text(field::part(claim, "metadata"), "name").to_owned();
    let mut volumes: Vec<Value> = claims
        .iter()
        .map(|claim| json!({"name": name_of(claim), "persistentVolumeClaim": {"claimName": name_of(claim)}}))
        .collect();
    let is_new = |volume: &&Value| claims.iter().all(|claim| name_of(claim) != text(volume, "name"));
    volumes.extend(items(field::part(&template, "spec"), "volumes").iter().filter(is_new).cloned());
    if let Some(body) = template.get_mut("spec").and_then(Value::as_object_mut) {
        body.insert("volumes".to_owned(), Value::Array(volumes));
    }
    template
}

fn stateful_strategy(strategy: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    let rolling = field::part(strategy, "rollingUpdate");
    let path_of = path.field("rollingUpdate");
    match text(strategy, "type") {
        "OnDelete" if !rolling.is_null() => {
            let why = "only allowed for updateStrategy 'RollingUpdate'";
            let of = |name: &str| field::part(rolling, name);
            let shown =
                format!("{{\"Partition\":{},\"MaxUnavailable\":{}}}", of("partition"), of("maxUnavailable"));
            wrong.push(Wrong::invalid_shown(path_of, &shown, why));
        }
        "OnDelete" => {}
        "RollingUpdate" => {
            field::not_negative(rolling, &path_of, "partition", wrong);
            if let Some(value) = present(rolling, "maxUnavailable") {
                let path = path_of.field("maxUnavailable");
                field::count_or_percent(&path, value, wrong);
                if field::number_of(Some(value)) == 0 {
                    wrong.push(Wrong::invalid(path, value, "cannot be 0"));
                }
                field::at_most_all(&path, value, wrong);
            }
        }
        _ => {
            let why = "must be 'RollingUpdate' or 'OnDelete'";
            wrong.push(Wrong::invalid(path, strategy, why));
        }
    }
}

/// Checked on create only: later they never change.
pub(super) fn claim_templates(object: &Value, wrong: &mut Vec<Wrong>) {
    let spec = field::part(object, "spec");
    for (index, claim) in items(spec, "volumeClaimTemplates").iter().enumerate() {
        let path = SPEC.field("volumeClaimTemplates");
        storage::claim_spec(field::part(claim, "spec"), &path.index(index).field("spec"), wrong);
    }
    let service = text(spec, "serviceName");
    if !service.is_empty() {
        field::invalid(&SPEC.field("serviceName"), service, names::label(service), wrong);
    }
}

pub(super) fn update(kind: &str, object: &Value, old: &Value, wrong: &mut Vec<Wrong>) {
    match kind {
        "Deployment" | "ReplicaSet" | "DaemonSet" => {
            let now = field::part(field::part(object, "spec"), "selector");
            if !same(now, field::part(field::part(old, "spec"), "selector")) {
                let path = SPEC.field("selector");
                wrong.push(Wrong::invalid_shown(path, &selector::shown(now), field::IMMUTABLE));
            }
        }
        "StatefulSet" => {
            let fixed = |object: &Value| fixed_part(field::part(object, "spec"));
            if !same(&fixed(object), &fixed(old)) {
                let why = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', \
                           'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and \
                           'minReadySeconds' are forbidden";
                wrong.push(Wrong::forbidden(SPEC, why));
            }
        }
        "ControllerRevision" => field::immutable(&Path::Top("data"), &["data"], object, old, wrong),
        _ => {}
    }
}

/// What of a stateful set never changes.
fn fixed_part(spec: &Value) -> Value {
    const FREE: [&str; 7] = [
        "replicas",
        "ordinals",
        "template",
        "updateStrategy",
        "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy",
        "minReadySeconds",
    ];
    let fields = spec.as_object().into_iter().flatten();
    let kept = fields.filter(|(name, _)| !FREE.contains(&name.as_str()));
    Value::Object(kept.map(|(name, value)| (name.clone(), value.clone())).collect::<Map<_, _>>())
}

const PATH: Path<'static> = Path::Top("status");

/// Counts in a status: none negative, none above all replicas.
pub(super) fn status(kind: &str, object: &Value, wrong: &mut Vec<Wrong>) {
    let status = field::part(object, "status");
    for (name, value) in status.as_object().into_iter().flatten() {
        if value.is_i64() {
            field::not_negative(status, &PATH, name, wrong);
        }
    }
    let count = |name: &str| integer(status, name).unwrap_or_default();
    if kind == "DaemonSet" {
        return;
    }
    let part =
        ["fullyLabeledReplicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"];
    for name in part {
        if count(name) > count("replicas") {
            let why = "cannot be greater than status.replicas";
            wrong.push(Wrong::invalid(PATH.field(name), &json!(count(name)), why));
        }
    }
    if count("availableReplicas") > count("readyReplicas") {
        let value = json!(count("availableReplicas"));
        let word = if kind == "StatefulSet" { "status.readyReplicas" } else { "readyReplicas" };
        let why = format!("cannot be greater than {word}");
        wrong.push(Wrong::invalid(PATH.field("availableReplicas"), &value, &why));
    }
}
