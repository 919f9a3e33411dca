//! Writes, as controllers and requests make them.

use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod};
use mock_clock::{Time, VirtualClock};
use serde_json::{Value, json};

use super::{Api, Delete, Patch, Target, Write};
use crate::store::Key;

fn api() -> Api {
    let (clock, _hand) = VirtualClock::manual("2030-01-01T00:00:00Z".parse::<Time>().unwrap());
    let api = Api::new(clock, 1);
    crate::birth::furnish(&api).unwrap();
    api
}

fn write() -> Write {
    Write::by("tester")
}

fn create<K: super::Kind>(api: &Api, namespace: &str, value: Value) -> K {
    api.make(namespace, &serde_json::from_value::<K>(value).unwrap(), &write()).unwrap()
}

#[test]
fn a_new_object_gets_what_only_the_server_gives() {
    let api = api();
    let node: Node = create(&api, "", json!({"metadata": {"generateName": "n-", "uid": "mine"}}));
    let name = node.metadata.name.unwrap();
    assert!(name.starts_with("n-") && name.len() == 7, "{name}");
    assert_ne!(node.metadata.uid.as_deref(), Some("mine"));
    let born = serde_json::to_value(node.metadata.creation_timestamp.unwrap()).unwrap();
    assert_eq!(born, "2030-01-01T00:00:00Z");
    assert_eq!(node.metadata.resource_version, Some(api.store().revision().to_string()));
}

#[test]
fn a_stale_version_is_refused_and_none_is_not() {
    let api = api();
    create::<Node>(&api, "", json!({"metadata": {"name": "a"}}));
    let resource = api.resource::<Node>();
    let target = Target { resource: &resource, namespace: "", name: "a", subresource: "" };
    let body = |version: &str| json!({"metadata": {"name": "a", "resourceVersion": version, "labels": {"v": version}}});
    assert_eq!(api.replace(&target, &write(), &body("1")).unwrap_err().code, 409);
    let first = api.replace(&target, &write(), &body("")).unwrap();
    let revision = first.object.revision.to_string();
    assert!(api.replace(&target, &write(), &body(&revision)).is_ok());
}

#[test]
fn a_write_that_changes_nothing_keeps_the_version() {
    let api = api();
    create::<ConfigMap>(&api, "default", json!({"metadata": {"name": "a"}, "data": {"k": "v"}}));
    let before = api.store().revision();
    let same = api.edit::<ConfigMap>(("default", "a", ""), &write(), |_| Ok(())).unwrap();
    assert_eq!(same.metadata.resource_version, Some(before.to_string()));
    assert_eq!(api.store().revision(), before);
}

#[test]
fn a_finalizer_holds_an_object_until_it_is_taken_off() {
    let api = api();
    create::<ConfigMap>(&api, "default", json!({"metadata": {"name": "a", "finalizers": ["x/y"]}}));
    api.discard::<ConfigMap>("default", "a", &Delete::background(), &write()).unwrap();
    let held = api.read::<ConfigMap>("default", "a").unwrap();
    assert!(held.metadata.deletion_timestamp.is_some());
    api.edit::<ConfigMap>(("default", "a", ""), &write(), |object| {
        object.metadata.finalizers = None;
        Ok(())
    })
    .unwrap();
    assert!(api.read::<ConfigMap>("default", "a").is_none());
}

#[test]
fn a_running_pod_gets_its_grace_and_the_grace_only_shrinks() {
    let api = api();
    let pod = json!({
        "metadata": {"name": "p"},
        "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "i"}], "terminationGracePeriodSeconds": 30},
    });
    create::<Pod>(&api, "default", pod);
    let delete = |seconds| {
        let delete = Delete { grace_period_seconds: seconds, ..Delete::default() };
        api.discard::<Pod>("default", "p", &delete, &write()).unwrap();
        let pod = api.read::<Pod>("default", "p")?;
        let due = serde_json::to_value(pod.metadata.deletion_timestamp).unwrap();
        Some((pod.metadata.deletion_grace_period_seconds.unwrap(), due))
    };
    assert_eq!(delete(None), Some((30, json!("2030-01-01T00:00:30Z"))));
    assert_eq!(delete(Some(60)), Some((30, json!("2030-01-01T00:00:30Z"))));
    assert_eq!(delete(Some(5)), Some((5, json!("2030-01-01T00:00:05Z"))));
    assert_eq!(delete(Some(-3)), Some((1, json!("2030-01-01T00:00:01Z"))));
    assert_eq!(delete(Some(0)), None);
}

