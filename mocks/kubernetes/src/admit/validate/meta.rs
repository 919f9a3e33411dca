//! Object metadata: names, labels, annotations, owners, finalizers, and what an update may not change.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::field::{self, IMMUTABLE};
use crate::admit::names::{self, label_value};
use crate::admit::nature::NameRule;
use crate::admit::path::Path;
use crate::admit::read::{entries, integer, items, present, text, truth};
use crate::status::Wrong;

const META: Path<'static> = Path::Top("metadata");

/// All annotations together, keys and values.
const ANNOTATION_BYTES: usize = 256 << 10;

pub(super) fn create(rule: NameRule, is_cluster_scoped: bool, object: &Value, wrong: &mut Vec<Wrong>) {
    create_foreign(rule, is_cluster_scoped, object, wrong);
    standard_finalizers(field::part(object, "metadata"), wrong);
}

/// The same for kinds that are not of the core: their finalizers may have any name.
pub(super) fn create_foreign(
    rule: NameRule,
    is_cluster_scoped: bool,
    object: &Value,
    wrong: &mut Vec<Wrong>,
) {
    let metadata = field::part(object, "metadata");
    let prefix = text(metadata, "generateName");
    if !prefix.is_empty() {
        let path = META.field("generateName");
        field::invalid(&path, prefix, names::name(rule, prefix, true), wrong);
    }
    let name = text(metadata, "name");
    if name.is_empty() {
        wrong.push(Wrong::required(META.field("name"), "name or generateName is required"));
    } else {
        field::invalid(&META.field("name"), name, names::name(rule, name, false), wrong);
    }
    namespace(metadata, is_cluster_scoped, wrong);
    field::not_negative(metadata, &META, "generation", wrong);
    common(metadata, wrong);
    finalizers(metadata, wrong);
}

fn namespace(metadata: &Value, is_cluster_scoped: bool, wrong: &mut Vec<Wrong>) {
    let namespace = text(metadata, "namespace");
    let path = META.field("namespace");
    if is_cluster_scoped {
        if !namespace.is_empty() {
            wrong.push(Wrong::forbidden(path, "not allowed on this type"));
        }
    } else if !namespace.is_empty() {
        field::invalid(&path, namespace, names::label(namespace), wrong);
    }
}

/// What is checked on create and on update.
fn common(metadata: &Value, wrong: &mut Vec<Wrong>) {
    labels(metadata, "labels", &META.field("labels"), wrong);
    annotations(metadata, &META.field("annotations"), wrong);
    owners(metadata, wrong);
}

/// The labels below a field: keys and values.
pub(super) fn labels(object: &Value, name: &str, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    for (key, value) in entries(object, name) {
        field::key(path, key, wrong);
        let value = value.as_str().unwrap_or_default();
        field::invalid(path, value, label_value(value), wrong);
    }
}

pub(super) fn annotations(object: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    let mut bytes = 0;
    for (key, value) in entries(object, "annotations") {
        let lower = key.to_ascii_lowercase();
        field::invalid(path, key, names::qualified(&lower), wrong);
        bytes += key.len() + value.as_str().map_or(0, str::len);
    }
    if bytes > ANNOTATION_BYTES {
        wrong.push(Wrong::too_long(path, ANNOTATION_BYTES));
    }
}

fn owners(metadata: &Value, wrong: &mut Vec<Wrong>) {
    let path = META.field("ownerReferences");
    let mut controller = String::new();
    for owner in items(metadata, "ownerReferences") {
        let version = text(owner, "apiVersion");
        if version.is_empty() || version.ends_with('/') {
            wrong.push(Wrong::invalid(
                path.field("apiVersion"),
                &json!(version),
                "version must not be empty",
            ));
        }
        for name in ["kind", "name", "uid"] {
            if text(owner, name).is_empty() {
                wrong.push(Wrong::invalid(path.field(name), &json!(""), "must not be empty"));
            }
        }
        if (version, text(owner, "kind")) == ("v1", "Event") {
            let why = "/v1, Kind=Event is disallowed from being an owner";
            wrong.push(Wrong::invalid_shown(path, &owner_shown(owner), why));
        }
        if !truth(owner, "controller") {
            continue;
        }
        let this = format!("{}/{}", text(owner, "kind"), text(owner, "name"));
        if controller.is_empty() {
            controller = this;
            continue;
        }
        let all: Vec<String> = items(metadata, "ownerReferences").iter().map(owner_shown).collect();
        let why = format!(
            "Only one reference can have Controller set to true. Found \"true\" in references for {controller} and \
             {this}"
        );
        wrong.push(Wrong::invalid_shown(path, &format!("[{}]", all.join(",")), &why));
    }
}

