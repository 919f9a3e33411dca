//! The schemas behind the paths: of built-in kinds from the table of fields, of custom ones as they were defined.
//!
//! `kubectl explain` shows them, and `kubectl apply` reads in them how lists are merged. They have no sentences:
//! nothing but the shape of the objects is known here.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::super::{Resource, api_version};
use super::routes::BodyKind;
use crate::schema::{Field, Id, List, Message, Shape, schema};

/// The two ways in which the versions of the document differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    V2,
    V3,
}

/// Schemas by name, and those that they refer to.
pub(super) struct Components {
    dialect: Dialect,
    all: BTreeMap<String, Value>,
    waiting: Vec<Id>,
}

const RESOURCE: &str = "io.k8s.apimachinery.pkg.api.resource";
const INTSTR: &str = "io.k8s.apimachinery.pkg.util.intstr";
const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";
const GVK: &str = "x-kubernetes-group-version-kind";

impl Components {
    /// The schemas that these resources need.
    pub(super) fn of<'a>(
        dialect: Dialect,
        resources: impl IntoIterator<Item = &'a Resource>,
    ) -> Map<String, Value> {
        let mut components = Self { dialect, all: BTreeMap::new(), waiting: Vec::new() };
        for resource in resources {
            match &resource.custom {
                Some((_, version)) => components.add_custom(resource, &version.schema),
                None => components.add_built_in(resource),
            }
        }
        components.all.into_iter().collect()
    }

    fn add_built_in(&mut self, resource: &Resource) {
        let own = |kind: &str| (resource.group.clone(), resource.version.clone(), kind.to_owned());
        let parts = resource.subresources.iter().filter(|part| part.simulated);
        let parts = parts.map(|part| (part.group.clone(), part.version.clone(), part.kind.clone()));
        for (group, version, kind) in [own(&resource.kind), own(&resource.list_kind)].into_iter().chain(parts)
        {
            if let Some(message) = schema().kind(&group, &version, &kind) {
                self.add(message);
                let kind = BodyKind { group, version, kind }.to_value();
                self.mark(&name_of(message.id), &kind);
            }
        }
    }

    /// Says that a schema is that of a kind.
    fn mark(&mut self, name: &str, kind: &Value) {
        if let Some(component) = self.all.get_mut(name) {
            component[GVK] = json!([kind]);
        }
    }

    fn add(&mut self, message: &Message) {
        self.waiting.push(message.id);
        while let Some(id) = self.waiting.pop() {
            let name = name_of(id);
            if self.all.contains_key(&name) {
                continue;
            }
            // The place is taken first, because schemas refer to themselves.
            self.all.insert(name.clone(), Value::Null);
            let message = id.message();
            let properties: Map<String, Value> =
                message.fields().iter().map(|field| (field.json.to_owned(), self.field(field))).collect();
            let mut component = json!({"type": "object", "properties": properties});
            if message.atomic {
                component["x-kubernetes-map-type"] = "atomic".into();
            }
            self.all.insert(name, component);
        }
    }

    fn field(&mut self, field: &Field) -> Value {
        let entry = self.entry(field.shape);
        let mut value = match (field.repeated, field.map) {
            (true, _) => json!({"type": "array", "items": entry}),
            (_, true) => json!({"type": "object", "additionalProperties": entry}),
            _ => entry,
        };
        if field.atomic {
            value["x-kubernetes-map-type"] = "atomic".into();
        }
        match &field.list {
            List::Atomic => {}
            List::Set => value["x-kubernetes-list-type"] = "set".into(),
            List::Map(keys) => {
                value["x-kubernetes-list-type"] = "map".into();
                value["x-kubernetes-list-map-keys"] = keys.as_slice().into();
            }
        }
        if let Some(merge) = field.merge {
            let words = [(merge.merge, "merge"), (merge.retain_keys, "retainKeys")];
            let words: Vec<&str> = words.iter().filter(|(says, _)| *says).map(|(_, word)| *word).collect();
            let words = if words.is_empty() { "replace".to_owned() } else { words.join(",") };
            value["x-kubernetes-patch-strategy"] = words.into();
            if !merge.key.is_empty() {
                value["x-kubernetes-patch-merge-key"] = merge.key.into();
            }
        }
        value
    }

    fn entry(&mut self, shape: Shape) -> Value {
        match shape {
            Shape::Bool => json!({"type": "boolean"}),
            Shape::Int32 => json!({"type": "integer", "format": "int32"}),
            Shape::Int64 => json!({"type": "integer", "format": "int64"}),
            Shape::Double => json!({"type": "number", "format": "double"}),
            Shape::String => json!({"type": "string"}),
            Shape::Bytes => json!({"type": "string", "format": "byte"}),
            Shape::Strings => json!({"type": "array", "items": {"type": "string"}}),
            Shape::Json => json!({"type": "object"}),
            Shape::Message(id) => {
                self.waiting.push(id);
                self.reference(&name_of(id))
            }
            Shape::Quantity => {
                let either = json!({"oneOf": [{"type": "string"}, {"type": "number"}]});
                self.either(RESOURCE, "Quantity", &json!({"type": "string"}), &either)
            }
            Shape::IntOrString => {
                let text = json!({"type": "string", "format": "int-or-string"});
                let either =
                    json!({"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]});
                self.either(INTSTR, "IntOrString", &text, &either)
            }
            Shape::Time => self.scalar(META, "Time", &json!({"type": "string", "format": "date-time"})),
            Shape::MicroTime => {
                self.scalar(META, "MicroTime", &json!({"type": "string", "format": "date-time"}))
            }
            Shape::SchemaOrArray(id) => self.scalar(&package_of(id), "JSONSchemaPropsOrArray", &json!({})),
            Shape::SchemaOrBool(id) => self.scalar(&package_of(id), "JSONSchemaPropsOrBool", &json!({})),
            Shape::SchemaOrStrings(id) => {
                self.scalar(&package_of(id), "JSONSchemaPropsOrStringArray", &json!({}))
            }
        }
    }

    /// A named schema that refers to no other.
    fn scalar(&mut self, package: &str, name: &str, schema: &Value) -> Value {
        let name = format!("{package}.{name}");
        let reference = self.reference(&name);
        self.all.entry(name).or_insert_with(|| schema.clone());
        reference
    }

    /// A named schema of two types; the second version knows one of them.
    fn either(&mut self, package: &str, name: &str, one: &Value, either: &Value) -> Value {
        let schema = if self.dialect == Dialect::V2 { one } else { either };
        self.scalar(package, name, schema)
    }

    /// In the third version nothing may stand beside a reference, so it is wrapped.
    fn reference(&self, name: &str) -> Value {
        match self.dialect {
            Dialect::V2 => json!({"$ref": format!("#/definitions/{name}")}),
            Dialect::V3 => json!({"allOf": [{"$ref": format!("#/components/schemas/{name}")}]}),
        }
    }

    fn add_custom(&mut self, resource: &Resource, schema: &Value) {
        let mut own = match self.dialect {
            Dialect::V2 => simple(schema, 0),
            Dialect::V3 => schema.clone(),
        };
        if !own.is_object() {
            own = json!({"type": "object"});
        }
        let text = json!({"type": "string"});
        if own.get("properties").is_some() {
            own["properties"]["apiVersion"] = text.clone();
            own["properties"]["kind"] = text.clone();
            own["properties"]["metadata"] = self.meta("ObjectMeta");
        }
        let kind = |kind: &str| {
            let (group, version) = (resource.group.clone(), resource.version.clone());
            json!([BodyKind { group, version, kind: kind.to_owned() }.to_value()])
        };
        own[GVK] = kind(&resource.kind);
        let group: Vec<&str> = resource.group.rsplit('.').collect();
        let package = api_version(&group.join("."), &resource.version).replace('/', ".");
        let name = format!("{package}.{}", resource.kind);
        let list = json!({
            "type": "object",
            "properties": {
                "apiVersion": text,
                "kind": text,
                "metadata": self.meta("ListMeta"),
                "items": {"type": "array", "items": self.reference(&name)},
            },
            GVK: kind(&resource.list_kind),
        });
        self.all.insert(name, own);
        self.all.insert(format!("{package}.{}", resource.list_kind), list);
    }

    /// A message of meta, which belongs to every group.
    fn meta(&mut self, name: &str) -> Value {
        if let Some(message) = schema().message("k8s.io.apimachinery.pkg.apis.meta.v1", name) {
            self.add(message);
        }
        self.reference(&format!("{META}.{name}"))
    }
}

/// What the second version can say of a custom schema. What keeps unknown fields is left open, lest old clients refuse
/// them.
fn simple(schema: &Value, depth: usize) -> Value {
    const MOST: usize = 128;
    let open = schema["x-kubernetes-preserve-unknown-fields"] == true
        || schema["x-kubernetes-int-or-string"] == true
        || depth > MOST;
    let mut simple = Map::new();
    for (key, value) in schema.as_object().into_iter().flatten() {
        let kept = match key.as_str() {
            "description" => value.clone(),
            "type" | "format" | "required" if !open => value.clone(),
            "items" | "additionalProperties" if !open && value.is_object() => self::simple(value, depth + 1),
            "properties" if !open => {
                let fields = value.as_object().into_iter().flatten();
                fields.map(|(name, field)| (name.clone(), self::simple(field, depth + 1))).collect()
            }
            key if key.starts_with("x-kubernetes-") && key != "x-kubernetes-validations" => value.clone(),
            _ => continue,
        };
        simple.insert(key.clone(), kept);
    }
    Value::Object(simple)
}

/// `io.k8s.api.core.v1.Pod`.
fn name_of(id: Id) -> String {
    format!("{}.{}", package_of(id), id.message().name)
}

fn package_of(id: Id) -> String {
    let package = schema().package(id).replace('_', "-");
    package.strip_prefix("k8s.io.").map_or_else(|| package.clone(), |rest| format!("io.k8s.{rest}"))
}

#[cfg(test)]
mod tests {
    use super::super::super::Registry;
    use super::super::super::tests::gadgets;
    use super::*;

    fn apps(dialect: Dialect) -> Map<String, Value> {
        let registry = Registry::built_in();
        let resources = registry.version("apps", "v1").unwrap().iter().map(AsRef::as_ref);
        Components::of(dialect, resources)
    }

    #[test]
    fn kinds_are_marked_and_lists_say_how_they_merge() {
        let all = apps(Dialect::V3);
        let kind = &all["io.k8s.api.apps.v1.Deployment"][GVK][0];
        assert_eq!(*kind, json!({"group": "apps", "version": "v1", "kind": "Deployment"}));
        assert_eq!(all["io.k8s.api.apps.v1.DeploymentList"][GVK][0]["kind"], "DeploymentList");
        assert_eq!(all["io.k8s.api.autoscaling.v1.Scale"][GVK][0]["kind"], "Scale");
        let pod = &all["io.k8s.api.core.v1.PodSpec"]["properties"];
        assert!(all["io.k8s.api.core.v1.PodSpec"].get(GVK).is_none());
        assert_eq!(pod["containers"]["x-kubernetes-patch-merge-key"], "name");
        assert_eq!(pod["containers"]["x-kubernetes-list-map-keys"], json!(["name"]));
        assert_eq!(pod["volumes"]["x-kubernetes-patch-strategy"], "merge,retainKeys");
        assert!(pod["tolerations"].get("x-kubernetes-patch-merge-key").is_none());
    }

    #[test]
    fn every_reference_leads_somewhere() {
        for (dialect, prefix) in [(Dialect::V2, "#/definitions/"), (Dialect::V3, "#/components/schemas/")] {
            let registry = Registry::built_in().with(&gadgets("example.com", &["v1"]));
            let all = Components::of(dialect, registry.resources().map(AsRef::as_ref));
            let text = Value::Object(all.clone()).to_string();
            let mut count = 0;
            for reference in text.split("\"$ref\":\"").skip(1) {
                let target = reference.split('"').next().unwrap().strip_prefix(prefix).unwrap();
                assert!(all.get(target).is_some_and(|found| !found.is_null()), "{target}");
                count += 1;
            }
            assert!(count > 500, "{count}");
        }
    }

    #[test]
    fn a_custom_schema_is_kept_or_simplified() {
        let schema = json!({
            "type": "object",
            "x-kubernetes-validations": [{"rule": "true"}],
            "properties": {
                "a": {"type": "string", "pattern": "x", "anyOf": [{}]},
                "b": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {}},
            },
        });
        assert_eq!(
            simple(&schema, 0),
            json!({
                "type": "object",
                "properties": {"a": {"type": "string"}, "b": {"x-kubernetes-preserve-unknown-fields": true}},
            })
        );
        let registry = Registry::built_in().with(&gadgets("example.com", &["v1"]));
        let resources = registry.version("example.com", "v1").unwrap().iter().map(AsRef::as_ref);
        let all = Components::of(Dialect::V3, resources);
        assert_eq!(all["com.example.v1.Gadget"][GVK][0]["kind"], "Gadget");
        assert_eq!(all["com.example.v1.GadgetList"]["properties"]["items"]["type"], "array");
    }
}
