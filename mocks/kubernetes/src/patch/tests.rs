//! The cases under `tests/patch`, and the laws that patches obey.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::status::Status;

use super::{Structure, json, merge, strategic};

pub(super) fn cases(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap();
    let file: Value = serde_yaml::from_str(&text).unwrap();
    file["cases"].as_array().unwrap().clone()
}

fn data(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/patch").join(path)
}

pub(super) fn files(folder: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(data(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

pub(super) fn kind(text: &str) -> Structure<'static> {
    let (version, kind) = text.split_once(' ').unwrap();
    Structure::builtin(version, kind).unwrap()
}

fn judge(case: &Value, got: Result<Value, Status>) {
    let name = &case["name"];
    match (got, case.get("want")) {
        (Ok(got), Some(want)) => assert_eq!(got, *want, "{name}"),
        (Ok(got), None) => panic!("{name}: not refused, but {got}"),
        (Err(status), None) => {
            let refused = &case["refused"];
            assert_eq!(refused["code"], status.code, "{name}: {status}");
            let message = refused.get("message").and_then(Value::as_str);
            let message = message.unwrap_or("the server rejected our request due to an error in our request");
            assert_eq!(status.message, message, "{name}");
        }
        (Err(status), Some(_)) => panic!("{name}: {status}"),
    }
}

#[test]
fn merge_cases() {
    for case in cases(&data("merge.yaml")) {
        judge(&case, merge(&case["target"], &case["patch"]));
    }
}

#[test]
fn json_cases() {
    for case in cases(&data("json.yaml")) {
        judge(&case, json(&case["target"], &case["patch"]));
    }
}

#[test]
fn strategic_cases() {
    for case in files("strategic").iter().flat_map(|file| cases(file)) {
        let kind = kind(case["kind"].as_str().unwrap());
        judge(&case, strategic(&case["target"], &case["patch"], kind));
    }
}

#[test]
fn a_json_patch_has_limits() {
    let test = json!({"op": "test", "path": "/a", "value": null});
    let many: Value = std::iter::repeat_n(test, 10_001).collect();
    let status = json(&json!({}), &many).unwrap_err();
    assert_eq!(status.code, 413);
    assert_eq!(
        status.message,
        "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001"
    );
    let doubling: Value = (0..40).map(|_| json!({"op": "copy", "from": "/a", "path": "/a/-"})).collect();
    let status = json(&json!({"a": ["x".repeat(64)]}), &doubling).unwrap_err();
    assert_eq!(status.code, 422);
    let deepening: Value = (0..40).map(|_| json!({"op": "copy", "from": "/a", "path": "/a/b"})).collect();
    assert!(json(&json!({"a": {}}), &deepening).is_ok());
    let deep = format!("{}1{}", "[".repeat(100), "]".repeat(100));
    let deep: Value = serde_json::from_str(&deep).unwrap();
    let patch = json!([{"op": "add", "path": format!("{}/a", "/b".repeat(30)), "value": deep}]);
    assert_eq!(json(&json!({}), &patch).unwrap_err().code, 422);
}

/// Objects of scalars and objects, without nulls.
fn documents() -> impl Strategy<Value = Value> {
    let leaf =
        prop_oneof![Just(json!(true)), (0..3_i64).prop_map(Value::from), "[a-c]".prop_map(Value::from)];
    let tree = leaf.prop_recursive(3, 24, 4, |inner| {
        proptest::collection::btree_map("[a-d]", inner, 0..4)
            .prop_map(|fields| Value::Object(fields.into_iter().collect()))
    });
    proptest::collection::btree_map("[a-d]", tree, 0..4)
        .prop_map(|fields| Value::Object(fields.into_iter().collect()))
}

/// The merge patch from one document to another.
fn diff(from: &Value, to: &Value) -> Value {
    let (Value::Object(from), Value::Object(to)) = (from, to) else { return to.clone() };
    let gone = from.keys().filter(|key| !to.contains_key(*key)).map(|key| (key.clone(), Value::Null));
    let mut patch: Map<String, Value> = gone.collect();
    for (key, to) in to {
        match from.get(key) {
            Some(from) if from == to => {}
            Some(from) => {
                patch.insert(key.clone(), diff(from, to));
            }
            None => {
                patch.insert(key.clone(), to.clone());
            }
        }
    }
    Value::Object(patch)
}

proptest! {
    #[test]
    fn a_merge_patch_carries_a_difference(from in documents(), to in documents()) {
        prop_assert_eq!(merge(&from, &diff(&from, &to)).unwrap(), to);
    }

    #[test]
    fn a_merge_patch_twice_is_once(target in documents(), patch in documents()) {
        let once = merge(&target, &patch).unwrap();
        prop_assert_eq!(merge(&once, &patch).unwrap(), once);
    }

    /// Without a schema and without lists, strategic merge is merge.
    #[test]
    fn strategic_merge_of_plain_maps_is_merge(target in documents(), to in documents()) {
        let patch = diff(&target, &to);
        let merged = strategic(&target, &patch, Structure::Deduced).unwrap();
        prop_assert_eq!(merged, merge(&target, &patch).unwrap());
    }

    #[test]
    fn a_strategic_patch_twice_is_once(target in pods(), patch in pods()) {
        let once = strategic(&target, &patch, kind("v1 Pod")).unwrap();
        prop_assert_eq!(strategic(&once, &patch, kind("v1 Pod")).unwrap(), once);
    }
}

/// Pods with lists of each kind.
pub(super) fn pods() -> impl Strategy<Value = Value> {
    let set = |pattern: &'static str| proptest::collection::btree_set(pattern, 0..4);
    let ports = proptest::collection::btree_map(1..4_u16, "[a-b]", 0..3);
    let container = (ports, set("[a-c]"), proptest::option::of("[x-z]"));
    let containers = proptest::collection::btree_map("[a-d]", container, 0..3);
    (set("[a-d]"), set("[a-d]"), containers).prop_map(|(finalizers, tolerations, containers)| {
        let containers: Vec<Value> = containers
            .into_iter()
            .map(|(name, (ports, args, image))| {
                let ports: Vec<Value> = ports
                    .into_iter()
                    .map(|(port, name)| json!({"containerPort": port, "protocol": "TCP", "name": name}))
                    .collect();
                let mut container = json!({"name": name, "args": args, "ports": ports});
                if let Some(image) = image {
                    container["image"] = json!(image);
                }
                container
            })
            .collect();
        let tolerations: Vec<Value> = tolerations.into_iter().map(|key| json!({"key": key})).collect();
        json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "p", "finalizers": finalizers},
            "spec": {"containers": containers, "tolerations": tolerations},
        })
    })
}
