//! What the table must say, and what reading an object through it must do.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::drawn::Draw;
use super::{List, Shape, conform, schema, strict_error};

fn conformed(api_version: &str, kind: &str, mut object: Value) -> Result<(Value, Vec<String>), String> {
    let message = schema().api_kind(api_version, kind).unwrap();
    let unknown = conform(message, &mut object)?;
    Ok((object, unknown))
}

fn error(api_version: &str, kind: &str, object: Value) -> String {
    conformed(api_version, kind, object).unwrap_err()
}

#[test]
fn every_row_is_read() {
    let rows = include_str!("fields.txt").lines().filter(|line| !line.starts_with(['#', '>'])).count();
    let packages = include_str!("fields.txt").lines().filter(|line| line.starts_with("package ")).count();
    let fields: usize = schema().messages.iter().map(|message| message.wire().len()).sum();
    assert_eq!(fields, rows - packages);
}

#[test]
fn kinds_are_found_by_group_and_version() {
    let deployment = schema().kind("apps", "v1", "Deployment").unwrap();
    assert_eq!(deployment.go(), "v1.Deployment");
    assert!(schema().kind("", "v1", "PodList").is_some());
    assert!(schema().kind("policy", "v1", "DeleteOptions").is_some());
    assert!(schema().kind("karpenter.sh", "v1", "NodePool").is_none());
    assert!(schema().kind("", "v1", "PodSpec").is_none());
}

#[test]
fn a_list_says_how_it_merges() {
    let spec = schema().message("k8s.io.api.core.v1", "PodSpec").unwrap();
    let volumes = spec.field("volumes").unwrap().merge.unwrap();
    assert_eq!((volumes.merge, volumes.retain_keys, volumes.key), (true, true, "name"));
    let Some(Shape::Message(container)) = spec.field("containers").map(|field| field.shape) else { panic!() };
    let ports = container.message().field("ports").unwrap();
    assert_eq!(ports.list, List::Map(vec!["containerPort", "protocol"]));
    assert_eq!(ports.merge.unwrap().key, "containerPort");
    let finalizers = schema().message(super::META, "ObjectMeta").unwrap().field("finalizers").unwrap();
    assert_eq!((finalizers.list.clone(), finalizers.merge.unwrap().key), (List::Set, ""));
}

#[test]
fn inlined_structs_are_spread_in_json_and_whole_on_the_wire() {
    let volume = schema().message("k8s.io.api.core.v1", "Volume").unwrap();
    assert!(volume.field("hostPath").is_some());
    assert!(volume.by_tag(2).unwrap().inline);
}

#[test]
fn zeros_come_and_go_as_go_writes_them() {
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"creationTimestamp": null, "labels": {}},
        "spec": {
            "replicas": 0, "paused": false, "selector": null,
            "template": {"spec": {"containers": [{"name": "a", "image": "", "args": [],
                "livenessProbe": {"httpGet": {"port": 80}},
                "resources": {"requests": {"cpu": "1000m", "memory": 1024}}}], "nodeSelector": {},
                "volumes": [{"name": "v", "emptyDir": {}}]}},
        },
    });
    let (deployment, unknown) = conformed("apps/v1", "Deployment", deployment).unwrap();
    assert_eq!(
        deployment,
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {}, "status": {},
            "spec": {
                "replicas": 0, "selector": null, "strategy": {},
                "template": {"metadata": {}, "spec": {
                    "containers": [{"name": "a", "livenessProbe": {"httpGet": {"port": 80}},
                        "resources": {"requests": {"cpu": "1", "memory": "1024"}}}],
                    "volumes": [{"name": "v", "emptyDir": {}}]}},
            },
        })
    );
    assert_eq!(unknown, Vec::<String>::new());
}

#[test]
fn unknown_fields_are_dropped_and_named() {
    let pod =
        json!({"kind": "Pod", "foo": 1, "spec": {"containers": [{"name": "a"}, {"name": "b", "imag": 1}]}});
    let (pod, unknown) = conformed("v1", "Pod", pod).unwrap();
    assert_eq!(unknown, ["foo", "spec.containers[1].imag"]);
    assert!(pod.get("foo").is_none());
    assert_eq!(
        strict_error(&unknown, &["spec.x".to_owned()]).unwrap(),
        "strict decoding error: unknown field \"foo\", unknown field \"spec.containers[1].imag\", \
         duplicate field \"spec.x\""
    );
}

#[test]
fn wrong_types_are_refused_in_the_words_of_go() {
    let text = error("apps/v1", "Deployment", json!({"spec": {"replicas": "three"}}));
    assert_eq!(
        text,
        "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32"
    );
    let cases = [
        (
            json!({"spec": {"containers": {}}}),
            "object into Go struct field PodSpec.spec.containers of type []v1.Container",
        ),
        (
            json!({"spec": {"containers": ["a"]}}),
            "string into Go struct field PodSpec.spec.containers of type v1.Container",
        ),
        (
            json!({"spec": {"priority": 1.5}}),
            "number 1.5 into Go struct field PodSpec.spec.priority of type int32",
        ),
        (
            json!({"spec": {"dnsPolicy": 1}}),
            "number into Go struct field PodSpec.spec.dnsPolicy of type v1.DNSPolicy",
        ),
        (
            json!({"metadata": {"labels": {"a": 1}}}),
            "number into Go struct field ObjectMeta.metadata.labels of type string",
        ),
        (
            json!({"spec": {"volumes": [{"hostPath": true}]}}),
            "bool into Go struct field Volume.spec.volumes.VolumeSource.hostPath of type v1.HostPathVolumeSource",
        ),
    ];
    for (pod, tail) in cases {
        assert_eq!(error("v1", "Pod", pod), format!("json: cannot unmarshal {tail}"));
    }
    let text = error("v1", "Node", json!({"status": {"capacity": {"cpu": "lots"}}}));
    assert!(text.starts_with("quantities must match"), "{text}");
    let text = error("v1", "Secret", json!({"data": {"a": "?"}}));
    assert_eq!(text, "illegal base64 data at input byte 0");
}

proptest! {
    #[test]
    fn conforming_twice_is_conforming_once(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let (message, mut object) = Draw::new(&bytes).object();
        prop_assert_eq!(conform(message, &mut object), Ok(Vec::new()));
        let once = object.clone();
        prop_assert_eq!(conform(message, &mut object), Ok(Vec::new()));
        prop_assert_eq!(object, once);
    }

    #[test]
    fn odd_objects_are_refused_or_made_to_conform(
        bytes in prop::collection::vec(any::<u8>(), 0..600),
        spoilt in prop::collection::vec(any::<u8>(), 1..40),
    ) {
        let (message, mut object) = Draw::new(&bytes).object();
        Draw::new(&spoilt).spoil(&mut object);
        if conform(message, &mut object).is_ok() {
            let once = object.clone();
            prop_assert_eq!(conform(message, &mut object), Ok(Vec::new()));
            prop_assert_eq!(object, once);
        }
    }
}
