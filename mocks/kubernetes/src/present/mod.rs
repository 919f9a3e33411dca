//! An object in the form that was asked for: as rows of a table, or its metadata alone.
//!
//! Values in, values out: it neither negotiates nor knows where objects come from. Ages are told against a `now` that
//! is given.

mod access;
mod age;
mod cluster;
mod columns;
mod network;
mod pods;
mod policy;
mod storage;
mod table;
mod view;
mod workloads;

use serde_json::{Map, Value, json};

pub(crate) use table::{Include, Rows, table};

const META_V1: &str = "meta.k8s.io/v1";

/// The metadata of an object, and nothing else of it.
pub(crate) fn partial(object: &Value) -> Value {
    let metadata = object.get("metadata").cloned().unwrap_or_else(|| json!({}));
    json!({"kind": "PartialObjectMetadata", "apiVersion": META_V1, "metadata": metadata})
}

/// The metadata of many objects, under the metadata of their list.
pub(crate) fn partial_list<'a>(
    objects: impl IntoIterator<Item = &'a Value>,
    metadata: Map<String, Value>,
) -> Value {
    let mut list = json!({"kind": "PartialObjectMetadataList", "apiVersion": META_V1});
    list["metadata"] = Value::Object(metadata);
    let items: Vec<Value> = objects.into_iter().map(partial).collect();
    list["items"] = if items.is_empty() { Value::Null } else { items.into() };
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partial_objects_keep_their_metadata_only() {
        let object = json!({"kind": "Pod", "metadata": {"name": "a", "labels": {"b": "c"}}, "spec": {}});
        let metadata = Map::from_iter([("resourceVersion".to_owned(), json!("7"))]);
        let list = partial_list([&object], metadata);
        assert_eq!(list["metadata"]["resourceVersion"], "7");
        assert_eq!(
            list["items"][0],
            json!({
                "kind": "PartialObjectMetadata",
                "apiVersion": "meta.k8s.io/v1",
                "metadata": {"name": "a", "labels": {"b": "c"}},
            })
        );
    }
}
