//! Whether a schema is structural: every field has a type outside of `allOf`, `anyOf`, `oneOf` and `not`, and those
//! only narrow values.

use serde_json::{Map, Value, json};

use super::{
    node::{flag, text},
    path::{field, index, key},
    pattern,
};
use crate::status::Wrong;

/// What keeps a schema from being structural, sorted.
pub(crate) fn check(schema: &Value, at: &str) -> Vec<Wrong> {
    let mut wrong = Vec::new();
    spine(schema, Level::Root, at, &mut wrong);
    complete(schema, Some(schema), at, at, &mut wrong);
    wrong.sort_by_key(ToString::to_string);
    wrong
}

#[derive(Clone, Copy, PartialEq)]
enum Level {
    Root,
    Item,
    Field,
}

fn object<'a>(schema: &'a Value, name: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    schema.get(name).and_then(Value::as_object).into_iter().flatten()
}

fn list<'a>(schema: &'a Value, name: &str) -> impl Iterator<Item = (usize, &'a Value)> {
    schema.get(name).and_then(Value::as_array).into_iter().flatten().enumerate()
}

fn child<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    schema.get(name).filter(|child| child.is_object())
}

/// A node on the spine, where values get their shape.
fn spine(schema: &Value, level: Level, at: &str, wrong: &mut Vec<Wrong>) {
    let kind = text(schema, "type");
    let embedded = flag(schema, "x-kubernetes-embedded-resource");
    let preserve = flag(schema, "x-kubernetes-preserve-unknown-fields");
    let int_or_string = flag(schema, "x-kubernetes-int-or-string");
    if kind == "array" && child(schema, "items").is_none() {
        wrong.push(Wrong::required(field(at, "items"), "must be specified"));
    }
    if let Some(items) = child(schema, "items") {
        spine(items, Level::Item, &field(at, "items"), wrong);
    }
    let properties = field(at, "properties");
    for (name, schema) in object(schema, "properties") {
        spine(schema, Level::Field, &key(&properties, name), wrong);
    }
    if let Some(additional) = schema.get("additionalProperties").filter(|additional| !additional.is_null()) {
        let at = field(at, "additionalProperties");
        if level == Level::Root {
            wrong.push(Wrong::forbidden(at.as_str(), "must not be used at the root"));
        }
        if embedded {
            let detail = "must not be used if x-kubernetes-embedded-resource is set";
            wrong.push(Wrong::forbidden(at.as_str(), detail));
        }
        if additional.is_object() {
            spine(additional, Level::Field, &at, wrong);
        }
    }
    for name in ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"] {
        if int_or_string && flag(schema, name) {
            let detail = "must be false if x-kubernetes-int-or-string is true";
            wrong.push(Wrong::invalid(field(at, name), &Value::from(true), detail));
        }
    }
    limits(schema, at, int_or_string_any_of(schema), wrong);
    kind_of_spine(&kind, level, at, (embedded, int_or_string || preserve), wrong);
    identity(schema, level, embedded, at, wrong);
    if embedded && !preserve && object(schema, "properties").next().is_none() {
        let detail = "must not be empty if x-kubernetes-embedded-resource is true without \
                      x-kubernetes-preserve-unknown-fields";
        wrong.push(Wrong::required(properties, detail));
    }
}

fn kind_of_spine(
    kind: &str,
    level: Level,
    at: &str,
    (embedded, untyped): (bool, bool),
    wrong: &mut Vec<Wrong>,
) {
    let at = field(at, "type");
    let value = Value::from(kind);
    if embedded && kind != "object" {
        let detail = "must be object if x-kubernetes-embedded-resource is true";
        wrong.push(if kind.is_empty() {
            Wrong::required(at.as_str(), detail)
        } else {
            Wrong::invalid(at.as_str(), &value, detail)
        });
    } else if kind.is_empty() && !untyped {
        let detail = match level {
            Level::Root => "must not be empty at the root",
            Level::Item => "must not be empty for specified array items",
            Level::Field => "must not be empty for specified object fields",
        };
        wrong.push(Wrong::required(at.as_str(), detail));
    }
    if level == Level::Root && !kind.is_empty() && kind != "object" {
        wrong.push(Wrong::invalid(at, &value, "must be object at the root"));
    }
}

/// `kind`, `apiVersion` and `metadata` of a resource have a meaning already.
fn identity(schema: &Value, level: Level, embedded: bool, at: &str, wrong: &mut Vec<Wrong>) {
    let resource = level == Level::Root || embedded;
    let at = field(at, "properties");
    for (name, expected) in [("kind", "string"), ("apiVersion", "string"), ("metadata", "object")] {
        let Some(schema) = schema.get("properties").and_then(|properties| properties.get(name)) else {
            continue;
        };
        let kind = text(schema, "type");
        if resource && kind != expected {
            let at = field(&key(&at, name), "type");
            wrong.push(Wrong::invalid(at, &Value::from(kind), &format!("must be {expected}")));
        }
        if name == "metadata" && level == Level::Root && says_too_much(schema) {
            let detail = "must not specify anything other than name and generateName, but metadata is implicitly specified";
            wrong.push(Wrong::forbidden(key(&at, name), detail));
        }
    }
}

