//! The table: columns, and one row per object.
//!
//! Clients ask for it to print it: `kubectl get`, also while watching. Which columns there are is a property of the
//! resource, so that a table without objects has them too.

use mock_clock::Time;
use serde_json::{Map, Value, json};

use super::view::{Cells, View};
use super::{META_V1, access, cluster, columns, network, partial, pods, policy, storage, workloads};
use crate::registry::Resource;
use crate::status::Status;

/// How much of the object each row carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Include {
    None,
    Metadata,
    Object,
}

impl Include {
    /// Reads the query parameter `includeObject`.
    pub(crate) fn parse(text: Option<&str>) -> Result<Self, Status> {
        match text.unwrap_or_default() {
            "" | "Metadata" => Ok(Self::Metadata),
            "None" => Ok(Self::None),
            "Object" => Ok(Self::Object),
            other => Err(Status::bad_request(format!(
                "Unable to convert to Table as requested: includeObject: Invalid value: {other:?}: \
                 must be 'Metadata', 'Object', 'None', or empty"
            ))),
        }
    }
}

/// What a table is made from.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    pub(crate) resource: &'a Resource,
    pub(crate) include: Include,
    /// False after the first event of a watch.
    pub(crate) headers: bool,
    pub(crate) now: Time,
    /// The cells after the name, for a resource of a definition that has columns.
    pub(crate) custom: Option<&'a dyn Fn(&Value) -> Cells>,
}

/// A table of these objects. `metadata` is that of their list, or the `resourceVersion` of the one object.
pub(crate) fn table<'a>(
    rows: Rows<'_>,
    objects: impl IntoIterator<Item = &'a Value>,
    metadata: Map<String, Value>,
) -> Value {
    let definitions = rows.headers.then(|| columns::definitions(rows.resource));
    let all: Vec<Value> = objects.into_iter().map(|object| row(rows, object)).collect();
    json!({
        "kind": "Table",
        "apiVersion": META_V1,
        "metadata": metadata,
        "columnDefinitions": definitions,
        "rows": all,
    })
}

fn row(rows: Rows<'_>, object: &Value) -> Value {
    let view = View { object, now: rows.now };
    let included = match rows.include {
        Include::None => Value::Null,
        Include::Metadata => partial(object),
        Include::Object => object.clone(),
    };
    let mut row = json!({"cells": cells(rows, view), "object": included});
    if rows.resource.shelf == "pods"
        && let Some(conditions) = pods::row_conditions(view)
    {
        row["conditions"] = conditions;
    }
    row
}

fn cells(rows: Rows<'_>, view: View<'_>) -> Cells {
    if let Some((_, version)) = &rows.resource.custom {
        let mut cells = vec![view.name()];
        match rows.custom {
            Some(custom) if !version.columns.is_empty() => cells.extend(custom(view.object)),
            _ => cells.push(view.age()),
        }
        return cells;
    }
    let shelf = rows.resource.shelf.as_str();
    let printers = [
        workloads::printer,
        cluster::printer,
        network::printer,
        storage::printer,
        policy::printer,
        access::printer,
    ];
    match printers.iter().find_map(|printer| printer(shelf)) {
        Some(print) => print(view),
        None => vec![view.name(), view.text("/metadata/creationTimestamp").into()],
    }
}
