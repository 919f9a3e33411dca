//! Whether the words of a schema go together: types, lists that are maps or sets, defaults, rules.

use serde_json::Value;

use super::{
    defaulting, evaluation,
    node::{List, Node, flag, text, texts},
    openapi,
    path::{field, index, key},
    program::Program,
    pruning,
};
use crate::status::Wrong;

const KINDS: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];

/// What is wrong with the words of a schema.
pub(crate) fn check(schema: &Value, root: &Node, at: &str) -> Vec<Wrong> {
    let mut wrong = Vec::new();
    words(schema, at, &mut wrong);
    if wrong.is_empty() {
        defaults(root, at, true, &mut wrong);
    }
    if wrong.is_empty() {
        rules(schema, root, at, None, &mut wrong);
    }
    wrong
}

fn words(schema: &Value, at: &str, wrong: &mut Vec<Wrong>) {
    let kind = text(schema, "type");
    let value = Value::from(kind.as_str());
    if !kind.is_empty() && !KINDS.contains(&kind.as_str()) {
        wrong.push(Wrong::not_supported(field(at, "type"), &value, &KINDS));
    }
    for word in ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"] {
        if schema.get(word).is_some() {
            wrong.push(Wrong::forbidden(field(at, word), &format!("{word} is not supported")));
        }
    }
    if flag(schema, "uniqueItems") {
        let detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
        wrong.push(Wrong::forbidden(field(at, "uniqueItems"), detail));
    }
    if schema["items"].is_array() {
        wrong.push(Wrong::forbidden(field(at, "items"), "items must be a schema object and not an array"));
    }
    let has_properties = schema["properties"].as_object().is_some_and(|properties| !properties.is_empty());
    if has_properties
        && (schema["additionalProperties"].is_object() || schema["additionalProperties"] == false)
    {
        let detail = "additionalProperties and properties are mutual exclusive";
        wrong.push(Wrong::forbidden(field(at, "additionalProperties"), detail));
    }
    if schema["x-kubernetes-preserve-unknown-fields"] == false {
        let at = field(at, "x-kubernetes-preserve-unknown-fields");
        wrong.push(Wrong::invalid(at, &Value::from(false), "must be true or undefined"));
    }
    shape(schema, at, ("x-kubernetes-map-type", "object", &["atomic", "granular"]), wrong);
    shape(schema, at, ("x-kubernetes-list-type", "array", &["atomic", "set", "map"]), wrong);
    map_list(schema, at, wrong);
    each_child(schema, at, &mut |child, at| words(child, at, wrong));
}

/// The schemas directly below one.
fn each_child(schema: &Value, at: &str, visit: &mut dyn FnMut(&Value, &str)) {
    for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
        visit(schema, &key(&field(at, "properties"), name));
    }
    for word in ["items", "additionalProperties", "not"] {
        if schema[word].is_object() {
            visit(&schema[word], &field(at, word));
        }
    }
    for word in ["allOf", "oneOf", "anyOf"] {
        for (number, schema) in schema[word].as_array().into_iter().flatten().enumerate() {
            visit(schema, &index(&field(at, word), number));
        }
    }
}

/// `x-kubernetes-list-type` and `-map-type` belong to one type and have few values.
fn shape(schema: &Value, at: &str, (word, expected, choices): (&str, &str, &[&str]), wrong: &mut Vec<Wrong>) {
    let Some(choice) = schema[word].as_str() else { return };
    let kind = text(schema, "type");
    let detail = format!("must be {expected} if {word} is specified");
    if kind.is_empty() {
        wrong.push(Wrong::required(field(at, "type"), &detail));
    } else if kind != expected {
        wrong.push(Wrong::invalid(field(at, "type"), &Value::from(kind), &detail));
    }
    if !choices.contains(&choice) {
        wrong.push(Wrong::not_supported(field(at, word), &Value::from(choice), choices));
    }
}

