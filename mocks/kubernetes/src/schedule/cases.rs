//! Decisions on clusters that stand in data files, each with what upstream's scheduler says.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::cluster::Cluster;
use super::decide::{Decider, Decision, Nomination};
use super::observe::{Change, Seen};
use super::score::Packing;

/// The plural of a kind, as far as the cases use it.
fn resource(kind: &str) -> String {
    let plural = if kind.ends_with('s') { format!("{kind}es") } else { format!("{kind}s") };
    plural.to_lowercase()
}

/// A cluster with these objects.
pub(super) fn cluster(objects: &[Value]) -> Cluster {
    let mut cluster = Cluster::default();
    for object in objects {
        let kind = object["kind"].as_str().unwrap();
        let seen = Seen::parse(&resource(kind), object.to_string().as_bytes())
            .unwrap_or_else(|| panic!("no {kind}: {object}"));
        cluster.see(&seen);
    }
    cluster
}

/// What is decided for `pod`, as a value.
pub(super) fn outcome(objects: &[Value], pod: &Value, seed: u64) -> Value {
    let mut cluster = cluster(objects);
    let seen = Seen::parse("pods", pod.to_string().as_bytes()).unwrap();
    let Change::Pending { id, .. } = cluster.see(&seen) else { panic!("the pod is placed already") };
    let mut decider = Decider::new(seed, Packing::LeastAllocated, 100);
    match decider.decide(&mut cluster, id).unwrap() {
        Decision::Bind { node, .. } => json!({"node": node}),
        Decision::Unschedulable(refusal) => {
            let mut outcome = json!({"message": refusal.message});
            if let Nomination::On { node, victims, .. } = refusal.nomination {
                let names: BTreeSet<&str> =
                    victims.iter().filter_map(|key| Some(key.split_once('/')?.1)).collect();
                outcome["nominated"] = node.as_ref().into();
                outcome["victims"] = json!(names);
            }
            outcome
        }
    }
}

/// Objects in full, from the short form of the files.
mod short {
    use serde_json::{Map, Value, json};

    fn text<'a>(value: &'a Value, default: &'a str) -> &'a str {
        value.as_str().unwrap_or(default)
    }

    /// Every entry of `from`, over what `into` has.
    fn lay(into: &mut Value, from: &Value) {
        for (key, value) in from.as_object().into_iter().flatten() {
            into[key] = value.clone();
        }
    }

    pub(super) fn node(short: &Value) -> Value {
        let mut has = json!({"cpu": text(&short["cpu"], "4"), "memory": text(&short["memory"], "8Gi"),
            "pods": text(&short["pods"], "110"), "ephemeral-storage": "100Gi"});
        lay(&mut has, &short["other"]);
        let labels =
            if short["labels"].is_object() { short["labels"].clone() } else { Value::Object(Map::new()) };
        let spec = if short["spec"].is_object() { short["spec"].clone() } else { Value::Object(Map::new()) };
        json!({"kind": "Node", "metadata": {"name": short["name"], "labels": labels}, "spec": spec,
            "status": {"capacity": has, "allocatable": has}})
    }

    pub(super) fn pod(short: &Value) -> Value {
        let mut requests = json!({});
        for resource in ["cpu", "memory"] {
            if let Some(amount) = short[resource].as_str() {
                requests[resource] = amount.into();
            }
        }
        lay(&mut requests, &short["other"]);
        let mut container = json!({"name": "c", "image": "i", "resources": {"requests": requests}});
        if short["ports"].is_array() {
            container["ports"] = short["ports"].clone();
        }
        let claims = short["claims"].as_array().into_iter().flatten().enumerate();
        let volume = |(place, claim): (usize, &Value)| json!({"name": format!("v{place}"), "persistentVolumeClaim": {"claimName": claim}});
        let mut spec = json!({"schedulerName": "default-scheduler", "containers": [container],
            "priority": short["priority"].as_i64().unwrap_or(0), "volumes": claims.map(volume).collect::<Vec<_>>()});
        let mut status = json!({"phase": "Pending"});
        if let Some(node) = short["node"].as_str() {
            spec["nodeName"] = node.into();
            status =
                json!({"phase": "Running", "startTime": text(&short["started"], "2026-01-01T00:00:00Z")});
        }
        lay(&mut spec, &short["spec"]);
        let labels =
            if short["labels"].is_object() { short["labels"].clone() } else { Value::Object(Map::new()) };
        json!({"kind": "Pod", "spec": spec, "status": status, "metadata": {"name": short["name"], "labels": labels,
            "namespace": text(&short["namespace"], "default"), "uid": format!("uid-{}", text(&short["name"], ""))}})
    }
}

/// The cases of all files: name, objects, pod, and what is expected.
pub(super) fn cases() -> Vec<(String, Vec<Value>, Value, Value)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/schedule");
    let mut cases = Vec::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let file = file.unwrap().path();
        let list: Vec<Value> = serde_yaml::from_str(&std::fs::read_to_string(&file).unwrap())
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        for case in list {
            let all = |field: &str| case[field].as_array().cloned().unwrap_or_default();
            let mut objects = all("objects");
            objects.extend(all("nodes").iter().map(short::node));
            objects.extend(all("pods").iter().map(short::pod));
            let name = format!("{}: {}", file.file_stem().unwrap().display(), case["name"].as_str().unwrap());
            cases.push((name, objects, short::pod(&case["pod"]), case["expect"].clone()));
        }
    }
    cases
}

#[test]
fn decisions_are_upstreams() {
    let cases = cases();
    assert!(!cases.is_empty());
    for (name, objects, pod, expected) in cases {
        for seed in 0..4 {
            assert_eq!(outcome(&objects, &pod, seed), expected, "{name}");
        }
    }
}
