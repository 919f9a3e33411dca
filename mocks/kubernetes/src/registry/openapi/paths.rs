//! Paths and operations, as either version of the document writes them.

use serde_json::{Map, Value, json};

use super::super::Resource;
use super::components::Dialect;
use super::routes::{self, BodyKind, Operation, Route};

/// All paths of these resources.
pub(super) fn of<'a>(
    dialect: Dialect,
    resources: impl IntoIterator<Item = &'a Resource>,
) -> Map<String, Value> {
    let routes = resources.into_iter().flat_map(routes::of);
    routes.map(|route| (route.path.clone(), dialect.path_item(&route))).collect()
}

impl Dialect {
    fn path_item(self, route: &Route) -> Value {
        let operations = route.operations.iter();
        let mut item: Map<String, Value> =
            operations.map(|operation| (operation.method.to_owned(), self.operation(operation))).collect();
        let placeholders = route.placeholders().map(|name| {
            let mut placeholder = self.parameter(name, "path", "string");
            placeholder["required"] = true.into();
            placeholder
        });
        item.insert("parameters".to_owned(), placeholders.collect());
        Value::Object(item)
    }

    fn operation(self, operation: &Operation) -> Value {
        let parameters = operation.parameters().iter();
        let parameters: Value = parameters.map(|(name, kind)| self.parameter(name, "query", kind)).collect();
        let mut value = json!({
            "parameters": parameters,
            "responses": {"200": {"description": "OK"}},
            "x-kubernetes-action": operation.action,
            "x-kubernetes-group-version-kind": operation.kind.to_value(),
        });
        match (operation.patch_types(), self) {
            ([], _) => {}
            (types, Self::V2) => value["consumes"] = types.into(),
            (types, Self::V3) => {
                let object = json!({"schema": {"type": "object"}});
                let content: Map<String, Value> =
                    types.iter().map(|name| ((*name).to_owned(), object.clone())).collect();
                value["requestBody"] = json!({"content": content, "required": true});
            }
        }
        value
    }

    fn parameter(self, name: &str, place: &str, kind: &str) -> Value {
        match self {
            Self::V2 => json!({"name": name, "in": place, "type": kind}),
            Self::V3 => json!({"name": name, "in": place, "schema": {"type": kind}}),
        }
    }
}

impl BodyKind {
    pub(super) fn to_value(&self) -> Value {
        json!({"group": self.group, "version": self.version, "kind": self.kind})
    }
}
