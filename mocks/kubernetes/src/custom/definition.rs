//! A CustomResourceDefinition, read: names, scope, versions.
//!
//! It holds what the registry, the tables and the verbs ask for. Schemas are compiled beside it.

use std::sync::Arc;

use serde_json::Value;

/// One definition.
#[derive(Debug)]
pub(crate) struct Definition {
    pub(crate) group: String,
    pub(crate) names: Names,
    pub(crate) namespaced: bool,
    pub(crate) versions: Vec<Arc<Version>>,
}

/// What the resource is called.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    pub(crate) plural: String,
    pub(crate) singular: String,
    pub(crate) kind: String,
    pub(crate) list_kind: String,
    pub(crate) short_names: Vec<String>,
    pub(crate) categories: Vec<String>,
}

/// One version of a definition.
#[derive(Debug)]
pub(crate) struct Version {
    pub(crate) name: String,
    pub(crate) served: bool,
    pub(crate) storage: bool,
    /// The warning to send, if the version is deprecated.
    pub(crate) deprecated: Option<String>,
    /// The `openAPIV3Schema` as written.
    pub(crate) schema: Value,
    /// Whether there is a status subresource.
    pub(crate) status: bool,
    pub(crate) scale: Option<Scale>,
    pub(crate) columns: Vec<Column>,
    /// JSON paths, `.spec.nodeName`.
    pub(crate) selectable_fields: Vec<String>,
}

/// Where the scale subresource finds its numbers, as JSON paths `.spec.replicas`.
#[derive(Clone, Debug)]
pub(crate) struct Scale {
    pub(crate) spec_replicas: String,
    pub(crate) status_replicas: String,
    pub(crate) label_selector: Option<String>,
}

/// A column for `kubectl get`.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// `string`, `integer`, `date`, …
    pub(crate) kind: String,
    pub(crate) format: String,
    pub(crate) description: String,
    pub(crate) priority: i32,
    pub(crate) json_path: String,
}
