//! Identity of embedded resources: `apiVersion` and `kind` are required texts, `metadata` is an object.
//!
//! The fields inside an embedded `metadata` are not validated.

use serde_json::{Map, Value};

use super::{node::Node, path};
use crate::status::Wrong;

/// What is wrong with the embedded resources of an object.
pub(crate) fn validate(value: &Value, node: &Node, at: &str) -> Vec<Wrong> {
    let mut wrong = Vec::new();
    walk(value, node, at, &mut wrong);
    wrong
}

fn walk(value: &Value, node: &Node, at: &str, wrong: &mut Vec<Wrong>) {
    match value {
        Value::Object(fields) => {
            if node.embedded {
                identity(fields, at, wrong);
            }
            for (name, value) in fields {
                if let Some(node) = node.properties.get(name) {
                    walk(value, node, &path::field(at, name), wrong);
                } else if let Some(node) = node.additional.node() {
                    walk(value, node, &path::key(at, name), wrong);
                }
            }
        }
        Value::Array(items) => {
            let Some(node) = &node.items else { return };
            for (index, item) in items.iter().enumerate() {
                walk(item, node, &path::index(at, index), wrong);
            }
        }
        _ => {}
    }
}

fn identity(fields: &Map<String, Value>, at: &str, wrong: &mut Vec<Wrong>) {
    for name in ["apiVersion", "kind"] {
        let at = path::field(at, name);
        match fields.get(name) {
            None => wrong.push(Wrong::required(at, "")),
            Some(Value::String(text)) if text.is_empty() => {
                wrong.push(Wrong::invalid(at, &Value::from(""), "must not be empty"));
            }
            Some(Value::String(text)) if name == "apiVersion" && text.matches('/').count() > 1 => {
                let detail = format!("unexpected GroupVersion string: {text}");
                wrong.push(Wrong::invalid(at, &Value::from(text.as_str()), &detail));
            }
            Some(Value::String(text)) if name == "kind" => {
                if let Some(why) = super::names::not_a_label(&text.to_lowercase()) {
                    let detail = format!("may have mixed case, but should otherwise match: {why}");
                    wrong.push(Wrong::invalid(at, &Value::from(text.as_str()), &detail));
                }
            }
            Some(Value::String(_)) => {}
            Some(other) => wrong.push(Wrong::invalid(at, other, "must be a string")),
        }
    }
    if let Some(metadata) = fields.get("metadata").filter(|metadata| !metadata.is_object()) {
        let detail = "json: cannot unmarshal into Go value of type v1.ObjectMeta";
        wrong.push(Wrong::invalid(path::field(at, "metadata"), metadata, detail));
    }
}
