//! The cases under `tests/patch/apply`, and the laws of applying.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::schema;
use crate::status::Status;

use super::super::tests::{cases, files, kind, pods};
use super::super::{MAIN, STATUS, Structure, Writer, apply, settle, track};
use super::super::{fields::shown, managers::Managers};

fn writer<'a>(manager: &'a str, kind: &'a str, subresource: &'a str, time: &'a str) -> Writer<'a> {
    let (api_version, kind) = kind.split_once(' ').unwrap();
    let resets = if subresource == "status" { STATUS } else { MAIN };
    Writer { manager, api_version, kind, subresource, time, resets }
}

/// Does one step; `set` writes what nobody records.
fn step(
    live: Option<&Value>,
    step: &Value,
    kind: &str,
    structure: Structure<'_>,
    time: &str,
) -> Result<Value, Status> {
    let text = |key: &str| step.get(key).and_then(Value::as_str).unwrap_or("");
    let writer = writer(text("manager"), kind, text("subresource"), time);
    let mut object = step["object"].clone();
    match text("do") {
        "apply" => {
            let force = step.get("force").is_some_and(|force| force == true);
            object = apply(live, &object, writer, force, structure)?;
            conform(&mut object);
        }
        "update" => {
            conform(&mut object);
            track(live, &mut object, writer, true, structure);
        }
        _ => conform(&mut object),
    }
    if let Some(live) = live {
        settle(live, &mut object);
    }
    Ok(object)
}

/// As a server reads and writes an object of a built-in kind.
fn conform(object: &mut Value) {
    let (version, kind) = (object["apiVersion"].as_str().unwrap(), object["kind"].as_str().unwrap());
    if let Some(message) = schema::schema().api_kind(version, kind) {
        let managed = object["metadata"].get("managedFields").cloned();
        schema::conform(message, object).unwrap();
        if let Some(managed) = managed {
            object["metadata"]["managedFields"] = managed;
        }
    }
}

/// Owners and the paths they own, and the rest of the object.
fn taken_apart(mut object: Value) -> (Value, Value) {
    let mut owners = Map::new();
    for (owner, owned) in Managers::of(&object).unwrap().0 {
        let untimed = if owned.time.is_none() { "untimed" } else { "" };
        let operation = format!("{:?}", owner.operation);
        let name = [owner.manager.as_str(), &operation, &owner.subresource, untimed];
        let name: Vec<&str> = name.into_iter().filter(|part| !part.is_empty()).collect();
        let mut paths: Vec<String> = owned.fields.paths().iter().map(|path| shown(path)).collect();
        paths.sort();
        owners.insert(name.join(" "), json!(paths));
    }
    let metadata = object["metadata"].as_object_mut().unwrap();
    metadata.remove("managedFields");
    metadata.remove("uid");
    (Value::Object(owners), without_empty(object))
}

/// Without what a typed object says although it is not there.
fn without_empty(value: Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .into_iter()
            .map(|(key, value)| (key, without_empty(value)))
            .filter(|(_, value)| !value.is_null() && *value != json!({}) && *value != json!([]))
            .collect(),
        Value::Array(items) => items.into_iter().map(without_empty).collect(),
        scalar => scalar,
    }
}

#[test]
fn apply_cases() {
    for case in files("apply").iter().flat_map(|file| cases(file)) {
        let named = case["kind"].as_str().unwrap();
        let structure = case.get("schema").map_or_else(|| kind(named), Structure::custom);
        let mut live: Option<Value> = None;
        for (at, wanted) in case["steps"].as_array().unwrap().iter().enumerate() {
            let name = format!("{}, step {}", case["name"], at + 1);
            let time = format!("2026-01-01T00:00:{at:02}Z");
            match step(live.as_ref(), wanted, named, structure, &time) {
                Ok(object) => {
                    assert!(wanted.get("refused").is_none(), "{name}: not refused");
                    let (owners, rest) = taken_apart(object.clone());
                    assert_eq!(owners, wanted["owners"], "{name}");
                    assert_eq!(rest, wanted["want"], "{name}");
                    live = Some(object);
                }
                Err(status) => {
                    let refused = wanted.get("refused").unwrap_or_else(|| panic!("{name}: {status}"));
                    assert_eq!(refused["code"], status.code, "{name}: {status}");
                    assert_eq!(refused["message"], status.message, "{name}");
                }
            }
        }
    }
}

const POD: &str = "v1 Pod";

