//! Pruning: what no schema declares is dropped, unless the schema preserves it.
//!
//! Identity (`apiVersion`, `kind`, `metadata`) of an object is not looked at, of embedded resources only the
//! metadata.

use serde_json::{Map, Value};

use super::node::{Additional, Node};
use crate::schema::{conform, schema};

const IDENTITY: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Prunes an object. What comes back are the paths of what went, sorted.
pub(crate) fn prune(object: &mut Value, root: &Node) -> Vec<String> {
    let mut gone = Vec::new();
    if let Value::Object(fields) = object {
        prune_fields(fields, root, true, "", &mut gone);
    }
    gone.sort();
    gone
}

/// `None` is a place without a schema, where nothing is declared.
fn prune_value(value: &mut Value, node: Option<&Node>, path: &str, gone: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            if let Some(node) = node {
                prune_fields(fields, node, node.embedded, path, gone);
            } else {
                gone.extend(fields.keys().map(|name| join(path, name)));
                fields.clear();
            }
        }
        Value::Array(items) => prune_items(items, node, path, gone),
        _ => {}
    }
}

fn prune_items(items: &mut [Value], node: Option<&Node>, path: &str, gone: &mut Vec<String>) {
    let schema = node.and_then(|node| node.items.as_deref());
    if schema.is_none() && node.is_some_and(|node| node.preserve) {
        return;
    }
    for (index, item) in items.iter_mut().enumerate() {
        prune_value(item, schema, &format!("{path}[{index}]"), gone);
    }
}

fn prune_fields(
    fields: &mut Map<String, Value>,
    node: &Node,
    resource: bool,
    path: &str,
    gone: &mut Vec<String>,
) {
    fields.retain(|name, value| {
        if resource && IDENTITY.contains(&name.as_str()) {
            if name == "metadata" && !path.is_empty() {
                gone.extend(known(value).into_iter().map(|field| format!("{path}.metadata.{field}")));
            }
            return true;
        }
        let schema = node.field(name);
        let declared = schema.is_some() || !matches!(node.additional, Additional::Unsaid);
        if declared {
            prune_value(value, schema, &join(path, name), gone);
        } else if !node.preserve {
            gone.push(join(path, name));
        }
        declared || node.preserve
    });
}

/// Drops from the metadata of an embedded object what metadata has not. What cannot be read stays.
fn known(metadata: &mut Value) -> Vec<String> {
    let message = schema().message("k8s.io.apimachinery.pkg.apis.meta.v1", "ObjectMeta");
    message.and_then(|message| conform(message.id.message(), metadata).ok()).unwrap_or_default()
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// Prunes a default value, which is an object only if its schema embeds one.
pub(crate) fn prune_default(value: &mut Value, node: &Node) -> Vec<String> {
    let mut gone = Vec::new();
    prune_value(value, Some(node), "", &mut gone);
    gone
}
