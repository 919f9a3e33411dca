//! The bridge from `kubectl apply` to server-side apply: the annotation with what was applied last.
//!
//! Only the manager `kubectl` crosses it. What the annotation says, and the object still has, it may take from
//! others without a conflict; afterwards the annotation says what is applied now.

use serde_json::{Value, json};

use super::super::fields::{Fields, shown};
use super::{Application, Conflict, check, compare, fields_of};

/// The manager of `kubectl apply --server-side`.
pub(super) const MANAGER: &str = "kubectl";
const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// The manager of `kubectl apply` without it.
pub(super) const CLIENT_SIDE: &str = "kubectl-client-side-apply";
/// All annotations together may not be longer.
const ANNOTATIONS_BYTES_MAX: usize = 256 * 1024;

/// The conflicts that the annotation does not excuse.
pub(super) fn unallowed(application: &Application<'_>, conflicts: Vec<Conflict>) -> Vec<Conflict> {
    let Some(allowed) = allowed(application) else { return conflicts };
    let allowed: Vec<String> = allowed.paths().iter().map(|path| shown(path)).collect();
    conflicts.into_iter().filter(|conflict| !allowed.contains(&shown(&conflict.path))).collect()
}

fn allowed(application: &Application<'_>) -> Option<Fields> {
    let Application { live, writer, structure, .. } = *application;
    let last: Value = serde_json::from_str(annotation(live)?).ok()?;
    if last.get("apiVersion")?.as_str()? != writer.api_version {
        return None;
    }
    if check(live, structure).is_some() || check(&last, structure).is_some() {
        return None;
    }
    let changes = compare(&last, live, structure);
    let unchanged = fields_of(&last, structure).difference(&changes.modified);
    Some(unchanged.difference(&changes.added).difference(&changes.removed))
}

/// The fields that the annotation lists, and the annotation itself.
pub(super) fn said(application: &Application<'_>) -> Option<Fields> {
    let last: Value = serde_json::from_str(annotation(application.live)?).ok()?;
    if check(&last, application.structure).is_some() {
        return None;
    }
    let own = Fields::named(&[&["metadata", "annotations", ANNOTATION]]);
    Some(fields_of(&last, application.structure).union(&own))
}

/// Renews the annotation, if there is one.
pub(super) fn renew(object: &mut Value, config: &Value) {
    if annotation(object).is_none() {
        return;
    }
    let mut config = config.clone();
    if let Some(Value::Object(annotations)) = config.pointer_mut("/metadata/annotations") {
        annotations.remove(ANNOTATION);
    }
    let Some(Value::Object(annotations)) = object.pointer_mut("/metadata/annotations") else { return };
    annotations.insert(ANNOTATION.to_owned(), json!(format!("{config}\n")));
    let bytes: usize =
        annotations.iter().map(|(key, value)| key.len() + value.as_str().map_or(0, str::len)).sum();
    if bytes > ANNOTATIONS_BYTES_MAX {
        annotations.remove(ANNOTATION);
    }
}

fn annotation(object: &Value) -> Option<&str> {
    let text = object.get("metadata")?.get("annotations")?.get(ANNOTATION)?.as_str()?;
    (!text.is_empty()).then_some(text)
}
