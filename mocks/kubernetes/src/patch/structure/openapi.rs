//! Places of an `OpenAPI` v3 schema, read as they are from the definition of a custom resource.
//!
//! The schema is taken to be structural: no references, and nothing under `anyOf` or `oneOf` adds structure.

use serde_json::Value;

use super::{Field, Kind, List, Scalar, Strategy, Structure, Way};

/// A place: the schema of it, and what its parents said.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    schema: &'a Value,
    /// Whether a parent keeps fields that no schema names.
    open: bool,
    /// Whether this is a whole object with `metadata`, whatever the schema says.
    object: bool,
}

impl<'a> Place<'a> {
    fn of(schema: &'a Value, open: bool) -> Structure<'a> {
        let open = open || says(schema, "x-kubernetes-preserve-unknown-fields");
        let object = says(schema, "x-kubernetes-embedded-resource");
        Structure::OpenApi(Self { schema, open, object })
    }

    pub(super) fn kind(self, value: Option<&Value>) -> Kind {
        let text = |key| self.schema.get(key).and_then(Value::as_str).unwrap_or("");
        match text("type") {
            "object" => self.map(),
            "array" => Kind::List(self.list()),
            "integer" | "number" => Kind::Scalar(Scalar::Number),
            "boolean" => Kind::Scalar(Scalar::Truth),
            "string" if text("format").is_empty() || text("format") == "byte" => Kind::Scalar(Scalar::Text),
            "string" => Kind::Scalar(Scalar::Any),
            _ => match value {
                Some(Value::Array(_)) => Kind::List(self.list()),
                None | Some(Value::Null | Value::Object(_)) => self.map(),
                Some(_) => Kind::Scalar(Scalar::Any),
            },
        }
    }

    fn map(self) -> Kind {
        Kind::Map { atomic: self.extension("x-kubernetes-map-type") == "atomic" }
    }

    fn list(self) -> List {
        match self.extension("x-kubernetes-list-type") {
            "set" => List::Set,
            "map" => List::Map,
            _ => List::Atomic,
        }
    }

    pub(super) fn field(self, name: &str) -> Option<Field<'a>> {
        if self.object {
            match name {
                "apiVersion" | "kind" => return Some(Field { structure: Structure::Deduced, named: true }),
                "metadata" => return Some(Field { structure: Structure::object_meta(), named: true }),
                _ => {}
            }
        }
        let properties = self.schema.get("properties").and_then(Value::as_object);
        if let Some(schema) = properties.and_then(|properties| properties.get(name)) {
            return Some(Field { structure: Self::of(schema, self.open), named: true });
        }
        let structure = match self.schema.get("additionalProperties") {
            Some(Value::Bool(allowed)) => allowed.then_some(Structure::Deduced),
            Some(schema) => Some(Self::of(schema, self.open)),
            None => {
                (self.open || properties.is_none_or(serde_json::Map::is_empty)).then_some(Structure::Deduced)
            }
        };
        structure.map(|structure| Field { structure, named: false })
    }

    pub(super) fn item(self) -> Structure<'a> {
        self.schema.get("items").map_or(Structure::Untyped, |schema| Self::of(schema, self.open))
    }

    pub(super) fn keys(self) -> Vec<&'a str> {
        let keys = self.schema.get("x-kubernetes-list-map-keys").and_then(Value::as_array);
        keys.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    pub(super) fn default_of(self, field: &str) -> Option<Value> {
        self.schema.get("properties")?.get(field)?.get("default").cloned()
    }

    pub(super) fn strategy(self) -> Strategy<'a> {
        let way = match self.extension("x-kubernetes-patch-strategy") {
            "merge" | "merge,retainKeys" | "retainKeys,merge" => Way::Merge,
            "replace" => Way::Replace,
            _ => Way::Unsaid,
        };
        let key = self.extension("x-kubernetes-patch-merge-key");
        Strategy { way, key: (!key.is_empty()).then_some(key) }
    }

    fn extension(self, name: &str) -> &'a str {
        self.schema.get(name).and_then(Value::as_str).unwrap_or("")
    }
}

impl<'a> Structure<'a> {
    /// A whole object of a custom resource, by the `openAPIV3Schema` of its version.
    pub(crate) fn custom(schema: &'a Value) -> Self {
        let open = says(schema, "x-kubernetes-preserve-unknown-fields");
        Self::OpenApi(Place { schema, open, object: true })
    }
}

fn says(schema: &Value, extension: &str) -> bool {
    schema.get(extension).and_then(Value::as_bool).unwrap_or(false)
}
