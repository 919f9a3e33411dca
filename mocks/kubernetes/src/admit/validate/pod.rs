//! Pod specs: of pods, and of templates.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::container::{self, Around};
use super::{affinity, field, meta, resources, spread, volume};
use crate::admit::addresses::{NO_ADDRESS, address};
use crate::admit::names;
use crate::admit::path::Path;
use crate::admit::read::{integer, items, present, text};
use crate::status::Wrong;

pub(super) const SPEC: Path<'static> = Path::Top("spec");

pub(super) fn pod(pod: &Value, wrong: &mut Vec<Wrong>) {
    let body = field::part(pod, "spec");
    spec(body, &SPEC, wrong);
    for list in ["containers", "initContainers"] {
        for (index, container) in items(body, list).iter().enumerate() {
            container::image_is_trimmed(container, &SPEC.field(list).index(index), wrong);
        }
    }
}

/// What holds for a pod that is new.
pub(super) fn new(pod: &Value, wrong: &mut Vec<Wrong>) {
    if !items(field::part(pod, "spec"), "ephemeralContainers").is_empty() {
        wrong.push(Wrong::forbidden(SPEC.field("ephemeralContainers"), "cannot be set on create"));
    }
}

/// The template of a pod template object.
pub(super) fn template_of(object: &Value, wrong: &mut Vec<Wrong>) {
    template(field::part(object, "template"), &Path::Top("template"), wrong);
}

/// A template as workloads have it.
pub(super) fn template(template: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    let metadata = field::part(template, "metadata");
    meta::labels(metadata, "labels", &path.field("labels"), wrong);
    meta::annotations(metadata, &path.field("annotations"), wrong);
    let body = field::part(template, "spec");
    spec(body, &path.field("spec"), wrong);
    if !items(body, "ephemeralContainers").is_empty() {
        let why = "ephemeral containers not allowed in pod template";
        wrong.push(Wrong::forbidden(path.field("spec").field("ephemeralContainers"), why));
    }
}

pub(super) fn spec(spec: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    let grace = integer(spec, "terminationGracePeriodSeconds");
    if grace.is_none() {
        wrong.push(Wrong::required(path.field("terminationGracePeriodSeconds"), ""));
    }
    let volumes = volume::volumes(spec, &path.field("volumes"), wrong);
    let around = Around { spec, volumes: &volumes, grace };
    container::containers(&around, &path.field("containers"), wrong);
    container::init_containers(&around, &path.field("initContainers"), wrong);
    container::ephemeral_containers(&around, &path.field("ephemeralContainers"), wrong);
    resources::of_pod(spec, path, wrong);
    host_network(spec, path, wrong);
    let policies = ["Always", "OnFailure", "Never"];
    field::one_of(&path.field("restartPolicy"), text(spec, "restartPolicy"), &policies, wrong);
    let policies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
    field::one_of(&path.field("dnsPolicy"), text(spec, "dnsPolicy"), &policies, wrong);
    meta::labels(spec, "nodeSelector", &path.field("nodeSelector"), wrong);
    affinity::affinity(spec, &path.field("affinity"), wrong);
    dns(spec, path, wrong);
    for (index, gate) in items(spec, "readinessGates").iter().enumerate() {
        let path = path.field("readinessGates");
        field::key(&path.index(index).field("conditionType"), text(gate, "conditionType"), wrong);
    }
    gates(spec, &path.field("schedulingGates"), wrong);
    spread::constraints(spec, &path.field("topologySpreadConstraints"), wrong);
    single_fields(spec, path, wrong);
    hosts(spec, &path.field("hostAliases"), wrong);
}

/// Other names of addresses.
fn hosts(spec: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    for (index, host) in items(spec, "hostAliases").iter().enumerate() {
        let path = path.index(index);
        let ip = text(host, "ip");
        if address(ip).is_none() {
            wrong.push(Wrong::invalid(path.field("ip"), &json!(ip), NO_ADDRESS));
        }
        for (index, name) in items(host, "hostnames").iter().filter_map(Value::as_str).enumerate() {
            let path = path.field("hostnames");
            field::invalid(&path.index(index), name, names::subdomain(name), wrong);
        }
    }
}

