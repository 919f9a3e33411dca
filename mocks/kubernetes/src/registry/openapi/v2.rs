//! The second version: one document for everything.

use serde_json::{Map, Value, json};

use super::super::Registry;
use super::components::{Components, Dialect};
use super::routes::{self, BodyKind, Operation, Route};
use super::{RELEASE, TITLE};

impl Registry {
    /// `/openapi/v2`.
    pub(crate) fn openapi_v2(&self) -> Value {
        let routes = self.resources().flat_map(|resource| routes::of(resource));
        let paths: Map<String, Value> = routes.map(|route| (route.path.clone(), path_item(&route))).collect();
        json!({
            "swagger": "2.0",
            "info": {"title": TITLE, "version": RELEASE},
            "paths": paths,
            "definitions": Components::of(Dialect::V2, self.resources().map(AsRef::as_ref)),
        })
    }
}

fn path_item(route: &Route) -> Value {
    let mut item: Map<String, Value> = route
        .operations
        .iter()
        .map(|operation| (operation.method.to_owned(), operation_value(operation)))
        .collect();
    let placeholders: Vec<Value> = route
        .placeholders()
        .map(|name| json!({"name": name, "in": "path", "required": true, "type": "string"}))
        .collect();
    item.insert("parameters".to_owned(), placeholders.into());
    Value::Object(item)
}

fn operation_value(operation: &Operation) -> Value {
    let parameters = operation.parameters().iter();
    let parameters: Vec<Value> =
        parameters.map(|(name, kind)| json!({"name": name, "in": "query", "type": kind})).collect();
    let mut value = json!({
        "parameters": parameters,
        "responses": {"200": {"description": "OK"}},
        "x-kubernetes-action": operation.action,
        "x-kubernetes-group-version-kind": operation.kind.to_value(),
    });
    let types = operation.patch_types();
    if !types.is_empty() {
        value["consumes"] = types.into();
    }
    value
}

impl BodyKind {
    /// As both versions of the document write it.
    pub(super) fn to_value(&self) -> Value {
        json!({"group": self.group, "version": self.version, "kind": self.kind})
    }
}