fn says_too_much(metadata: &Value) -> bool {
    let names = ["name", "generateName"];
    let silent = ["type", "default", "externalDocs", "example"];
    let fields = metadata.as_object().into_iter().flatten();
    fields.filter(|(word, _)| !silent.contains(&word.as_str())).any(|(word, value)| {
        let only_names =
            || value.as_object().is_some_and(|map| map.keys().all(|key| names.contains(&key.as_str())));
        !(word == "properties" && only_names())
    })
}

fn is_int_or_string(any_of: Option<&Value>) -> bool {
    any_of == Some(&json!([{"type": "integer"}, {"type": "string"}]))
}

/// Whether `anyOf` is the pattern for numbers or texts, and whether the first of `allOf` is.
fn int_or_string_any_of(schema: &Value) -> (bool, bool) {
    (is_int_or_string(schema.get("anyOf")), is_int_or_string(schema.pointer("/allOf/0/anyOf")))
}

/// The junctions of a node and its pattern.
fn limits(schema: &Value, at: &str, (skip, skip_first): (bool, bool), wrong: &mut Vec<Wrong>) {
    for word in ["anyOf", "allOf", "oneOf"] {
        for (number, schema) in list(schema, word) {
            if word == "anyOf" && skip {
                continue;
            }
            let skip = word == "allOf" && skip_first && number == 0;
            narrowing(schema, &index(&field(at, word), number), skip, wrong);
        }
    }
    if let Some(not) = child(schema, "not") {
        narrowing(not, &field(at, "not"), false, wrong);
    }
    let pattern = text(schema, "pattern");
    if let Err(error) = pattern::compile(&pattern) {
        let detail = format!("must be a valid regular expression, but isn't: {error}");
        wrong.push(Wrong::invalid(field(at, "pattern"), &Value::from(pattern), &detail));
    }
}

/// A node in a junction, where values are only narrowed.
fn narrowing(schema: &Value, at: &str, skip_any_of: bool, wrong: &mut Vec<Wrong>) {
    limits(schema, at, (skip_any_of, false), wrong);
    if let Some(items) = child(schema, "items") {
        narrowing(items, &field(at, "items"), false, wrong);
    }
    let properties = field(at, "properties");
    for (name, schema) in object(schema, "properties") {
        narrowing(schema, &key(&properties, name), false, wrong);
    }
    let words = [
        ("type", "empty"),
        ("additionalProperties", "undefined"),
        ("default", "undefined"),
        ("title", "empty"),
        ("description", "empty"),
        ("nullable", "false"),
        ("x-kubernetes-preserve-unknown-fields", "false"),
        ("x-kubernetes-embedded-resource", "false"),
        ("x-kubernetes-int-or-string", "false"),
        ("x-kubernetes-list-map-keys", "empty"),
        ("x-kubernetes-list-type", "undefined"),
        ("x-kubernetes-map-type", "undefined"),
        ("x-kubernetes-validations", "empty"),
    ];
    for (word, state) in words {
        let value = schema.get(word).filter(|value| !matches!(value, Value::Null | Value::Bool(false)));
        let said = value.is_some_and(|value| match value {
            Value::String(text) => !text.is_empty() || state == "undefined",
            Value::Array(items) => !items.is_empty(),
            _ => true,
        });
        if said || (word == "additionalProperties" && schema.get(word) == Some(&Value::Bool(false))) {
            wrong.push(Wrong::forbidden(field(at, word), &format!("must be {state} to be structural")));
        }
    }
    if schema.get("properties").and_then(|properties| properties.get("metadata")).is_some() {
        wrong.push(Wrong::forbidden(
            key(&properties, "metadata"),
            "must not be specified in a nested context",
        ));
    }
}

/// Every field named in a junction has to be on the spine.
fn complete(schema: &Value, spine: Option<&Value>, spine_at: &str, at: &str, wrong: &mut Vec<Wrong>) {
    for word in ["allOf", "anyOf", "oneOf"] {
        for (number, schema) in list(schema, word) {
            complete_nested(schema, spine, spine_at, &index(&field(at, word), number), wrong);
        }
    }
    if let Some(not) = child(schema, "not") {
        complete_nested(not, spine, spine_at, &field(at, "not"), wrong);
    }
}

fn complete_nested(schema: &Value, spine: Option<&Value>, spine_at: &str, at: &str, wrong: &mut Vec<Wrong>) {
    let Some(spine) = spine else {
        wrong.push(Wrong::required(spine_at, &format!("because it is defined in {at}")));
        return;
    };
    complete(schema, Some(spine), spine_at, at, wrong);
    if let Some(items) = child(schema, "items") {
        let at = field(at, "items");
        complete_nested(items, child(spine, "items"), &field(spine_at, "items"), &at, wrong);
    }
    let none = Map::new();
    let known = spine.get("properties").and_then(Value::as_object).unwrap_or(&none);
    for (name, schema) in object(schema, "properties") {
        let at = key(&field(at, "properties"), name);
        complete_nested(schema, known.get(name), &key(&field(spine_at, "properties"), name), &at, wrong);
    }
}
