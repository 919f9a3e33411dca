//! What a version does to its objects: conversion, defaulting, pruning, validation, the status subresource.
//!
//! Metadata is the business of whoever handles the request.

use serde_json::Value;

use super::{Version, defaulting, embedded, evaluation, openapi, path, pruning, scaling, uniqueness};
use crate::status::Wrong;

impl Version {
    /// Fills in defaults, on every write and on every read.
    pub(crate) fn default(&self, object: &mut Value) {
        defaulting::default(object, &self.root);
    }

    /// Drops what the schema does not know. What comes back are the paths of what went.
    pub(crate) fn prune(&self, object: &mut Value) -> Vec<String> {
        pruning::prune(object, &self.root)
    }

    /// What is wrong with an object, as the new or (with `old`) the updated. Both have their defaults.
    pub(crate) fn validate(&self, object: &Value, old: Option<&Value>) -> Vec<Wrong> {
        let mut wrong = self.validate_identity(object);
        wrong.extend(openapi::validate(object, &self.root, old, ""));
        if let Some(scale) = &self.scale {
            wrong.extend(scaling::validate(object, scale));
        }
        self.finish(object, old, wrong)
    }

    /// The same for an update of the status subresource, where the schema of the rest is not looked at.
    pub(crate) fn validate_status(&self, object: &Value, old: &Value) -> Vec<Wrong> {
        let mut wrong = self.validate_identity(object);
        if let (Some(status), Some(node)) = (object.get("status"), self.root.properties.get("status")) {
            wrong.extend(openapi::validate(status, node, old.get("status"), "status"));
        }
        if let Some(scale) = &self.scale {
            wrong.extend(scaling::validate_status(object, scale));
        }
        self.finish(object, Some(old), wrong)
    }

    fn validate_identity(&self, object: &Value) -> Vec<Wrong> {
        let fields = [("kind", &self.kind), ("apiVersion", &self.api_version)];
        let differs = |(name, expected): (&str, &String)| {
            let value = object.get(name).cloned().unwrap_or_else(|| Value::from(""));
            (value != **expected).then(|| Wrong::invalid(name, &value, &format!("must be {expected}")))
        };
        fields.into_iter().filter_map(differs).collect()
    }

    /// What is checked after the keywords: embedded resources, doubles in lists, rules.
    fn finish(&self, object: &Value, old: Option<&Value>, mut wrong: Vec<Wrong>) -> Vec<Wrong> {
        wrong.extend(embedded::validate(object, &self.root, ""));
        if old.is_none_or(|old| uniqueness::doubles(old, &self.root).is_empty()) {
            wrong.extend(uniqueness::doubles(object, &self.root));
        }
        if !self.root.ruled {
            return wrong;
        }
        if wrong.iter().any(blocks) {
            let detail = "some validation rules were not checked because the object was invalid; correct the \
                          existing errors to complete validation";
            wrong.push(Wrong::invalid(path::NOWHERE, &Value::Null, detail));
        } else {
            wrong.extend(evaluation::validate(object, &self.root, old, ""));
        }
        wrong
    }

    /// Before the main resource is created: its status is not the client's to set.
    pub(crate) fn create_without_status(&self, object: &mut Value) {
        if let Value::Object(fields) = object
            && self.status
        {
            fields.remove("status");
        }
    }

    /// Before the main resource is updated: the status stays as it is.
    pub(crate) fn update_without_status(&self, object: &mut Value, old: &Value) {
        self.create_without_status(object);
        if let (true, Value::Object(fields), Some(status)) = (self.status, object, old.get("status")) {
            fields.insert("status".to_owned(), status.clone());
        }
    }

    /// Before the status is updated: everything else stays as it is, but for the record of who wrote what.
    pub(crate) fn update_only_status(object: &mut Value, old: &Value) {
        let mut kept = old.clone();
        for (holder, name) in [("", "status"), ("/metadata", "managedFields")] {
            let Some(fields) = kept.pointer_mut(holder).and_then(Value::as_object_mut) else { continue };
            match object.pointer(holder).and_then(|fields| fields.get(name)) {
                Some(value) => drop(fields.insert(name.to_owned(), value.clone())),
                None => drop(fields.remove(name)),
            }
        }
        *object = kept;
    }
}

/// Whether an error keeps rules from being looked at, since they might fail because of it.
fn blocks(wrong: &Wrong) -> bool {
    let blocking = [
        "FieldValueNotSupported",
        "FieldValueRequired",
        "FieldValueTooLong",
        "FieldValueTooMany",
        "FieldValueTypeInvalid",
    ];
    blocking.contains(&wrong.cause.reason.as_str())
}