fn map_list(schema: &Value, at: &str, wrong: &mut Vec<Wrong>) {
    let list = schema["x-kubernetes-list-type"].as_str();
    let keys = texts(schema, "x-kubernetes-list-map-keys");
    let keys_at = field(at, "x-kubernetes-list-map-keys");
    let items = &schema["items"];
    let items_at = field(at, "items");
    if !keys.is_empty() && list != Some("map") {
        let at = field(at, "x-kubernetes-list-type");
        let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
        wrong.push(match list {
            None => Wrong::required(at, detail),
            Some(list) => Wrong::invalid(at, &Value::from(list), detail),
        });
    }
    if let Some(list @ ("map" | "set")) = list
        && flag(items, "nullable")
    {
        let detail = format!("cannot be nullable when x-kubernetes-list-type is {list}");
        wrong.push(Wrong::forbidden(field(&items_at, "nullable"), &detail));
    }
    if list != Some("map") {
        return;
    }
    if keys.is_empty() {
        wrong.push(Wrong::required(keys_at.as_str(), "must not be empty if x-kubernetes-list-type is map"));
    }
    if !items.is_object() {
        wrong.push(Wrong::required(items_at, "must have a schema if x-kubernetes-list-type is map"));
    } else if items["type"] != "object" {
        let detail = "must be object if parent array's x-kubernetes-list-type is map";
        wrong.push(Wrong::invalid(field(&items_at, "type"), &Value::from(text(items, "type")), detail));
    } else {
        map_keys(&keys, items, (&keys_at, &items_at), wrong);
    }
}

fn map_keys(keys: &[String], items: &Value, (keys_at, items_at): (&str, &str), wrong: &mut Vec<Wrong>) {
    let required = texts(items, "required");
    for (number, name) in keys.iter().enumerate() {
        let all = Value::from(keys);
        if keys[..number].contains(name) {
            wrong.push(Wrong::invalid(keys_at, &all, "must not contain duplicate entries"));
        }
        let Some(schema) = items["properties"].get(name) else {
            wrong.push(Wrong::invalid(keys_at, &all, "entries must all be names of item properties"));
            continue;
        };
        let at = key(&field(items_at, "properties"), name);
        if schema["type"] == "array" || schema["type"] == "object" {
            let detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
            wrong.push(Wrong::invalid(field(&at, "type"), &Value::from("object"), detail));
        }
        if !required.contains(name) && schema["default"].is_null() {
            let detail = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required \
                          property";
            wrong.push(Wrong::required(field(&at, "default"), detail));
        }
        if flag(schema, "nullable") {
            let detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
            wrong.push(Wrong::forbidden(field(&at, "nullable"), detail));
        }
    }
}

/// Every default has to be a valid value of its schema, with nothing unknown in it.
fn defaults(node: &Node, at: &str, root: bool, wrong: &mut Vec<Wrong>) {
    if let Some(default) = &node.default {
        let at = field(at, "default");
        let mut pruned = default.clone();
        if !pruning::prune_default(&mut pruned, node).is_empty() {
            wrong.push(Wrong::invalid(at.as_str(), default, "must not have unknown fields"));
        }
        let mut full = default.clone();
        defaulting::default(&mut full, node);
        let keywords = openapi::validate(&full, node, None, &at);
        let clean = keywords.is_empty();
        wrong.extend(keywords);
        if clean {
            wrong.extend(evaluation::validate(&full, node, None, &at));
        }
    }
    for (name, node) in &node.properties {
        let at = key(&field(at, "properties"), name);
        let identity = root && ["metadata", "kind", "apiVersion"].contains(&name.as_str());
        if identity && node.default.is_some() {
            let detail = format!("must not be set in top-level {name}");
            wrong.push(Wrong::forbidden(field(&at, "default"), &detail));
        } else {
            defaults(node, &at, false, wrong);
        }
    }
    if let Some(items) = &node.items {
        defaults(items, &field(at, "items"), false, wrong);
    }
}