#[test]
fn a_trial_leaves_nothing_behind() {
    let api = api();
    let trial = Write { dry_run: true, ..write() };
    let resource = api.resource::<Node>();
    let body = json!({"metadata": {"name": "a"}});
    assert!(api.create(&resource, "", body, &trial).is_ok());
    assert!(api.store().get("nodes", &Key::new("", "a")).is_none());
}

#[test]
fn what_others_set_in_a_custom_resource_survives_an_apply() {
    let api = api();
    let registry = api.registry();
    let definitions = registry.find("apiextensions.k8s.io", "v1", "customresourcedefinitions").unwrap();
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "replicas": {"type": "integer"}, "zone": {"type": "string", "default": "a"},
    }}}});
    let definition = json!({
        "metadata": {"name": "pools.example.com"},
        "spec": {
            "group": "example.com", "names": {"plural": "pools", "kind": "Pool"}, "scope": "Namespaced",
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
    });
    api.create(definitions, "", definition, &write()).unwrap();
    let registry = api.registry();
    let pools = registry.find("example.com", "v1", "pools").unwrap();
    let body = json!({"metadata": {"name": "small"}, "spec": {"replicas": 1}});
    api.create(pools, "default", body.clone(), &write()).unwrap();
    let target = Target { resource: pools, namespace: "default", name: "small", subresource: "" };
    let zone = Patch::Json(json!([{"op": "replace", "path": "/spec/zone", "value": "b"}]));
    api.patch(&target, &zone, &write()).unwrap();
    let mut config = body;
    config["apiVersion"] = json!("example.com/v1");
    config["kind"] = json!("Pool");
    for manager in ["kubectl", "kubectl", "other"] {
        let apply = Patch::Apply { config: config.clone(), force: true };
        let written = api.patch(&target, &apply, &Write::by(manager)).unwrap();
        let value = written.object.value();
        assert_eq!(value["spec"]["zone"], "b", "{manager}: {value:#}");
    }
    let reset = Patch::Merge(json!({"metadata": {"managedFields": []}}));
    let value = api.patch(&target, &reset, &write()).unwrap().object.value();
    assert!(value["metadata"].get("managedFields").is_none(), "{value:#}");
}

#[test]
fn an_empty_record_of_writers_is_forgotten() {
    let api = api();
    let resource = api.resource::<ConfigMap>();
    let target = Target { resource: &resource, namespace: "default", name: "a", subresource: "" };
    let config =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "v"}});
    let apply = Patch::Apply { config, force: false };
    let applied = api.patch(&target, &apply, &write()).unwrap().object.value();
    assert!(applied["metadata"]["managedFields"].is_array());
    let reset = Patch::Merge(json!({"metadata": {"managedFields": []}}));
    let value = api.patch(&target, &reset, &write()).unwrap().object.value();
    assert!(value["metadata"].get("managedFields").is_none(), "{value:#}");
}

#[test]
fn nothing_is_made_of_what_a_definition_that_goes_has_defined() {
    let api = api();
    let registry = api.registry();
    let definitions = registry.by_kind("apiextensions.k8s.io", "v1", "CustomResourceDefinition").unwrap();
    let schema = json!({"openAPIV3Schema": {"type": "object"}});
    let definition = json!({
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com", "scope": "Cluster", "names": {"plural": "things", "kind": "Thing"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": schema}],
        },
    });
    api.create(definitions, "", definition, &write()).unwrap();
    let registry = api.registry();
    let things = registry.find("example.com", "v1", "things").unwrap();
    api.create(things, "", json!({"metadata": {"name": "a"}}), &write()).unwrap();
    let target = Target { resource: definitions, namespace: "", name: "things.example.com", subresource: "" };
    assert!(!api.delete(&target, &Delete::background(), &write()).unwrap().gone);
    let refused = api.create(things, "", json!({"metadata": {"name": "b"}}), &write()).unwrap_err();
    assert_eq!(refused.code, 405, "{refused}");
}
