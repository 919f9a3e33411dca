//! The upstream fixtures, round trips, and bytes that are no protobuf.

use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Error, ListWriter, bare, encode, enveloped, watch_frame_of};
use crate::schema::conform;
use crate::schema::drawn::Draw;

/// What says its type itself.
fn decode(bytes: &[u8]) -> Result<Value, Error> {
    super::decode(bytes, ("", ""))
}

/// Upstream's `k8s.io/api/testdata/HEAD`; it is not part of this repository.
const FIXTURES: &str = "MOCK_KUBERNETES_API_TESTDATA";

#[test]
fn upstream_fixtures_decode_to_their_json_and_encode_to_their_bytes() {
    let Ok(directory) = std::env::var(FIXTURES) else {
        eprintln!("SKIPPED: {FIXTURES} names no directory with upstream's fixtures");
        return;
    };
    let (mut passed, mut unknown, mut failed) = (0, Vec::new(), Vec::new());
    for file in std::fs::read_dir(directory).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "pb") {
            continue;
        }
        match fixture(&path) {
            Ok(()) => passed += 1,
            Err(Failure::Unknown) => unknown.push(path),
            Err(Failure::Different(how)) => failed.push(format!("{}: {how}", path.display())),
        }
    }
    eprintln!("{passed} fixtures passed; kinds that are not served: {unknown:#?}");
    assert!(failed.is_empty(), "{failed:#?}");
    assert!(passed > 100);
}

enum Failure {
    Unknown,
    Different(String),
}

fn fixture(path: &Path) -> Result<(), Failure> {
    let different = |how: &str| Failure::Different(how.to_owned());
    let bytes = std::fs::read(path).unwrap();
    let expected: Value =
        serde_json::from_slice(&std::fs::read(path.with_extension("json")).unwrap()).unwrap();
    let decoded = match decode(&bytes) {
        Err(Error::UnknownKind { .. }) => return Err(Failure::Unknown),
        other => other.map_err(|error| Failure::Different(error.to_string()))?,
    };
    if decoded != expected {
        return Err(Failure::Different(format!("decoded\n{decoded}\nexpected\n{expected}")));
    }
    let mut conformed = expected.clone();
    let message = crate::schema::schema()
        .api_kind(expected["apiVersion"].as_str().unwrap(), expected["kind"].as_str().unwrap())
        .unwrap();
    let unknown = conform(message, &mut conformed).map_err(Failure::Different)?;
    if conformed != expected || !unknown.is_empty() {
        return Err(Failure::Different(format!(
            "conformed, unknown {unknown:?}\n{conformed}\nexpected\n{expected}"
        )));
    }
    let encoded = encode(&expected).map_err(|error| Failure::Different(error.to_string()))?;
    if encoded == bytes { Ok(()) } else { Err(different("encoded bytes differ")) }
}

fn pod(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"a": "b"}},
        "spec": {"containers": [{"name": "c", "resources": {}}]}, "status": {},
    })
}

#[test]
fn a_list_written_by_item_is_the_list_written_whole() {
    let metadata = json!({"resourceVersion": "7"});
    let names: Vec<String> = (0..40).map(|at| format!("pod-{at}")).collect();
    let mut writer = ListWriter::new("v1", "Pod", &metadata).unwrap();
    for name in &names {
        writer.item(&bare(&pod(name)).unwrap());
    }
    let items: Vec<Value> = names.iter().map(|name| pod(name)).collect();
    let whole = json!({"apiVersion": "v1", "kind": "PodList", "metadata": metadata, "items": items});
    assert_eq!(writer.finish(), encode(&whole).unwrap());
}

#[test]
fn an_envelope_around_what_is_written_is_the_whole_written_at_once() {
    for kind in [pod("a"), json!({"apiVersion": "v1", "kind": "Namespace"})] {
        let (version, name) = (kind["apiVersion"].as_str().unwrap(), kind["kind"].as_str().unwrap());
        assert_eq!(enveloped(version, name, &bare(&kind).unwrap()), encode(&kind).unwrap());
    }
}

#[test]
fn an_empty_list_is_a_list() {
    let list = ListWriter::new("apps/v1", "Deployment", &json!({})).unwrap().finish();
    let empty = json!({"apiVersion": "apps/v1", "kind": "DeploymentList", "metadata": {}, "items": null});
    assert_eq!(decode(&list), Ok(empty));
}

