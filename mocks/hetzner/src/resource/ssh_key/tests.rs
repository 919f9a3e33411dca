//! Lives of SSH keys, and keys that OpenSSH made.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::resource::ssh_key::public_key::fingerprint;
use crate::rig::Rig;

/// Keys that OpenSSH made, each behind the fingerprint that OpenSSH gives it.
const KEYS: &str = include_str!("keys.txt");

fn keys() -> Vec<(&'static str, &'static str)> {
    KEYS.lines().filter_map(|line| line.split_once(' ')).collect()
}

fn ed25519() -> &'static str {
    keys()[0].1
}

fn rsa() -> &'static str {
    keys()[1].1
}

#[test]
fn fingerprints_are_those_of_openssh() {
    for (expected, key) in keys() {
        assert_eq!(fingerprint(key).as_deref(), Some(expected), "{key}");
        let without_comment = key.rsplit_once(' ').unwrap().0;
        assert_eq!(fingerprint(without_comment).as_deref(), Some(expected), "{key}");
    }
}

#[test]
fn what_is_no_key_has_no_fingerprint() {
    let (algorithm, key) = ed25519().split_once(' ').unwrap();
    let key = key.split_once(' ').unwrap().0;
    for wrong in [
        String::new(),
        algorithm.to_owned(),
        key.to_owned(),
        format!("{algorithm} {}", &key[..key.len() - 4]),
        format!("{algorithm} {key}AAAA"),
        format!("{algorithm} {}", key.replace('A', "!")),
        format!("ssh-rsa {key}"),
        format!("ssh-dss {key}"),
        format!("restrict {algorithm} {key}"),
        format!("{algorithm} {key} one\n{algorithm} {key} two"),
        "-----BEGIN PUBLIC KEY-----".to_owned(),
    ] {
        assert_eq!(fingerprint(&wrong), None, "{wrong}");
    }
}

#[test]
fn a_life() {
    let mut rig = Rig::new();
    let key = json!({"name": "mine", "public_key": format!("{}\n", ed25519()), "labels": {"a": "b"}});
    let made = rig.post("/ssh_keys", &key)["ssh_key"].clone();
    assert_eq!(made["public_key"], ed25519());
    assert_eq!(made["fingerprint"], keys()[0].0);
    assert_eq!(made["created"], "2026-11-01T00:00:00Z");
    let path = format!("/ssh_keys/{}", made["id"]);
    assert_eq!(rig.get(&path)["ssh_key"], made);
    for filter in ["name=mine", "label_selector=a%3Db", &format!("fingerprint={}", keys()[0].0)] {
        assert_eq!(rig.get(&format!("/ssh_keys?{filter}"))["ssh_keys"], json!([made]), "{filter}");
    }
    for filter in ["name=other", "label_selector=a%21%3Db", "fingerprint=00"] {
        assert_eq!(rig.get(&format!("/ssh_keys?{filter}"))["ssh_keys"], json!([]), "{filter}");
    }
    let renamed = rig.done("PUT", &path, &json!({"name": "ours", "labels": {}}))["ssh_key"].clone();
    assert_eq!((&renamed["name"], &renamed["labels"]), (&json!("ours"), &json!({})));
    assert_eq!(rig.ask("DELETE", &path, &Value::Null), (204, Value::Null));
    assert_eq!(rig.refused("DELETE", &path, &Value::Null), (404, "not_found".to_owned()));
    rig.post("/ssh_keys", &key);
}

#[test]
fn a_key_and_a_name_are_there_once() {
    let mut rig = Rig::new();
    rig.post("/ssh_keys", &json!({"name": "one", "public_key": ed25519()}));
    let other_comment = ed25519().replace("someone", "nobody");
    let (status, answer) = rig.ask("POST", "/ssh_keys", &json!({"name": "two", "public_key": other_comment}));
    assert_eq!((status, &answer["error"]["code"]), (409, &json!("uniqueness_error")));
    assert_eq!(answer["error"]["details"]["fields"], json!([{"name": "public_key"}]));
    let (status, answer) = rig.ask("POST", "/ssh_keys", &json!({"name": "one", "public_key": rsa()}));
    assert_eq!((status, &answer["error"]["details"]["fields"]), (409, &json!([{"name": "name"}])));
    assert_eq!(rig.get("/ssh_keys")["meta"]["pagination"]["total_entries"], 1);
}

#[test]
fn all_mistakes_are_told() {
    let mut rig = Rig::new();
    let (status, answer) = rig.ask("POST", "/ssh_keys", &json!({"public_key": "", "label": {}}));
    assert_eq!(status, 422);
    let fields: Vec<&str> = answer["error"]["details"]["fields"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|it| it["name"].as_str())
        .collect();
    assert_eq!(fields, ["name", "public_key", "label"]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is done to the text of a key, reading it ends with an answer; a key that is cut is none.
    #[test]
    fn damage_is_noticed(which in 0..keys().len(), at in 0_usize..2000, with in any::<char>()) {
        let key = keys()[which].1.rsplit_once(' ').unwrap().0;
        let at = at % key.len();
        let damaged: String =
            key.char_indices().map(|(index, letter)| if index == at { with } else { letter }).collect();
        let _ = fingerprint(&damaged);
        prop_assert_eq!(fingerprint(&key[..at]), None);
    }
}
