//! Config maps and secrets: keys, size, and immutability.

use base64::Engine as _;
use serde_json::{Value, json};

use super::field;
use crate::admit::names;
use crate::admit::path::Path;
use crate::admit::read::{deep, entries, present, text, truth};
use crate::admit::same::same_field;
use crate::status::Wrong;

/// All values together: one megabyte.
const MOST_BYTES: usize = 1 << 20;
const DATA: Path<'static> = Path::Top("data");
const BINARY: Path<'static> = Path::Top("binaryData");

fn decoded(value: &Value) -> Vec<u8> {
    let text = value.as_str().unwrap_or_default();
    base64::engine::general_purpose::STANDARD.decode(text).unwrap_or_default()
}

fn decoded_length(value: &Value) -> usize {
    let text = value.as_str().unwrap_or_default();
    let padding = text.bytes().rev().take_while(|byte| *byte == b'=').count();
    (text.len() / 4 * 3).saturating_sub(padding)
}

pub(super) fn config_map(object: &Value, wrong: &mut Vec<Wrong>) {
    let mut bytes = 0;
    for (key, value) in entries(object, "data") {
        let path = DATA.key(key);
        field::invalid(&path, key, names::config_key(key), wrong);
        if present(object, "binaryData").is_some_and(|binary| binary.get(key).is_some()) {
            wrong.push(Wrong::invalid(path, &json!(key), "duplicate of key present in binaryData"));
        }
        bytes += value.as_str().map_or(0, str::len);
    }
    for (key, value) in entries(object, "binaryData") {
        field::invalid(&BINARY.key(key), key, names::config_key(key), wrong);
        bytes += decoded_length(value);
    }
    if bytes > MOST_BYTES {
        wrong.push(Wrong::too_long("", MOST_BYTES));
    }
}

pub(super) fn secret(object: &Value, wrong: &mut Vec<Wrong>) {
    let mut bytes = 0;
    for (key, value) in entries(object, "data") {
        field::invalid(&DATA.key(key), key, names::config_key(key), wrong);
        bytes += decoded_length(value);
    }
    if bytes > MOST_BYTES {
        wrong.push(Wrong::too_long(DATA, MOST_BYTES));
    }
    let data = field::part(object, "data");
    let mut needs = |key: &str| {
        if data.get(key).is_none() {
            wrong.push(Wrong::required(DATA.key(key), ""));
        }
    };
    match text(object, "type") {
        "kubernetes.io/service-account-token" => {
            const NAME: &str = "kubernetes.io/service-account.name";
            if deep(object, &["metadata", "annotations", NAME]).is_none() {
                let path = Path::Top("metadata");
                wrong.push(Wrong::required(path.field("annotations").key(NAME), ""));
            }
        }
        "kubernetes.io/dockercfg" => document(data, ".dockercfg", wrong),
        "kubernetes.io/dockerconfigjson" => document(data, ".dockerconfigjson", wrong),
        "kubernetes.io/basic-auth" if data.get("username").is_none() && data.get("password").is_none() => {
            needs("username");
            needs("password");
        }
        "kubernetes.io/ssh-auth" => needs("ssh-privatekey"),
        "kubernetes.io/tls" => {
            needs("tls.crt");
            needs("tls.key");
        }
        _ => {}
    }
}

fn document(data: &Value, key: &str, wrong: &mut Vec<Wrong>) {
    let Some(value) = data.get(key) else {
        wrong.push(Wrong::required(DATA.key(key), ""));
        return;
    };
    if serde_json::from_slice::<serde_json::Map<String, Value>>(&decoded(value)).is_err() {
        let shown = json!("<secret contents redacted>");
        wrong.push(Wrong::invalid(DATA.key(key), &shown, "unexpected end of JSON input"));
    }
}

pub(super) fn update(kind: &str, object: &Value, old: &Value, wrong: &mut Vec<Wrong>) {
    const WHY: &str = "field is immutable when `immutable` is set";
    if kind == "Secret" {
        field::immutable(&Path::Top("type"), &["type"], object, old, wrong);
    }
    if !truth(old, "immutable") {
        return;
    }
    if !truth(object, "immutable") {
        wrong.push(Wrong::forbidden(Path::Top("immutable"), WHY));
    }
    for (name, path) in [("data", DATA), ("binaryData", BINARY)] {
        if !same_field(object.get(name), old.get(name)) {
            wrong.push(Wrong::forbidden(path, WHY));
        }
    }
}
