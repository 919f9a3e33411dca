//! Default classes for storage and ingress, finalizers of storage objects, and growth of claims.

use serde_json::{Value, json};

use super::{Request, Shelf, name_of};
use crate::admit::quantities::quantity;
use crate::admit::read::{deep, inner_mut, items, present, put, text, truth};
use crate::status::Status;

fn annotation<'a>(object: &'a Value, key: &str) -> &'a str {
    deep(object, &["metadata", "annotations", key]).and_then(Value::as_str).unwrap_or_default()
}

const OLD_STORAGE_CLASS: &str = "volume.beta.kubernetes.io/storage-class";

/// The newest class marked as default; among equals the first by name.
fn default_class(kind: &str, marks: &[&str], shelf: &dyn Shelf) -> Option<String> {
    let classes = shelf.list(kind, "");
    let mut defaults: Vec<(&str, &str)> = classes
        .iter()
        .filter(|class| marks.iter().any(|mark| annotation(class, mark) == "true"))
        .map(|class| {
            let born = deep(class, &["metadata", "creationTimestamp"]).and_then(Value::as_str);
            (born.unwrap_or_default(), name_of(class))
        })
        .collect();
    defaults.sort_by(|left, right| right.0.cmp(left.0).then(left.1.cmp(right.1)));
    defaults.first().map(|(_, name)| (*name).to_owned())
}

pub(super) fn storage(claim: &mut Value, shelf: &dyn Shelf) {
    let has_class = deep(claim, &["spec", "storageClassName"]).is_some()
        || deep(claim, &["metadata", "annotations", OLD_STORAGE_CLASS]).is_some();
    if has_class {
        return;
    }
    let marks =
        ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"];
    if let Some(name) = default_class("StorageClass", &marks, shelf)
        && let Some(spec) = inner_mut(claim, "spec")
    {
        put(spec, "storageClassName", name);
    }
}

pub(super) fn ingress(ingress: &mut Value, shelf: &dyn Shelf) {
    let has_class = deep(ingress, &["spec", "ingressClassName"]).is_some()
        || deep(ingress, &["metadata", "annotations", "kubernetes.io/ingress.class"]).is_some();
    if has_class {
        return;
    }
    let marks = ["ingressclass.kubernetes.io/is-default-class"];
    if let Some(name) = default_class("IngressClass", &marks, shelf)
        && let Some(spec) = inner_mut(ingress, "spec")
    {
        put(spec, "ingressClassName", name);
    }
}

/// A finalizer keeps the object while it is in use.
pub(super) fn protect(object: &mut Value, finalizer: &str) {
    let Some(metadata) = inner_mut(object, "metadata") else { return };
    if items(metadata, "finalizers").iter().any(|given| given == finalizer) {
        return;
    }
    match metadata.get_mut("finalizers").and_then(Value::as_array_mut) {
        Some(list) => list.push(Value::from(finalizer)),
        None => put(metadata, "finalizers", json!([finalizer])),
    }
}

/// Only a bound claim grows, and only if its class allows it.
pub(super) fn judge_growth(
    request: &Request<'_>,
    claim: &Value,
    old: &Value,
    shelf: &dyn Shelf,
) -> Result<(), Status> {
    let size = |claim: &Value| {
        let asked = deep(claim, &["spec", "resources", "requests", "storage"]);
        asked.map(quantity).unwrap_or_default()
    };
    if size(claim) <= size(old) {
        return Ok(());
    }
    let phase = present(old, "status").map(|status| text(status, "phase")).unwrap_or_default();
    if phase != "Bound" {
        return Err(request.forbidden(claim, "Only bound persistent volume claims can be expanded"));
    }
    let class = |claim| match annotation(claim, OLD_STORAGE_CLASS) {
        "" => deep(claim, &["spec", "storageClassName"]).and_then(Value::as_str).unwrap_or_default(),
        name => name,
    };
    let name = class(claim);
    let may_grow = !name.is_empty()
        && name == class(old)
        && shelf.get("StorageClass", "", name).is_some_and(|class| truth(&class, "allowVolumeExpansion"));
    if may_grow {
        return Ok(());
    }
    let why = "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must \
               support resize";
    Err(request.forbidden(claim, why))
}