#[test]
fn a_watch_frame_is_a_length_and_an_event_around_an_envelope() {
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}});
    let enveloped = encode(&namespace).unwrap();
    let frame = watch_frame_of("ADDED", &enveloped);
    let length = usize::try_from(u32::from_be_bytes(frame[..4].try_into().unwrap())).unwrap();
    assert_eq!(length, frame.len() - 4);
    // Type, then the object, whose only field is the envelope.
    let (event, raw) = frame[4..].split_at(7);
    assert_eq!(event, b"\x0a\x05ADDED");
    let inner = u8::try_from(enveloped.len()).unwrap();
    assert_eq!(raw, [&[0x12, inner + 2, 0x0a, inner], &enveloped[..]].concat());
}

#[test]
fn unset_and_zero_are_told_apart_where_go_tells_them_apart() {
    let deployment = |replicas: Value| {
        let spec = json!({"replicas": replicas, "selector": null, "template": {}});
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "spec": spec})
    };
    let back = |value: &Value| decode(&encode(value).unwrap()).unwrap();
    assert_eq!(back(&deployment(json!(0)))["spec"]["replicas"], json!(0));
    assert_eq!(back(&deployment(json!(null)))["spec"].get("replicas"), None);
    assert_eq!(back(&deployment(json!(0)))["spec"].get("minReadySeconds"), None);
}

#[test]
fn what_has_no_protobuf_is_an_error() {
    let unknown = |api_version: &str, kind: &str| Error::UnknownKind {
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
    };
    let pool = json!({"apiVersion": "karpenter.sh/v1", "kind": "NodePool"});
    assert_eq!(encode(&pool), Err(unknown("karpenter.sh/v1", "NodePool")));
    assert_eq!(decode(b"{}"), Err(Error::NoEnvelope));
    assert_eq!(decode(b"k8s\0"), Err(Error::Empty));
    let unsaid = b"k8s\0\x0a\0";
    let inside = |kind: &str, why| Error::Inside {
        api_version: "v1".to_owned(),
        kind: kind.to_owned(),
        why: Box::new(why),
    };
    assert_eq!(super::decode(unsaid, ("v1", "Nothing")), Err(inside("Nothing", unknown("v1", "Nothing"))));
    assert!(super::decode(unsaid, ("v1", "ConfigMap")).is_ok());
}

#[test]
fn nesting_without_end_is_refused() {
    let nested = |depth: usize| {
        // `not`, the field 28 of a schema.
        (0..depth).fold(Vec::new(), |inner, _| {
            let mut outer = Vec::new();
            super::wire::put_bytes(&mut outer, 28, &inner);
            outer
        })
    };
    assert!(decode(&in_definition(&nested(100))).is_ok());
    let refused = decode(&in_definition(&nested(2000))).unwrap_err();
    assert_eq!(refused.to_string(), "messages are nested too deep");
}

/// A definition whose only version has this schema.
fn in_definition(schema: &[u8]) -> Vec<u8> {
    let wrap = |tag: u32, inner: &[u8]| {
        let mut out = Vec::new();
        super::wire::put_bytes(&mut out, tag, inner);
        out
    };
    let names = [wrap(1, b"apiextensions.k8s.io/v1"), wrap(2, b"CustomResourceDefinition")].concat();
    let definition = wrap(2, &wrap(7, &wrap(4, &wrap(1, schema))));
    [b"k8s\0".to_vec(), wrap(1, &names), wrap(2, &definition)].concat()
}

proptest! {
    #[test]
    fn what_conforms_survives_the_wire(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let (message, mut object) = Draw::new(&bytes).object();
        conform(message, &mut object).unwrap();
        prop_assert_eq!(decode(&encode(&object).unwrap()), Ok(object));
    }

    #[test]
    fn what_is_accepted_can_be_written(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        spoilt in prop::collection::vec(any::<u8>(), 1..40),
    ) {
        let (message, mut object) = Draw::new(&bytes).object();
        Draw::new(&spoilt).spoil(&mut object);
        let named = object.get("kind").is_some_and(Value::is_string);
        if conform(message, &mut object).is_ok() && named {
            let decoded = encode(&object).map(|bytes| decode(&bytes));
            prop_assert!(matches!(decoded, Ok(Ok(_)) | Err(Error::UnknownKind { .. })), "{:?}", decoded);
        }
    }

    #[test]
    fn damaged_bytes_never_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<prop::sample::Index>(),
    ) {
        let (message, mut object) = Draw::new(&bytes).object();
        conform(message, &mut object).unwrap();
        let mut encoded = encode(&object).unwrap();
        for (at, byte) in damage {
            let at = at.index(encoded.len());
            encoded[at] = byte;
        }
        let _ = decode(&encoded);
        encoded.truncate(cut.index(encoded.len()));
        let _ = decode(&encoded);
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = decode(&bytes);
        let _ = decode(&[b"k8s\0".as_slice(), &bytes].concat());
        let _ = decode(&in_definition(&bytes));
    }
}
