//! Defaults of jobs and cron jobs.

use serde_json::{Map, Value};

use super::{template, workload};
use crate::admit::read::{deep, fill, fill_zero, inner_mut, items_mut, present};

pub(super) fn job(object: &mut Value) {
    let Some(spec) = inner_mut(object, "spec") else { return };
    job_spec(spec);
    if present(spec, "completions").is_none() && present(spec, "parallelism").is_none() {
        fill(spec, "completions", 1);
    }
    fill(spec, "parallelism", 1);
    let backoff = if present(spec, "backoffLimitPerIndex").is_some() { i64::from(i32::MAX) } else { 6 };
    fill(spec, "backoffLimit", backoff);
    fill(spec, "completionMode", "NonIndexed");
    fill(spec, "suspend", false);
    let has_policy = present(spec, "podFailurePolicy").is_some();
    fill(spec, "podReplacementPolicy", if has_policy { "Failed" } else { "TerminatingOrFailed" });
    fill(spec, "manualSelector", false);
    if let Some(labels) = deep(spec, &["template", "metadata", "labels"]).cloned() {
        workload::labels_from_template(object, labels);
    }
}

pub(super) fn cron_job(object: &mut Value) {
    let Some(spec) = inner_mut(object, "spec") else { return };
    fill_zero(spec, "concurrencyPolicy", "Allow");
    fill(spec, "suspend", false);
    fill(spec, "successfulJobsHistoryLimit", 3);
    fill(spec, "failedJobsHistoryLimit", 1);
    let Some(template) = inner_mut(spec, "jobTemplate") else { return };
    fill(template, "metadata", Map::new());
    if let Some(spec) = inner_mut(template, "spec") {
        job_spec(spec);
    }
}

/// What a job has in a cron job's template as well.
fn job_spec(spec: &mut Value) {
    template::template(spec, "template");
    let Some(policy) = spec.get_mut("podFailurePolicy") else { return };
    for rule in items_mut(policy, "rules") {
        for condition in items_mut(rule, "onPodConditions") {
            fill_zero(condition, "status", "True");
        }
    }
}
