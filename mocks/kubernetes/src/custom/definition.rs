//! A custom resource definition, read: names, scope, versions.
//!
//! It holds what the registry, the tables and the verbs ask for. Whether a definition may be is the question of
//! `acceptance`; what a version does to its objects is in `version`.

use std::sync::Arc;

use serde_json::Value;

use super::{
    acceptance,
    node::{Node, flag, text, texts},
};
use crate::registry::compare_versions;
use crate::status::Wrong;

/// One definition.
#[derive(Debug)]
pub(crate) struct Definition {
    pub(crate) group: String,
    pub(crate) names: Names,
    pub(crate) namespaced: bool,
    pub(crate) versions: Vec<Arc<Version>>,
}

/// What the resource is called.
#[expect(clippy::struct_field_names, reason = "the API calls it shortNames")]
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
#[expect(clippy::struct_field_names, reason = "the API calls it apiVersion")]
#[derive(Debug)]
pub(crate) struct Version {
    pub(crate) name: String,
    /// The `apiVersion` of its objects: group and version.
    pub(crate) api_version: String,
    pub(crate) kind: String,
    pub(crate) served: bool,
    pub(crate) storage: bool,
    /// The warning to send, if the version is deprecated.
    pub(crate) deprecated: Option<String>,
    /// The `openAPIV3Schema` as written.
    pub(crate) schema: Value,
    /// The same, compiled.
    pub(crate) root: Node,
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

impl Definition {
    /// Reads a definition as stored: with the defaults that `complete` fills in.
    pub(crate) fn read(crd: &Value) -> Result<Self, Vec<Wrong>> {
        let spec = &crd["spec"];
        let group = text(spec, "group");
        let names = Names::read(&spec["names"]);
        let versions = spec["versions"].as_array().into_iter().flatten();
        let mut versions: Vec<_> =
            versions.map(|version| Version::read(version, &group, &names.kind)).collect();
        advise(&mut versions);
        let versions: Vec<_> = versions.into_iter().map(Arc::new).collect();
        let definition = Self { group, names, namespaced: spec["scope"] == "Namespaced", versions };
        let wrong = acceptance::check(crd, &definition);
        if !wrong.is_empty() {
            return Err(wrong);
        }
        if spec["conversion"]["strategy"] == "Webhook" {
            let name = format!("{}.{}", definition.names.plural, definition.group);
            tracing::warn!(
                definition = name,
                "no conversion webhook is called: only apiVersion is rewritten"
            );
        }
        Ok(definition)
    }

    /// The version of that name.
    #[cfg(test)]
    pub(crate) fn version(&self, name: &str) -> Option<&Arc<Version>> {
        self.versions.iter().find(|version| version.name == name)
    }

    /// The version that objects are stored in.
    pub(crate) fn storage(&self) -> Option<&Arc<Version>> {
        self.versions.iter().find(|version| version.storage)
    }
}

/// Deprecated versions that say nothing else themselves name the newest that is not.
fn advise(versions: &mut [Version]) {
    let newest = versions
        .iter()
        .filter(|version| version.served && version.deprecated.is_none())
        .min_by(|a, b| compare_versions(&a.name, &b.name))
        .map(|version| (version.name.clone(), version.api_version.clone()));
    let Some((newest, api_version)) = newest else { return };
    for version in versions {
        let plain = format!("{} {} is deprecated", version.api_version, version.kind);
        let newer = compare_versions(&newest, &version.name).is_lt();
        if newer && version.deprecated.as_ref() == Some(&plain) {
            version.deprecated = Some(format!("{plain}; use {api_version} {}", version.kind));
        }
    }
}

impl Names {
    pub(crate) fn read(names: &Value) -> Self {
        Self {
            plural: text(names, "plural"),
            singular: text(names, "singular"),
            kind: text(names, "kind"),
            list_kind: text(names, "listKind"),
            short_names: texts(names, "shortNames"),
            categories: texts(names, "categories"),
        }
    }
}

impl Version {
    fn read(version: &Value, group: &str, kind: &str) -> Self {
        let name = text(version, "name");
        let subresources = &version["subresources"];
        let columns = version["additionalPrinterColumns"].as_array().into_iter().flatten();
        let fields = version["selectableFields"].as_array().into_iter().flatten();
        let api_version = format!("{group}/{name}");
        let warning = version["deprecationWarning"].as_str().map(str::to_owned);
        let deprecated = flag(version, "deprecated")
            .then(|| warning.unwrap_or_else(|| format!("{api_version} {kind} is deprecated")));
        let schema = version["schema"]["openAPIV3Schema"].clone();
        Self {
            name,
            api_version,
            kind: kind.to_owned(),
            served: flag(version, "served"),
            storage: flag(version, "storage"),
            deprecated,
            root: Node::read(&schema),
            schema,
            status: subresources["status"].is_object(),
            scale: subresources["scale"].is_object().then(|| Scale::read(&subresources["scale"])),
            columns: columns.map(Column::read).collect(),
            selectable_fields: fields.map(|field| text(field, "jsonPath")).collect(),
        }
    }
}

impl Scale {
    fn read(scale: &Value) -> Self {
        Self {
            spec_replicas: text(scale, "specReplicasPath"),
            status_replicas: text(scale, "statusReplicasPath"),
            label_selector: Some(text(scale, "labelSelectorPath")).filter(|path| !path.is_empty()),
        }
    }
}

impl Column {
    fn read(column: &Value) -> Self {
        let priority = column["priority"].as_i64().and_then(|priority| i32::try_from(priority).ok());
        Self {
            name: text(column, "name"),
            kind: text(column, "type"),
            format: text(column, "format"),
            description: text(column, "description"),
            priority: priority.unwrap_or_default(),
            json_path: text(column, "jsonPath"),
        }
    }
}
