//! Pods and templates of pods: labels and annotations of old, selectors that match nothing, half bytes, doubles.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::admit::quantities::quantity;
use crate::admit::read::{deep, entries, integer, items, present, text};

/// Labels of nodes that have other names now.
const LABELS: [(&str, &str); 5] = [
    ("beta.kubernetes.io/arch", "deprecated since v1.14; use \"kubernetes.io/arch\" instead"),
    ("beta.kubernetes.io/os", "deprecated since v1.14; use \"kubernetes.io/os\" instead"),
    (
        "failure-domain.beta.kubernetes.io/region",
        "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead",
    ),
    (
        "failure-domain.beta.kubernetes.io/zone",
        "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead",
    ),
    (
        "beta.kubernetes.io/instance-type",
        "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead",
    ),
];

const ANNOTATIONS: [(&str, &str); 3] = [
    (
        "scheduler.alpha.kubernetes.io/critical-pod",
        "non-functional in v1.16+; use the \"priorityClassName\" field instead",
    ),
    ("security.alpha.kubernetes.io/sysctls", "non-functional in v1.11+; use the \"sysctls\" field instead"),
    (
        "security.alpha.kubernetes.io/unsafe-sysctls",
        "non-functional in v1.11+; use the \"sysctls\" field instead",
    ),
];

const NO_POD: &str = "a null labelSelector results in matching no pod";
const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// The sentences about a pod. `at` is what stands before `spec`, with its dot.
pub(super) fn warnings(pod: &Value, at: &str) -> Vec<String> {
    let Some(spec) = present(pod, "spec") else { return Vec::new() };
    let mut told = Vec::new();
    nodes(spec, at, &mut told);
    spreading(spec, at, &mut told);
    annotations(pod, at, &mut told);
    doubles(spec, at, &mut told);
    half_bytes(spec, "overhead", &format!("{at}spec.overhead"), &mut told);
    let all = containers(spec, at);
    for (container, path) in &all {
        resources(container, path, &mut told);
        variables(container, path, &mut told);
    }
    ports(&all, &mut told);
    port_names(&all, &mut told);
    if integer(spec, "terminationGracePeriodSeconds").is_some_and(|seconds| seconds < 0) {
        let why = "must be >= 0; negative values are invalid and will be treated as 1";
        told.push(format!("{at}spec.terminationGracePeriodSeconds: {why}"));
    }
    neighbours(spec, at, &mut told);
    told
}

/// All containers with their places, as upstream visits them.
fn containers<'a>(spec: &'a Value, at: &str) -> Vec<(&'a Value, String)> {
    let lists = ["initContainers", "containers", "ephemeralContainers"];
    let of = |list: &'static str| {
        items(spec, list)
            .iter()
            .enumerate()
            .map(move |(index, one)| (one, format!("{at}spec.{list}[{index}]")))
    };
    lists.into_iter().flat_map(of).collect()
}

fn renamed(label: &str) -> Option<&'static str> {
    LABELS.iter().find(|(old, _)| *old == label).map(|(_, why)| *why)
}

fn nodes(spec: &Value, at: &str, told: &mut Vec<String>) {
    for (label, _) in entries(spec, "nodeSelector") {
        if let Some(why) = renamed(label) {
            told.push(format!("{at}spec.nodeSelector[{label}]: {why}"));
        }
    }
    let Some(affinity) = deep(spec, &["affinity", "nodeAffinity"]) else { return };
    let place = format!("{at}spec.affinity.nodeAffinity");
    let required = present(affinity, REQUIRED).map(|all| items(all, "nodeSelectorTerms")).unwrap_or_default();
    for (index, term) in required.iter().enumerate() {
        expressions(term, &format!("{place}.{REQUIRED}.nodeSelectorTerms[{index}]"), told);
    }
    for (index, term) in items(affinity, PREFERRED).iter().enumerate() {
        if let Some(preference) = present(term, "preference") {
            expressions(preference, &format!("{place}.{PREFERRED}[{index}].preference"), told);
        }
    }
}

fn expressions(term: &Value, at: &str, told: &mut Vec<String>) {
    for (index, expression) in items(term, "matchExpressions").iter().enumerate() {
        let label = text(expression, "key");
        if let Some(why) = renamed(label) {
            told.push(format!("{at}.matchExpressions[{index}].key: {label} is {why}"));
        }
    }
}

fn spreading(spec: &Value, at: &str, told: &mut Vec<String>) {
    for (index, constraint) in items(spec, "topologySpreadConstraints").iter().enumerate() {
        let place = format!("{at}spec.topologySpreadConstraints[{index}]");
        let label = text(constraint, "topologyKey");
        if let Some(why) = renamed(label) {
            told.push(format!("{place}.topologyKey: {label} is {why}"));
        }
        if present(constraint, "labelSelector").is_none() {
            told.push(format!("{place}.labelSelector: {NO_POD}"));
        }
    }
}

fn annotations(pod: &Value, at: &str, told: &mut Vec<String>) {
    for (name, why) in ANNOTATIONS {
        if deep(pod, &["metadata", "annotations", name]).is_some() {
            told.push(format!("{at}metadata.annotations[{name}]: {why}"));
        }
    }
}

