//! Jobs and cron jobs.

use serde_json::{Value, json};

use super::{field, pod, selector};
use crate::admit::names;
use crate::admit::path::Path;
use crate::admit::read::{deep, integer, items, present, put, text, truth};
use crate::admit::same::same;
use crate::status::Wrong;

const META: Path<'static> = Path::Top("metadata");
const SPEC: Path<'static> = Path::Top("spec");
const MOST_INDEXES: i64 = 100_000;

pub(super) fn job(object: &Value, wrong: &mut Vec<Wrong>) {
    let spec = field::part(object, "spec");
    job_spec(spec, &SPEC, wrong);
    let path = SPEC.field("selector");
    let Some(given) = present(spec, "selector") else {
        wrong.push(Wrong::required(path, ""));
        return;
    };
    selector::selector(spec, &SPEC, "selector", wrong);
    let labels = deep(spec, &["template", "metadata", "labels"]).unwrap_or(&Value::Null);
    if !selector::matches(given, labels) {
        let path = SPEC.field("template");
        let path = path.field("metadata");
        wrong.push(Wrong::invalid(
            path.field("labels"),
            labels,
            "`selector` does not match template `labels`",
        ));
    }
    indexed_name(object, wrong);
}

/// The last pod of an indexed job needs a host name.
fn indexed_name(object: &Value, wrong: &mut Vec<Wrong>) {
    let spec = field::part(object, "spec");
    let completions = integer(spec, "completions").unwrap_or_default();
    if text(spec, "completionMode") != "Indexed" || completions <= 0 {
        return;
    }
    let name = text(field::part(object, "metadata"), "name");
    let longest = format!("{name}-{}", completions - 1);
    if !names::label(&longest).is_empty() {
        let why = format!("will not able to create pod with invalid DNS label: {longest}");
        wrong.push(Wrong::invalid(META.field("name"), &json!(name), &why));
    }
}

/// Labels that the server made, or that the client wrote wrongly in their place.
pub(super) fn generated(object: &Value, wrong: &mut Vec<Wrong>) {
    let spec = field::part(object, "spec");
    if truth(spec, "manualSelector") || present(spec, "selector").is_none() {
        return;
    }
    let metadata = field::part(object, "metadata");
    let labels = deep(spec, &["template", "metadata", "labels"]).unwrap_or(&Value::Null);
    for (key, name) in [
        ("controller-uid", "uid"),
        ("job-name", "name"),
        ("batch.kubernetes.io/controller-uid", "uid"),
        ("batch.kubernetes.io/job-name", "name"),
    ] {
        let wanted = text(metadata, name);
        let given = text(labels, key);
        if given != wanted {
            let path = SPEC.field("template");
            let path = path.field("metadata");
            let path = path.field("labels");
            let why = format!("must be '{wanted}'");
            wrong.push(Wrong::invalid(path.key(key), &json!(given), &why));
        }
    }
}

fn job_spec(spec: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    for name in [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
    ] {
        field::not_negative(spec, path, name, wrong);
    }
    let has = |name: &str| present(spec, name).is_some();
    if has("maxFailedIndexes") && !has("backoffLimitPerIndex") {
        let path = path.field("backoffLimitPerIndex");
        wrong.push(Wrong::required(path, "when maxFailedIndexes is specified"));
    }
    let mode = text(spec, "completionMode");
    field::one_of_if_given(&path.field("completionMode"), mode, &["NonIndexed", "Indexed"], wrong);
    if mode == "Indexed" {
        indexed(spec, path, wrong);
    } else {
        for name in ["backoffLimitPerIndex", "maxFailedIndexes"] {
            if let Some(value) = present(spec, name) {
                wrong.push(Wrong::invalid(path.field(name), value, "requires indexed completion mode"));
            }
        }
    }
    if has("podFailurePolicy") {
        failure_policy(spec, &path.field("podFailurePolicy"), wrong);
    }
    let policy = text(spec, "podReplacementPolicy");
    field::one_of_if_given(
        &path.field("podReplacementPolicy"),
        policy,
        &["Failed", "TerminatingOrFailed"],
        wrong,
    );
    let template = field::part(spec, "template");
    pod::template(template, &path.field("template"), wrong);
    restarts(spec, template, path, wrong);
}

fn restarts(spec: &Value, template: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    let policy = text(field::part(template, "spec"), "restartPolicy");
    let path = path.field("template");
    let path = path.field("spec");
    let path = path.field("restartPolicy");
    match policy {
        "Always" | "" => wrong.push(Wrong::required(path, "valid values: \"OnFailure\", \"Never\"")),
        "OnFailure" if present(spec, "podFailurePolicy").is_some() => {
            let why = "only \"Never\" is supported when podFailurePolicy is specified";
            wrong.push(Wrong::invalid(path, &json!(policy), why));
        }
        "OnFailure" | "Never" => {}
        _ => wrong.push(Wrong::not_supported(path, &json!(policy), &["OnFailure", "Never"])),
    }
}

