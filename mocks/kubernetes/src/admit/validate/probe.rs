//! Probes and life-cycle hooks of a container.

use serde_json::{Value, json};

use super::field;
use crate::admit::names;
use crate::admit::path::Path;
use crate::admit::read::{integer, items, present, text};
use crate::status::Wrong;

/// The hooks and the three probes, in upstream's order.
pub(super) fn all(container: &Value, grace: Option<i64>, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    if let Some(lifecycle) = present(container, "lifecycle") {
        for name in ["postStart", "preStop"] {
            if let Some(hook) = present(lifecycle, name) {
                handler(hook, grace, &path.field("lifecycle").field(name), wrong);
            }
        }
    }
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let Some(given) = present(container, name) else { continue };
        let path = path.field(name);
        probe(given, grace, &path, wrong);
        let threshold = integer(given, "successThreshold").unwrap_or_default();
        if name != "readinessProbe" && threshold != 1 {
            wrong.push(Wrong::invalid(path.field("successThreshold"), &json!(threshold), "must be 1"));
        }
        if name == "readinessProbe"
            && let Some(seconds) = present(given, "terminationGracePeriodSeconds")
        {
            let path = path.field("terminationGracePeriodSeconds");
            wrong.push(Wrong::invalid(path, seconds, "must not be set for readinessProbes"));
        }
    }
}

fn probe(probe: &Value, grace: Option<i64>, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    handler(probe, grace, path, wrong);
    for name in
        ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"]
    {
        field::not_negative(probe, path, name, wrong);
    }
    if let Some(seconds) = integer(probe, "terminationGracePeriodSeconds").filter(|seconds| *seconds <= 0) {
        let path = path.field("terminationGracePeriodSeconds");
        wrong.push(Wrong::invalid(path, &json!(seconds), "must be greater than 0"));
    }
}

fn handler(handler: &Value, grace: Option<i64>, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    let mut has_one = false;
    for name in ["exec", "httpGet", "tcpSocket", "grpc", "sleep"] {
        let Some(action) = present(handler, name) else { continue };
        let path = path.field(name);
        if has_one {
            wrong.push(Wrong::forbidden(path, "may not specify more than 1 handler type"));
            continue;
        }
        has_one = true;
        match name {
            "exec" if items(action, "command").is_empty() => {
                wrong.push(Wrong::required(path.field("command"), ""));
            }
            "exec" => {}
            "httpGet" => http_get(action, &path, wrong),
            "sleep" => sleep(action, grace, &path, wrong),
            _ => field::port(&path.field("port"), action.get("port"), wrong),
        }
    }
    if !has_one {
        wrong.push(Wrong::required(path, "must specify a handler type"));
    }
}

fn http_get(action: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    if text(action, "path").is_empty() {
        wrong.push(Wrong::required(path.field("path"), ""));
    }
    field::port(&path.field("port"), action.get("port"), wrong);
    field::one_of_if_given(&path.field("scheme"), text(action, "scheme"), &["HTTP", "HTTPS"], wrong);
    for header in items(action, "httpHeaders") {
        let name = text(header, "name");
        field::invalid(&path.field("httpHeaders"), name, names::header(name), wrong);
    }
}

fn sleep(action: &Value, grace: Option<i64>, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    let seconds = integer(action, "seconds").unwrap_or_default();
    let Some(grace) = grace else { return };
    if !(0..=grace).contains(&seconds) {
        let why = format!("must be non-negative and less than terminationGracePeriodSeconds ({grace})");
        wrong.push(Wrong::invalid(path, &json!(seconds), &why));
    }
}