fn doubles(spec: &Value, at: &str, told: &mut Vec<String>) {
    for (list, field) in [("hostAliases", "ip"), ("imagePullSecrets", "name")] {
        let mut seen = BTreeSet::new();
        for (index, item) in items(spec, list).iter().enumerate() {
            let value = text(item, field);
            if !seen.insert(value) {
                told.push(format!("{at}spec.{list}[{index}].{field}: duplicate {field} {value:?}"));
            }
        }
    }
    for (index, secret) in items(spec, "imagePullSecrets").iter().enumerate() {
        if text(secret, "name").is_empty() {
            told.push(format!("{at}spec.imagePullSecrets[{index}].name: invalid empty name \"\""));
        }
    }
}

fn half_bytes(object: &Value, list: &str, at: &str, told: &mut Vec<String>) {
    for name in ["memory", "ephemeral-storage"] {
        half_byte(object, list, name, at, told);
    }
}

fn half_byte(object: &Value, list: &str, name: &str, at: &str, told: &mut Vec<String>) {
    let Some(amount) = deep(object, &[list, name]).map(quantity) else { return };
    if amount.nanos() % 1_000_000_000 != 0 {
        told.push(format!("{at}[{name}]: fractional byte value \"{amount}\" is invalid, must be an integer"));
    }
}

fn resources(container: &Value, at: &str, told: &mut Vec<String>) {
    let Some(resources) = present(container, "resources") else { return };
    for name in ["memory", "ephemeral-storage"] {
        for list in ["limits", "requests"] {
            half_byte(resources, list, name, &format!("{at}.resources.{list}"), told);
        }
    }
}

fn variables(container: &Value, at: &str, told: &mut Vec<String>) {
    let mut seen = BTreeSet::new();
    for (index, variable) in items(container, "env").iter().enumerate() {
        let name = text(variable, "name");
        if seen.insert(name) {
            continue;
        }
        let itself = format!("$({name})");
        let value = text(variable, "value");
        if present(variable, "valueFrom").is_some() || value == itself || !value.contains(&itself) {
            let why = "which may be dropped when using apply";
            told.push(format!("{at}.env[{index}]: hides previous definition of {name:?}, {why}"));
        }
    }
}

fn ports(containers: &[(&Value, String)], told: &mut Vec<String>) {
    let mut all: BTreeMap<String, Vec<(String, &Value)>> = BTreeMap::new();
    for (container, at) in containers {
        for (index, port) in items(container, "ports").iter().enumerate() {
            let place = format!("{at}.ports[{index}]");
            let number = integer(port, "containerPort").unwrap_or_default();
            let alike = all.entry(format!("{number}/{}", text(port, "protocol"))).or_default();
            for (other_place, other) in &*alike {
                if let Some(how) = overlap(port, other) {
                    told.push(format!("{place}: {how} port definition with {other_place}"));
                }
            }
            alike.push((place, port));
        }
    }
}

/// How one port of a container is in the way of another.
fn overlap(port: &Value, other: &Value) -> Option<&'static str> {
    let of = |port| (text(port, "hostIP"), integer(port, "hostPort").unwrap_or_default());
    let ((address, number), (other_address, other_number)) = (of(port), of(other));
    if (address, number) == (other_address, other_number) {
        Some("duplicate")
    } else if number == 0 || other_number == 0 {
        Some("overlapping")
    } else if number == other_number && (address.is_empty() != other_address.is_empty()) {
        Some("dangerously ambiguous")
    } else {
        None
    }
}

fn port_names(containers: &[(&Value, String)], told: &mut Vec<String>) {
    let mut seen: BTreeMap<&str, String> = BTreeMap::new();
    for (container, at) in containers {
        for (index, port) in items(container, "ports").iter().enumerate() {
            let (name, place) = (text(port, "name"), format!("{at}.ports[{index}]"));
            match seen.get(name) {
                _ if name.is_empty() => {}
                Some(first) => told.push(format!(
                    "{place}: duplicate port name {name:?} with {first}, services and probes that select ports by name \
                     will use {first}"
                )),
                None => drop(seen.insert(name, place)),
            }
        }
    }
}

fn neighbours(spec: &Value, at: &str, told: &mut Vec<String>) {
    for kind in ["podAffinity", "podAntiAffinity"] {
        let Some(affinity) = deep(spec, &["affinity", kind]) else { continue };
        let place = format!("{at}spec.affinity.{kind}");
        for (index, term) in items(affinity, REQUIRED).iter().enumerate() {
            if present(term, "labelSelector").is_none() {
                told.push(format!("{place}.{REQUIRED}[{index}].labelSelector: {NO_POD}"));
            }
        }
        for (index, term) in items(affinity, PREFERRED).iter().enumerate() {
            if deep(term, &["podAffinityTerm", "labelSelector"]).is_none() {
                told.push(format!("{place}.{PREFERRED}[{index}].podAffinityTerm.labelSelector: {NO_POD}"));
            }
        }
    }
}
