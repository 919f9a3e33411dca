//! Lists that are sets or maps: no value, or no key, twice.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{
    node::{List, Node},
    number::canonical,
    path,
};
use crate::status::Wrong;

/// The doubles of an object.
pub(crate) fn doubles(object: &Value, root: &Node) -> Vec<Wrong> {
    let mut wrong = Vec::new();
    walk(object, root, "", &mut wrong);
    wrong
}

fn walk(value: &Value, node: &Node, at: &str, wrong: &mut Vec<Wrong>) {
    match value {
        Value::Array(items) => {
            match &node.list {
                List::Atomic => {}
                List::Set => report(items.iter().cloned(), at, wrong),
                List::Map(keys) => map(items, keys, at, wrong),
            }
            if let Some(node) = &node.items {
                for (index, item) in items.iter().enumerate() {
                    walk(item, node, &path::index(at, index), wrong);
                }
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                if let Some(node) = node.properties.get(name) {
                    walk(value, node, &path::field(at, name), wrong);
                } else if let Some(node) = node.additional.node() {
                    walk(value, node, &path::key(at, name), wrong);
                }
            }
        }
        _ => {}
    }
}

fn map(items: &[Value], keys: &[String], at: &str, wrong: &mut Vec<Wrong>) {
    let stranger = items.iter().position(|item| !item.is_object() && !item.is_null());
    if let Some(index) = stranger {
        let detail = "must be an object for an array of list-type map";
        wrong.push(Wrong::invalid(path::index(at, index), &canonical(&items[index]), detail));
        return;
    }
    let key = |item: &Value| {
        let fields = keys.iter().filter_map(|key| Some((key.clone(), item.get(key)?.clone())));
        Value::Object(fields.collect::<Map<_, _>>())
    };
    report(items.iter().map(key), at, wrong);
}

/// The second of each; a third is not reported again.
fn report(values: impl Iterator<Item = Value>, at: &str, wrong: &mut Vec<Wrong>) {
    let mut seen = BTreeMap::new();
    for (index, value) in values.enumerate() {
        let value = canonical(&value);
        let times: &mut usize = seen.entry(value.to_string()).or_default();
        *times += 1;
        if *times == 2 {
            wrong.push(Wrong::duplicate(path::index(at, index), &value));
        }
    }
}
