//! The rules by which conversations are compared must themselves be able to fail.

use serde_json::{Value, json};

use crate::compare::judge;
use crate::golden::Golden;
use crate::known::Known;
use crate::path::{fill, find};
use crate::placeholders::Placeholders;

pub(crate) fn places_are_found() {
    let value = json!({"items": [{"name": "a", "at": {"b/c": 1}}, {"name": "d"}]});
    assert_eq!(find(&value, "items[1].name"), Some(&json!("d")));
    assert_eq!(find(&value, "items[name=a].at.\"b/c\""), Some(&json!(1)));
    assert_eq!(find(&value, "items[name=z]"), None);
    assert_eq!(fill("x {{items[1].name}} {{items[0].at}}", &value).unwrap(), r#"x d {"b/c":1}"#);
    assert_eq!(fill("{{nothing}}", &value).unwrap_err(), "nothing at nothing");
    assert!(fill("{{items", &value).is_err());
}

pub(crate) fn placeholders_stand_for_what_differs() {
    let one = |uid: &str, versions: [&str; 2], time: &str| {
        let object = |version: &str| json!({"metadata": {"uid": uid, "resourceVersion": version, "creationTimestamp": time, "managedFields": []}});
        json!([object(versions[0]), object(versions[1]), {"kind": "List", "metadata": {"resourceVersion": versions[1]}}])
    };
    let settled = |mut value: Value| {
        let mut placeholders = Placeholders::new(false);
        placeholders.meet(&value);
        placeholders.replace(&mut value);
        value
    };
    let first = one("00000000-0000-0000-0000-000000000001", ["7", "12"], "2026-01-01T00:00:00Z");
    let same = one("00000000-0000-0000-0000-000000000002", ["110", "120"], "2027-01-01T00:00:00Z");
    let swapped = one("00000000-0000-0000-0000-000000000002", ["120", "110"], "2027-01-01T00:00:00Z");
    let own_time = one("00000000-0000-0000-0000-000000000002", ["7", "12"], "2001-01-01T00:00:00Z");
    assert_eq!(settled(first.clone()), settled(same));
    assert_ne!(settled(first.clone()), settled(swapped), "which one came later is part of the answer");
    assert_ne!(settled(first), settled(own_time), "a time the transcript gave must come back");
}

pub(crate) fn differences_convict() {
    let golden = Golden {
        server: "v1".to_owned(),
        answers: vec![json!({"step": "one", "body": {"a": [1, 2], "b": {}}})],
    };
    let told =
        |answer: Value, known: &[Known]| judge("t", &golden, &[answer], known).err().unwrap_or_default();
    assert_eq!(told(json!({"step": "one", "body": {"a": [1, 2], "b": {}}}), &[]), "");
    assert!(told(json!({"step": "one", "body": {"a": [1], "b": {}}}), &[]).contains("one: /body/a/1"));
    assert!(told(json!({"step": "one", "body": {"a": [1, 2]}}), &[]).contains("one: /body/b"));
    assert!(
        told(json!({"step": "one", "body": {"a": [1, 2], "b": {}, "c": null}}), &[]).contains("one: /body/c")
    );
    assert!(judge("t", &golden, &[], &[]).is_err(), "no answer is not the answer");
}

pub(crate) fn known_differences_are_allowed_until_they_go() {
    let golden =
        Golden { server: "v1".to_owned(), answers: vec![json!({"step": "one", "body": {"a": [{"b": 1}]}})] };
    let known: Vec<Known> =
        serde_yaml::from_str("- {transcript: t, step: '*', at: /body/a/*/b, why: a test}").unwrap();
    let differs = json!({"step": "one", "body": {"a": [{"b": 2}]}});
    let elsewhere = json!({"step": "one", "body": {"a": [{"b": 2, "c": 3}]}});
    assert_eq!(judge("t", &golden, &[differs], &known), Ok(()));
    assert!(judge("t", &golden, &[elsewhere], &known).is_err());
    assert!(judge("t", &golden, &golden.answers, &known).unwrap_err().contains("no difference any more"));
}