fn applied(live: Option<&Value>, config: &Value, manager: &str, time: &str) -> Value {
    let mut new = apply(live, config, writer(manager, POD, "", time), true, kind(POD)).unwrap();
    if let Some(live) = live {
        settle(live, &mut new);
    }
    new
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn applying_twice_is_applying_once(live in pods(), config in pods()) {
        let once = applied(Some(&live), &config, "one", "t1");
        prop_assert_eq!(applied(Some(&once), &config, "one", "t2"), once);
    }

    /// An applier that says nothing any more leaves nothing of its own behind. A set that is empty is nobody's.
    #[test]
    fn applying_nothing_removes_what_was_applied(first in pods(), config in pods()) {
        let mut pods = [first, config];
        for pod in &mut pods {
            let metadata = pod["metadata"].as_object_mut().unwrap();
            metadata.retain(|_, value| *value != json!([]));
        }
        let before = applied(None, &pods[0], "one", "t1");
        let both = applied(Some(&before), &pods[1], "two", "t2");
        let nothing = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}});
        let neither = applied(Some(&both), &nothing, "two", "t3");
        let neither = applied(Some(&neither), &nothing, "one", "t4");
        let (owners, rest) = taken_apart(neither);
        prop_assert_eq!(owners, json!({}));
        prop_assert_eq!(rest, nothing);
    }

    /// What an applier says is what is there, and it owns it.
    #[test]
    fn what_is_applied_by_force_is_there(live in pods(), config in pods()) {
        let new = applied(Some(&live), &config, "one", "t1");
        let again = apply(Some(&new), &config, writer("other", POD, "", "t2"), false, kind(POD)).unwrap();
        let (_, rest) = taken_apart(new);
        prop_assert_eq!(taken_apart(again).1, rest);
    }

    #[test]
    fn an_update_that_changes_nothing_records_nothing(config in pods()) {
        let live = applied(None, &config, "one", "t1");
        let mut same = live.clone();
        track(Some(&live), &mut same, writer("two", POD, "", "t2"), true, kind(POD));
        settle(&live, &mut same);
        prop_assert_eq!(same, live);
    }

    /// Every leaf of a tracked object has an owner after any write.
    #[test]
    fn every_field_has_an_owner(first in pods(), second in pods()) {
        let mut one = first;
        track(None, &mut one, writer("one", POD, "", "t1"), true, kind(POD));
        let mut two = second.clone();
        track(Some(&one), &mut two, writer("two", POD, "", "t2"), true, kind(POD));
        let owned = Managers::of(&two).unwrap().0.values()
            .fold(super::Fields::default(), |all, owned| all.union(&owned.fields));
        let all = super::fields_of(&second, kind(POD)).difference(&super::IDENTITY);
        prop_assert_eq!(all.difference(&owned).paths(), Vec::<Vec<super::super::fields::Element>>::new());
    }
}

#[test]
fn many_updaters_are_put_together() {
    let structure = kind("v1 ConfigMap");
    let mut live: Option<Value> = None;
    for at in 0..14 {
        let (manager, time) = (format!("m{at:02}"), format!("2026-01-01T00:00:{at:02}Z"));
        let mut new = live.clone().unwrap_or_else(|| json!({"metadata": {"name": "c", "uid": "u"}}));
        new["data"][format!("k{at}")] = json!("v");
        track(live.as_ref(), &mut new, writer(&manager, "v1 ConfigMap", "", &time), true, structure);
        live = Some(new);
    }
    let entries = live.unwrap()["metadata"]["managedFields"].as_array().unwrap().clone();
    assert_eq!(entries.len(), 10);
    assert_eq!(entries[0]["manager"], "ancient-changes");
    assert_eq!(entries[0]["time"], "2026-01-01T00:00:04Z");
    assert_eq!(entries[0]["fieldsV1"]["f:data"].as_object().unwrap().len(), 6);
}

#[test]
fn an_object_without_a_record_stays_without() {
    let live = json!({"metadata": {"name": "c"}, "data": {"a": "b"}});
    let mut new = json!({"metadata": {"name": "c"}, "data": {"a": "c"}});
    track(Some(&live), &mut new, writer("one", "v1 ConfigMap", "", "t"), true, kind("v1 ConfigMap"));
    assert_eq!(new, json!({"metadata": {"name": "c"}, "data": {"a": "c"}}));
    let mut created = live.clone();
    track(None, &mut created, writer("one", "v1 ConfigMap", "", "t"), false, kind("v1 ConfigMap"));
    assert_eq!(created, live);
}
