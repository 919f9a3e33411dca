//! The scale subresource: `autoscaling/v1` Scale, read from and written into the paths that a version names.

use serde_json::{Map, Value, json};

use super::{
    Scale, Version,
    number::{Num, go_float},
};
use crate::status::{Status, Wrong};

impl Version {
    /// The Scale of an object. A status without a count has zero replicas.
    pub(crate) fn scale_of(&self, object: &Value) -> Result<Value, Status> {
        let Some(scale) = &self.scale else { return Err(Status::no_such_path()) };
        let path = &scale.spec_replicas;
        let replicas = get(object, path)
            .ok_or_else(|| Status::internal(format!("the spec replicas field {path:?} does not exist")))?;
        let count = |value: &Value| value.as_i64().and_then(|count| i32::try_from(count).ok());
        let replicas = count(replicas)
            .ok_or_else(|| Status::internal(format!("the spec replicas field {path:?} is not an integer")))?;
        let mut status = Map::new();
        let current = get(object, &scale.status_replicas).and_then(count).unwrap_or_default();
        status.insert("replicas".to_owned(), Value::from(current));
        let selector = scale.label_selector.as_ref().and_then(|path| get(object, path)?.as_str());
        if let Some(selector) = selector.filter(|selector| !selector.is_empty()) {
            status.insert("selector".to_owned(), Value::from(selector));
        }
        let mut spec = Map::new();
        if replicas != 0 {
            spec.insert("replicas".to_owned(), Value::from(replicas));
        }
        let names = ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"];
        let metadata = names.iter().filter_map(|&name| Some((name, object["metadata"].get(name)?.clone())));
        let metadata: Map<_, _> = metadata.map(|(name, value)| (name.to_owned(), value)).collect();
        Ok(json!({
            "kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata, "spec": spec, "status": status,
        }))
    }

    /// Writes a count of replicas into an object. An object of another shape stays as it is.
    pub(crate) fn set_replicas(&self, object: &mut Value, replicas: i64) {
        let Some(scale) = &self.scale else { return };
        let mut place = object;
        for name in names(&scale.spec_replicas) {
            let Value::Object(fields) = place else { return };
            place = fields.entry(name).or_insert_with(|| json!({}));
        }
        *place = Value::from(replicas);
    }
}

fn names(path: &str) -> impl Iterator<Item = &str> {
    path.trim_start_matches('.').split('.')
}

fn get<'a>(object: &'a Value, path: &str) -> Option<&'a Value> {
    names(path).try_fold(object, |value, name| value.get(name))
}

/// The same for a place that must hold a value of one kind; an error says what is in the way.
fn must<'a>(
    object: &'a Value,
    path: &str,
    kind: &str,
    fits: fn(&Value) -> bool,
) -> Result<Option<&'a Value>, String> {
    let mut value = object;
    let refuse = |value: &Value, kind: &str| {
        Err(format!("{path} accessor error: {}, expected {kind}", described(value)))
    };
    for name in names(path) {
        let Value::Object(fields) = value else { return refuse(value, "map[string]interface{}") };
        let Some(next) = fields.get(name) else { return Ok(None) };
        value = next;
    }
    if fits(value) { Ok(Some(value)) } else { refuse(value, kind) }
}

/// A value and its type, as Go prints them.
fn described(value: &Value) -> String {
    let (shown, kind) = match value {
        Value::Null => ("<nil>".to_owned(), "<nil>"),
        Value::Bool(_) => (value.to_string(), "bool"),
        Value::Number(number) => match Num::of(number) {
            Num::Int(int) => (int.to_string(), "int64"),
            Num::Float(float) => (go_float(float), "float64"),
        },
        Value::String(text) => (text.clone(), "string"),
        Value::Array(_) => ("[…]".to_owned(), "[]interface {}"),
        Value::Object(_) => ("map[…]".to_owned(), "map[string]interface {}"),
    };
    format!("{shown} is of the type {kind}")
}

/// What is wrong with the counts of an object.
pub(super) fn validate(object: &Value, scale: &Scale) -> Vec<Wrong> {
    let mut wrong = Vec::from_iter(count(object, &scale.spec_replicas));
    wrong.extend(validate_status(object, scale));
    wrong
}

/// What is wrong with those in its status.
pub(super) fn validate_status(object: &Value, scale: &Scale) -> Vec<Wrong> {
    let mut wrong = Vec::from_iter(count(object, &scale.status_replicas));
    if let Some(path) = &scale.label_selector
        && let Err(detail) = must(object, path, "string", Value::is_string)
    {
        wrong.push(Wrong::invalid(path.as_str(), &Value::from(""), &detail));
    }
    wrong
}

fn count(object: &Value, path: &str) -> Option<Wrong> {
    let value = match must(object, path, "int64", Value::is_i64) {
        Ok(value) => value?,
        Err(detail) => return Some(Wrong::invalid(path, &Value::from(0), &detail)),
    };
    let (count, limit) = (value.as_i64()?, i64::from(i32::MAX));
    if count < 0 {
        return Some(Wrong::invalid(path, value, "should be a non-negative integer"));
    }
    (count > limit).then(|| Wrong::invalid(path, value, &format!("should be less than or equal to {limit}")))
}
