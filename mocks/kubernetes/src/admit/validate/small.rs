//! Kinds with few rules: namespaces, budgets, leases, priority classes, runtime classes, autoscalers, bindings.

use serde_json::{Value, json};

use super::{field, selector};
use crate::admit::names;
use crate::admit::path::Path;
use crate::admit::read::{integer, items, present, text, truth};
use crate::admit::same::same_field;
use crate::status::Wrong;

const META: Path<'static> = Path::Top("metadata");
const SPEC: Path<'static> = Path::Top("spec");
const STATUS: Path<'static> = Path::Top("status");

pub(super) fn namespace(object: &Value, wrong: &mut Vec<Wrong>) {
    for finalizer in items(field::part(object, "spec"), "finalizers").iter().filter_map(Value::as_str) {
        finalizer_name(finalizer, &SPEC.field("finalizers"), wrong);
    }
}

fn finalizer_name(finalizer: &str, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    field::key(path, finalizer, wrong);
    if !finalizer.contains('/') && !matches!(finalizer, "kubernetes" | "orphan" | "foregroundDeletion") {
        let why = "name is neither a standard finalizer name nor is it fully qualified";
        wrong.push(Wrong::invalid(path, &json!(finalizer), why));
    }
}

pub(super) fn finalizers(object: &Value, wrong: &mut Vec<Wrong>) {
    let list = items(field::part(object, "spec"), "finalizers");
    for (index, finalizer) in list.iter().filter_map(Value::as_str).enumerate() {
        finalizer_name(finalizer, &SPEC.field("finalizers").index(index), wrong);
    }
}

pub(super) fn namespace_status(object: &Value, wrong: &mut Vec<Wrong>) {
    let phase = text(field::part(object, "status"), "phase");
    let is_ending = present(field::part(object, "metadata"), "deletionTimestamp").is_some();
    let (wanted, state) = if is_ending { ("Terminating", "is not empty") } else { ("Active", "is empty") };
    if phase != wanted {
        let why = format!("may only be '{wanted}' if `deletionTimestamp` {state}");
        wrong.push(Wrong::invalid(STATUS.field("Phase"), &json!(phase), &why));
    }
}

pub(super) fn disruption_budget(object: &Value, wrong: &mut Vec<Wrong>) {
    let spec = field::part(object, "spec");
    let (available, unavailable) = (present(spec, "minAvailable"), present(spec, "maxUnavailable"));
    if let (Some(available), Some(unavailable)) = (available, unavailable) {
        let own = present(spec, "selector").map_or_else(|| "null".to_owned(), selector::shown);
        let policy = field::part(spec, "unhealthyPodEvictionPolicy");
        let shown = format!(
            "{{\"MinAvailable\":{available},\"Selector\":{own},\"MaxUnavailable\":{unavailable},\
             \"UnhealthyPodEvictionPolicy\":{policy}}}"
        );
        let why = "minAvailable and maxUnavailable cannot be both set";
        wrong.push(Wrong::invalid_shown(SPEC, &shown, why));
    }
    for (name, value) in [("minAvailable", available), ("maxUnavailable", unavailable)] {
        if let Some(value) = value {
            field::count_or_percent(&SPEC.field(name), value, wrong);
            field::at_most_all(&SPEC.field(name), value, wrong);
        }
    }
    selector::selector(spec, &SPEC, "selector", wrong);
    let policies = ["AlwaysAllow", "IfHealthyBudget"];
    let policy = text(spec, "unhealthyPodEvictionPolicy");
    field::one_of_if_given(&SPEC.field("unhealthyPodEvictionPolicy"), policy, &policies, wrong);
}

pub(super) fn disruption_budget_status(object: &Value, wrong: &mut Vec<Wrong>) {
    let status = field::part(object, "status");
    for name in ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"] {
        field::not_negative(status, &STATUS, name, wrong);
    }
}

pub(super) fn lease(object: &Value, wrong: &mut Vec<Wrong>) {
    let spec = field::part(object, "spec");
    if let Some(seconds) = integer(spec, "leaseDurationSeconds").filter(|seconds| *seconds <= 0) {
        let path = SPEC.field("leaseDurationSeconds");
        wrong.push(Wrong::invalid(path, &json!(seconds), "must be greater than 0"));
    }
    field::not_negative(spec, &SPEC, "leaseTransitions", wrong);
    if !text(spec, "preferredHolder").is_empty() && text(spec, "strategy").is_empty() {
        let why = "may only be specified if `strategy` is defined";
        wrong.push(Wrong::forbidden(SPEC.field("preferredHolder"), why));
    }
}