/// A pod in its host's network uses the ports of the host.
fn host_network(spec: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    if spec.get("hostNetwork").and_then(Value::as_bool) != Some(true) {
        return;
    }
    for list in ["containers", "initContainers"] {
        for (index, container) in items(spec, list).iter().enumerate() {
            let above = path.field(list);
            let above = above.index(index);
            for (index, port) in items(container, "ports").iter().enumerate() {
                let number = integer(port, "containerPort").unwrap_or_default();
                let host = integer(port, "hostPort").unwrap_or_default();
                if host != 0 && host != number {
                    let why = "must match `hostPort` when `hostNetwork` is true";
                    let path = above.field("ports");
                    wrong.push(Wrong::invalid(path.index(index).field("containerPort"), &json!(number), why));
                }
            }
        }
    }
}

fn dns(spec: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    let path = path.field("dnsConfig");
    let config = field::part(spec, "dnsConfig");
    let servers = items(config, "nameservers");
    if text(spec, "dnsPolicy") == "None" {
        if config.is_null() {
            wrong.push(Wrong::required(path, "must provide `dnsConfig` when `dnsPolicy` is None"));
            return;
        }
        if servers.is_empty() {
            let why = "must provide at least one DNS nameserver when `dnsPolicy` is None";
            wrong.push(Wrong::required(path.field("nameservers"), why));
            return;
        }
    }
    if servers.len() > 3 {
        let why = "must not have more than 3 nameservers";
        wrong.push(Wrong::invalid(path.field("nameservers"), &json!(servers), why));
    }
}

fn gates(spec: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    let mut seen = BTreeSet::new();
    for (index, gate) in items(spec, "schedulingGates").iter().enumerate() {
        let name = text(gate, "name");
        field::key(&path.index(index), name, wrong);
        if !seen.insert(name) {
            wrong.push(Wrong::duplicate(path.index(index), &json!(name)));
        }
    }
    let node = text(spec, "nodeName");
    if !seen.is_empty() && !node.is_empty() {
        // Upstream names the field of the pod, not the gates.
        let why = "cannot be set until all schedulingGates have been cleared";
        wrong.push(Wrong::forbidden(SPEC.field("nodeName"), why));
    }
}

/// Fields of one value each, in upstream's order.
fn single_fields(spec: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    for name in ["serviceAccountName", "nodeName"] {
        let value = text(spec, name);
        if !value.is_empty() {
            field::invalid(&path.field(name), value, names::subdomain(value), wrong);
        }
    }
    if let Some(seconds) = integer(spec, "activeDeadlineSeconds")
        && !(1..=i64::from(i32::MAX)).contains(&seconds)
    {
        let why = names::between(1, i64::from(i32::MAX));
        wrong.push(Wrong::invalid(path.field("activeDeadlineSeconds"), &json!(seconds), &why));
    }
    for name in ["hostname", "subdomain"] {
        let value = text(spec, name);
        if !value.is_empty() {
            field::invalid(&path.field(name), value, names::label(value), wrong);
        }
    }
    affinity::tolerations(spec, &path.field("tolerations"), wrong);
    for name in ["priorityClassName", "runtimeClassName"] {
        if let Some(value) = present(spec, name).and_then(Value::as_str)
            && (name == "runtimeClassName" || !value.is_empty())
        {
            field::invalid(&path.field(name), value, names::subdomain(value), wrong);
        }
    }
    if let Some(policy) = present(spec, "preemptionPolicy").and_then(Value::as_str) {
        let policies = ["PreemptLowerPriority", "Never"];
        field::one_of(&path.field("preemptionPolicy"), policy, &policies, wrong);
    }
    if let Some(overhead) = present(spec, "overhead") {
        resources::requirements(&json!({"limits": overhead}), &path.field("overhead"), wrong);
    }
    if let Some(os) = present(spec, "os") {
        field::one_of(&path.field("os").field("name"), text(os, "name"), &["linux", "windows"], wrong);
    }
}