fn indexed(spec: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    let completions = integer(spec, "completions");
    if completions.is_none() {
        let path = path.field("completions");
        wrong.push(Wrong::required(path, "when completion mode is Indexed"));
    }
    if let Some(parallel) = integer(spec, "parallelism").filter(|number| *number > MOST_INDEXES) {
        let why = format!("must be less than or equal to {MOST_INDEXES} when completion mode is Indexed");
        wrong.push(Wrong::invalid(path.field("parallelism"), &json!(parallel), &why));
    }
    if let (Some(completions), Some(failed)) = (completions, integer(spec, "maxFailedIndexes"))
        && failed > completions
    {
        let why = "must be less than or equal to completions";
        wrong.push(Wrong::invalid(path.field("maxFailedIndexes"), &json!(failed), why));
    }
}

fn failure_policy(spec: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    let path = path.field("rules");
    for (index, rule) in items(field::part(spec, "podFailurePolicy"), "rules").iter().enumerate() {
        let path = path.index(index);
        let actions = ["Count", "FailIndex", "FailJob", "Ignore"];
        field::one_of(&path.field("action"), text(rule, "action"), &actions, wrong);
        if present(rule, "onExitCodes").is_none() && items(rule, "onPodConditions").is_empty() {
            let shown = "\"\"";
            let why = "specifying one of OnExitCodes and OnPodConditions is required";
            wrong.push(Wrong::invalid_shown(path, shown, why));
        }
    }
}

pub(super) fn job_update(object: &Value, old: &Value, wrong: &mut Vec<Wrong>) {
    let (new, before) = (field::part(object, "spec"), field::part(old, "spec"));
    let completions = SPEC.field("completions");
    if text(new, "completionMode") != "Indexed" {
        field::immutable(&completions, &["completions"], new, before, wrong);
    } else if integer(new, "completions") != integer(before, "completions")
        && integer(new, "completions") != integer(new, "parallelism")
    {
        let why = "can only be modified in tandem with spec.parallelism";
        wrong.push(Wrong::invalid(completions, &field::part(new, "completions").clone(), why));
    }
    field::immutable(&SPEC.field("selector"), &["selector"], new, before, wrong);
    let is_waiting = truth(before, "suspend") && deep(old, &["status", "startTime"]).is_none();
    template_update(new, before, is_waiting, wrong);
    for name in ["completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"] {
        field::immutable(&SPEC.field(name), &[name], new, before, wrong);
    }
}

/// Until a suspended job starts, where its pods go may change.
fn template_update(new: &Value, before: &Value, is_waiting: bool, wrong: &mut Vec<Wrong>) {
    let now = field::part(new, "template");
    let mut stored = field::part(before, "template").clone();
    if is_waiting {
        for (part, names) in [
            ("spec", &["nodeSelector", "tolerations", "schedulingGates", "affinity"][..]),
            ("metadata", &["labels", "annotations"]),
        ] {
            let Some(stored) = stored.get_mut(part) else { continue };
            for name in names {
                match present(field::part(now, part), name) {
                    Some(value) => put(stored, name, value.clone()),
                    None => crate::admit::read::remove(stored, name),
                }
            }
        }
    }
    if !same(now, &stored) {
        wrong.push(Wrong::invalid(SPEC.field("template"), now, field::IMMUTABLE));
    }
}

pub(super) fn cron_job(object: &Value, wrong: &mut Vec<Wrong>) {
    let spec = field::part(object, "spec");
    let schedule = text(spec, "schedule");
    let path = SPEC.field("schedule");
    if schedule.is_empty() {
        wrong.push(Wrong::required(path, ""));
    } else {
        if let Err(why) = super::schedule::check(schedule) {
            wrong.push(Wrong::invalid(path, &json!(schedule), &why));
        }
        if schedule.contains("TZ") {
            let why = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";
            wrong.push(Wrong::invalid(path, &json!(schedule), why));
        }
    }
    field::not_negative(spec, &SPEC, "startingDeadlineSeconds", wrong);
    let policy = text(spec, "concurrencyPolicy");
    field::one_of(&SPEC.field("concurrencyPolicy"), policy, &["Allow", "Forbid", "Replace"], wrong);
    let path = SPEC.field("jobTemplate");
    job_spec(field::part(field::part(spec, "jobTemplate"), "spec"), &path.field("spec"), wrong);
    for name in ["successfulJobsHistoryLimit", "failedJobsHistoryLimit"] {
        field::not_negative(spec, &SPEC, name, wrong);
    }
}

/// A cron job's jobs add eleven characters to its name.
pub(super) fn cron_job_name(object: &Value, wrong: &mut Vec<Wrong>) {
    let name = text(field::part(object, "metadata"), "name");
    if name.len() > 52 {
        wrong.push(Wrong::invalid(META.field("name"), &json!(name), "must be no more than 52 characters"));
    }
}