/// The rules of a node and of those below. `lost` is the path above which old and new values cannot be correlated.
fn rules(schema: &Value, node: &Node, at: &str, lost: Option<&str>, wrong: &mut Vec<Wrong>) {
    let all = field(at, "x-kubernetes-validations");
    let specs = schema["x-kubernetes-validations"].as_array().into_iter().flatten();
    for (number, (spec, rule)) in specs.zip(&node.rules).enumerate() {
        let at = index(&all, number);
        one_rule(spec, rule, &at, wrong);
        if let Some(lost) = lost.filter(|_| rule.uses_old) {
            let detail =
                format!("oldSelf cannot be used on the uncorrelatable portion of the schema within {lost}");
            wrong.push(Wrong::invalid(field(&at, "rule"), &spec["rule"], &detail));
        } else if !rule.uses_old
            && matches!(rule.program, Program::Ready(_))
            && let Some(optional) = spec.get("optionalOldSelf").filter(|optional| optional.is_boolean())
        {
            let detail = "may not be set if oldSelf is not used in rule";
            wrong.push(Wrong::invalid(field(&at, "optionalOldSelf"), optional, detail));
        }
    }
    for (name, node) in &node.properties {
        rules(&schema["properties"][name], node, &key(&field(at, "properties"), name), lost, wrong);
    }
    if let Some(node) = node.additional.node() {
        rules(&schema["additionalProperties"], node, &field(at, "additionalProperties"), lost, wrong);
    }
    if let Some(items) = &node.items {
        let lost = if matches!(node.list, List::Map(_)) { lost } else { lost.or(Some(at)) };
        rules(&schema["items"], items, &field(at, "items"), lost, wrong);
    }
}

fn one_rule(spec: &Value, rule: &super::rule::Rule, at: &str, wrong: &mut Vec<Wrong>) {
    let message = text(spec, "message");
    let source = text(spec, "rule");
    let breaks = |text: &str| text.trim().contains(['\n', '\r']);
    if source.trim().is_empty() {
        wrong.push(Wrong::required(field(at, "rule"), "rule is not specified"));
    } else if !message.is_empty() && message.trim().is_empty() {
        wrong.push(Wrong::invalid(field(at, "message"), &spec["message"], "must be non-empty if specified"));
    } else if breaks(&message) {
        wrong.push(Wrong::invalid(field(at, "message"), &spec["message"], "must not contain line breaks"));
    } else if breaks(&source) && message.is_empty() {
        let detail = "message must be specified if rule contains line breaks";
        wrong.push(Wrong::required(field(at, "message"), detail));
    }
    let reasons = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];
    if !rule.reason.is_empty() && !reasons.contains(&rule.reason.as_str()) {
        wrong.push(Wrong::not_supported(field(at, "reason"), &spec["reason"], &reasons));
    }
    if !rule.blames_a_field {
        wrong.push(Wrong::invalid(field(at, "fieldPath"), &spec["fieldPath"], "must be a valid path"));
    }
    if let Program::Broken(why) = &rule.program {
        wrong.push(Wrong::invalid_shown(field(at, "rule"), &shown(spec), why));
    }
    if let Some(Program::Broken(why)) = &rule.message_program {
        let why = format!("messageExpression {why}");
        wrong.push(Wrong::invalid_shown(field(at, "messageExpression"), &shown(spec), &why));
    }
}

/// A rule the way a real server prints its own structure.
fn shown(spec: &Value) -> String {
    // Go's writer escapes what could be taken for HTML.
    let part = |word: &str| {
        let text = Value::from(text(spec, word)).to_string();
        text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
    };
    format!(
        "{{\"Rule\":{},\"Message\":{},\"MessageExpression\":{},\"Reason\":{},\"FieldPath\":{},\"OptionalOldSelf\":{}}}",
        part("rule"),
        part("message"),
        part("messageExpression"),
        spec["reason"],
        part("fieldPath"),
        spec["optionalOldSelf"],
    )
}
