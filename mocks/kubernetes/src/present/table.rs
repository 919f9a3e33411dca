//! The table: columns, and one row per object.
//!
//! Clients ask for it to print it: `kubectl get`, also while watching. Which columns there are is a property of the
//! resource, so that a table without objects has them too.

use mock_clock::Time;
use serde_json::{Map, Value, json};

use super::view::{Cells, View};
use super::{META_V1, access, cluster, columns, network, partial, pods, policy, storage, workloads};
use crate::custom;
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
}

/// A table of these objects. `metadata` is that of their list, or the `resourceVersion` of the one object.
pub(crate) fn table<'a>(
    rows: Rows<'_>,
    objects: impl IntoIterator<Item = &'a Value>,
    metadata: Map<String, Value>,
) -> Value {
    let mut table = json!({"kind": "Table", "apiVersion": META_V1});
    table["metadata"] = Value::Object(metadata);
    table["columnDefinitions"] = rows.headers.then(|| columns::definitions(rows.resource)).into();
    table["rows"] = objects.into_iter().map(|object| row(rows, object)).collect();
    table
}

fn row(rows: Rows<'_>, object: &Value) -> Value {
    let view = View { object, now: rows.now };
    let included = match rows.include {
        Include::None => Value::Null,
        Include::Metadata => partial(object),
        Include::Object => object.clone(),
    };
    let mut row = json!({"cells": cells(rows.resource, view)});
    row["object"] = included;
    if rows.resource.shelf == "pods"
        && let Some(conditions) = pods::row_conditions(view)
    {
        row["conditions"] = conditions;
    }
    row
}

fn cells(resource: &Resource, view: View<'_>) -> Cells {
    if let Some((_, version)) = &resource.custom {
        let mut cells = vec![view.name()];
        if version.columns.is_empty() {
            cells.push(view.age());
        } else {
            cells.extend(custom::cells(version, view.object, view.now.into()));
        }
        return cells;
    }
    let shelf = resource.shelf.as_str();
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::custom::Definition;
    use crate::registry::Registry;
    use crate::registry::tests::{gadgets, gadgets_as_json};

    fn made(resource: &Resource, include: Include, headers: bool, object: &Value) -> Value {
        let now = "2026-01-01T00:01:30Z".parse().unwrap();
        table(Rows { resource, include, headers, now }, [object], Map::new())
    }

    #[test]
    fn rows_carry_as_much_as_was_asked_for() {
        let registry = Registry::built_in();
        let namespaces = registry.find("", "v1", "namespaces").unwrap();
        let object = json!({
            "kind": "Namespace",
            "metadata": {"name": "a", "creationTimestamp": "2026-01-01T00:00:00Z"},
            "status": {"phase": "Active"},
        });
        let first = made(namespaces, Include::Object, true, &object);
        assert_eq!(first["rows"][0], json!({"cells": ["a", "Active", "90s"], "object": object}));
        assert_eq!(first["columnDefinitions"][1]["name"], "Status");
        let later = made(namespaces, Include::Metadata, false, &object);
        assert_eq!(later["rows"][0]["object"]["kind"], "PartialObjectMetadata");
        assert_eq!(later["columnDefinitions"], Value::Null);
        assert_eq!(made(namespaces, Include::None, true, &object)["rows"][0]["object"], Value::Null);
        assert_eq!(Include::parse(Some("None")).unwrap(), Include::None);
        assert!(Include::parse(Some("none")).is_err());
    }

    #[test]
    fn every_kind_has_a_cell_for_every_column() {
        let registry = Registry::built_in();
        for resource in registry.resources() {
            let table = made(resource, Include::None, true, &json!({"metadata": {"name": "a"}}));
            let cells = table["rows"][0]["cells"].as_array().unwrap().len();
            // Upstream, too, has an age for addresses that no column shows.
            let more = usize::from(resource.plural == "ipaddresses");
            assert_eq!(
                cells,
                table["columnDefinitions"].as_array().unwrap().len() + more,
                "{}",
                resource.shelf
            );
        }
    }

    #[test]
    fn a_definition_brings_its_columns_or_shows_the_age() {
        let object = json!({"metadata": {"name": "a"}, "spec": {"colour": "red"}});
        let plain = gadgets("example.com", &["v1"]);
        let registry = Registry::built_in().with(&plain);
        let table =
            made(registry.find("example.com", "v1", "gadgets").unwrap(), Include::None, true, &object);
        assert_eq!(table["rows"][0]["cells"], json!(["a", "<unknown>"]));

        let mut definition = gadgets_as_json("example.com", &["v1"]);
        definition["spec"]["versions"][0]["additionalPrinterColumns"] =
            json!([{"name": "Colour", "type": "string", "jsonPath": ".spec.colour"}]);
        let definition = Definition::read(&definition).unwrap();
        let registry = Registry::built_in().with(&Arc::new(definition));
        let table =
            made(registry.find("example.com", "v1", "gadgets").unwrap(), Include::None, true, &object);
        assert_eq!(table["columnDefinitions"][1]["name"], "Colour");
        assert_eq!(table["rows"][0]["cells"], json!(["a", "red"]));
    }
}