/// An owner with its fields in upstream's order.
fn owner_shown(owner: &Value) -> String {
    let fields = ["apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"];
    let shown = fields.iter().filter_map(|name| Some(format!("\"{name}\":{}", present(owner, name)?)));
    format!("{{{}}}", shown.collect::<Vec<_>>().join(","))
}

fn finalizers(metadata: &Value, wrong: &mut Vec<Wrong>) {
    let path = META.field("finalizers");
    let list = items(metadata, "finalizers");
    for finalizer in list.iter().filter_map(Value::as_str) {
        field::key(&path, finalizer, wrong);
    }
    let has = |name: &str| list.iter().any(|finalizer| finalizer == name);
    if has("orphan") && has("foregroundDeletion") {
        let why = "finalizer orphan and foregroundDeletion cannot be both set";
        wrong.push(Wrong::invalid(path, &Value::from(list), why));
    }
}

/// A finalizer without a domain is one of the server's own. Definitions do not go by this rule of the core.
fn standard_finalizers(object: &Value, wrong: &mut Vec<Wrong>) {
    if object["kind"] == "CustomResourceDefinition" {
        return;
    }
    let metadata = field::part(object, "metadata");
    for (index, finalizer) in items(metadata, "finalizers").iter().filter_map(Value::as_str).enumerate() {
        let is_own = matches!(
            finalizer,
            "kubernetes" | "orphan" | "foregroundDeletion" | "customresourcecleanup.apiextensions.k8s.io"
        );
        if !finalizer.contains('/') && !is_own {
            let path = META.field("finalizers");
            let why = "name is neither a standard finalizer name nor is it fully qualified";
            wrong.push(Wrong::invalid(path.index(index), &json!(finalizer), why));
        }
    }
}

pub(super) fn update(object: &Value, old: &Value, wrong: &mut Vec<Wrong>) {
    update_foreign(object, old, wrong);
    standard_finalizers(field::part(object, "metadata"), wrong);
}

/// The same for kinds that are not of the core.
pub(super) fn update_foreign(object: &Value, old: &Value, wrong: &mut Vec<Wrong>) {
    let (new, old) = (field::part(object, "metadata"), field::part(old, "metadata"));
    if present(old, "deletionTimestamp").is_some() {
        no_new_finalizers(new, old, wrong);
    }
    if text(new, "resourceVersion").is_empty() {
        let path = META.field("resourceVersion");
        wrong.push(Wrong::invalid(path, &json!(""), "must be specified for an update"));
    }
    let generation = integer(new, "generation").unwrap_or_default();
    if generation < integer(old, "generation").unwrap_or_default() {
        let path = META.field("generation");
        wrong.push(Wrong::invalid(path, &json!(generation), "must not be decremented"));
    }
    for name in ["name", "namespace", "uid"] {
        if text(new, name) != text(old, name) {
            wrong.push(Wrong::invalid(META.field(name), &json!(text(new, name)), IMMUTABLE));
        }
    }
    for name in ["creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"] {
        field::immutable(&META.field(name), &[name], new, old, wrong);
    }
    common(new, wrong);
}

fn no_new_finalizers(new: &Value, old: &Value, wrong: &mut Vec<Wrong>) {
    let before: BTreeSet<&str> = items(old, "finalizers").iter().filter_map(Value::as_str).collect();
    let now: BTreeSet<&str> = items(new, "finalizers").iter().filter_map(Value::as_str).collect();
    let added: Vec<String> = now.difference(&before).map(|name| format!("{name:?}")).collect();
    if !added.is_empty() {
        let why = format!(
            "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
            added.join(", ")
        );
        wrong.push(Wrong::forbidden(META.field("finalizers"), &why));
    }
}
