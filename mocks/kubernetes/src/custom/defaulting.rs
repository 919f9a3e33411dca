//! Structural defaults, filled in on every write and every read.
//!
//! First nulls that may not be null and have no default go, then defaults come, outer before inner.

use serde_json::{Map, Value};

use super::node::Node;

/// Fills an object, or any value of that schema.
pub(crate) fn default(value: &mut Value, node: &Node) {
    drop_nulls(value, node);
    fill(value, node);
}

fn drop_nulls(value: &mut Value, node: &Node) {
    match value {
        Value::Object(fields) => fields.retain(|name, value| {
            let Some(node) = node.field(name) else { return true };
            if value.is_null() {
                return node.nullable || node.default.is_some();
            }
            drop_nulls(value, node);
            true
        }),
        Value::Array(items) => {
            if let Some(node) = &node.items {
                for item in items {
                    drop_nulls(item, node);
                }
            }
        }
        _ => {}
    }
}

fn fill(value: &mut Value, node: &Node) {
    match value {
        Value::Object(fields) => {
            fill_absent(fields, node);
            for (name, value) in fields {
                if let Some(node) = node.field(name) {
                    fill_null(value, node);
                    fill(value, node);
                }
            }
        }
        Value::Array(items) => {
            let Some(node) = &node.items else { return };
            for item in items {
                fill_null(item, node);
                fill(item, node);
            }
        }
        _ => {}
    }
}

fn fill_absent(fields: &mut Map<String, Value>, node: &Node) {
    for (name, node) in &node.properties {
        if let Some(default) = &node.default
            && !fields.contains_key(name)
        {
            fields.insert(name.clone(), default.clone());
        }
    }
}

/// A null that may not be null becomes the default.
fn fill_null(value: &mut Value, node: &Node) {
    if value.is_null() && !node.nullable {
        *value = node.default.clone().unwrap_or_default();
    }
}