const SYSTEM: [(&str, i64); 2] =
    [("system-node-critical", 2_000_001_000), ("system-cluster-critical", 2_000_000_000)];
const HIGHEST: i64 = 1_000_000_000;

pub(super) fn priority_class(object: &Value, wrong: &mut Vec<Wrong>) {
    let name = text(field::part(object, "metadata"), "name");
    let value = integer(object, "value").unwrap_or_default();
    if name.starts_with("system-") {
        let error = match SYSTEM.iter().find(|(known, _)| *known == name) {
            None => format!("{name} is not a known system priority class"),
            Some((_, fixed)) if *fixed != value => format!("value of {name} PriorityClass must be {fixed}"),
            Some(_) if truth(object, "globalDefault") => {
                format!("globalDefault of {name} PriorityClass must be false")
            }
            Some(_) => String::new(),
        };
        if !error.is_empty() {
            let why = format!(
                "priority class names with 'system-' prefix are reserved for system use only. error: {error}"
            );
            wrong.push(Wrong::forbidden(META.field("name"), &why));
        }
    } else if value > HIGHEST {
        let why = format!("maximum allowed value of a user defined priority is {HIGHEST}");
        wrong.push(Wrong::forbidden("value", &why));
    }
    let policies = ["PreemptLowerPriority", "Never"];
    field::one_of_if_given(
        &Path::Top("preemptionPolicy"),
        text(object, "preemptionPolicy"),
        &policies,
        wrong,
    );
}

pub(super) fn priority_class_update(object: &Value, old: &Value, wrong: &mut Vec<Wrong>) {
    if integer(object, "value").unwrap_or_default() != integer(old, "value").unwrap_or_default() {
        wrong.push(Wrong::forbidden("value", "may not be changed in an update."));
    }
    field::immutable(&Path::Top("preemptionPolicy"), &["preemptionPolicy"], object, old, wrong);
}

pub(super) fn runtime_class(object: &Value, wrong: &mut Vec<Wrong>) {
    let handler = text(object, "handler");
    field::invalid(&Path::Top("handler"), handler, names::label(handler), wrong);
}

pub(super) fn runtime_class_update(object: &Value, old: &Value, wrong: &mut Vec<Wrong>) {
    field::immutable(&Path::Top("handler"), &["handler"], object, old, wrong);
}

pub(super) fn controller_revision(object: &Value, wrong: &mut Vec<Wrong>) {
    let revision = integer(object, "revision").unwrap_or_default();
    if revision < 0 {
        wrong.push(Wrong::invalid("revision", &json!(revision), field::NEGATIVE));
    }
}

pub(super) fn autoscaler(version: &str, object: &Value, wrong: &mut Vec<Wrong>) {
    let spec = field::part(object, "spec");
    let (least, most) = (integer(spec, "minReplicas"), integer(spec, "maxReplicas").unwrap_or_default());
    if let Some(least) = least.filter(|least| *least < 1) {
        let path = SPEC.field("minReplicas");
        wrong.push(Wrong::invalid(path, &json!(least), "must be greater than or equal to 1"));
    }
    if most < 1 {
        wrong.push(Wrong::invalid(SPEC.field("maxReplicas"), &json!(most), "must be greater than 0"));
    }
    if least.is_some_and(|least| most < least) {
        let why = "must be greater than or equal to `minReplicas`";
        wrong.push(Wrong::invalid(SPEC.field("maxReplicas"), &json!(most), why));
    }
    let target = field::part(spec, "scaleTargetRef");
    for name in ["kind", "name"] {
        if text(target, name).is_empty() {
            wrong.push(Wrong::required(SPEC.field("scaleTargetRef").field(name), ""));
        }
    }
    if version == "v1" && integer(spec, "targetCPUUtilizationPercentage").is_some_and(|share| share < 1) {
        let path = SPEC.field("targetCPUUtilizationPercentage");
        wrong.push(Wrong::invalid(
            path,
            field::part(spec, "targetCPUUtilizationPercentage"),
            "must be greater than 0",
        ));
    }
}

pub(super) fn binding_update(object: &Value, old: &Value, wrong: &mut Vec<Wrong>) {
    if !same_field(object.get("roleRef"), old.get("roleRef")) {
        let role = field::part(object, "roleRef");
        let shown = format!(
            "{{\"APIGroup\":{},\"Kind\":{},\"Name\":{}}}",
            field::part(role, "apiGroup"),
            field::part(role, "kind"),
            field::part(role, "name")
        );
        wrong.push(Wrong::invalid_shown("roleRef", &shown, "cannot change roleRef"));
    }
}
