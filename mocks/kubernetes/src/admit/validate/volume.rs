//! Volumes of a pod: unique names, one source each.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{container, field, storage};
use crate::admit::names;
use crate::admit::path::Path;
use crate::admit::quantities::quantity;
use crate::admit::read::{items, present, text};
use crate::status::Wrong;

/// Checks the volumes and gives those that mounts may name.
pub(super) fn volumes<'a>(
    spec: &'a Value,
    path: &Path<'_>,
    wrong: &mut Vec<Wrong>,
) -> BTreeMap<&'a str, &'a Value> {
    let mut good = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for (index, volume) in items(spec, "volumes").iter().enumerate() {
        let path = path.index(index);
        let before = wrong.len();
        source(volume, &path, wrong);
        let name = text(volume, "name");
        if name.is_empty() {
            wrong.push(Wrong::required(path.field("name"), ""));
        } else {
            field::invalid(&path.field("name"), name, names::label(name), wrong);
        }
        if seen.contains(name) {
            wrong.push(Wrong::duplicate(path.field("name"), &json!(name)));
        }
        if wrong.len() == before {
            seen.insert(name);
            good.insert(name, volume);
        }
    }
    good
}

fn source(volume: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    let given: Vec<(&String, &Value)> = volume
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, value)| *name != "name" && !value.is_null())
        .collect();
    if given.is_empty() {
        wrong.push(Wrong::required(path, "must specify a volume type"));
    }
    // Upstream counts an empty directory first, whatever else there is.
    let empty = given.iter().position(|(name, _)| *name == "emptyDir");
    let first = empty.unwrap_or_default();
    for (index, (name, source)) in given.iter().enumerate() {
        if index != first {
            wrong.push(Wrong::forbidden(path.field(name), "may not specify more than 1 volume type"));
            continue;
        }
        of_kind(name, source, &path.field(name), wrong);
    }
}

fn of_kind(name: &str, source: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    match name {
        "emptyDir" => {
            let limit = present(source, "sizeLimit").map(quantity).unwrap_or_default();
            if limit.nanos() < 0 {
                let why = "SizeLimit field must be a valid resource quantity";
                wrong.push(Wrong::forbidden(path.field("sizeLimit"), why));
            }
        }
        "hostPath" => host_path(source, path, wrong),
        "secret" => {
            required(source, "secretName", path, wrong);
            modes(source, path, wrong);
        }
        "configMap" => {
            required(source, "name", path, wrong);
            modes(source, path, wrong);
        }
        "downwardAPI" | "projected" => modes(source, path, wrong),
        "persistentVolumeClaim" => required(source, "claimName", path, wrong),
        "nfs" => {
            required(source, "server", path, wrong);
            required(source, "path", path, wrong);
        }
        "csi" => required(source, "driver", path, wrong),
        "ephemeral" => match present(source, "volumeClaimTemplate") {
            Some(template) => {
                let spec = field::part(template, "spec");
                storage::claim_spec(spec, &path.field("volumeClaimTemplate").field("spec"), wrong);
            }
            None => wrong.push(Wrong::required(path.field("volumeClaimTemplate"), "")),
        },
        _ => {}
    }
}

fn required(source: &Value, name: &str, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    if text(source, name).is_empty() {
        wrong.push(Wrong::required(path.field(name), ""));
    }
}

/// File modes, and the paths of the files.
fn modes(source: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    const WHY: &str = "must be a number between 0 and 0777 (octal), both inclusive";
    let mut check = |object: &Value, path: &Path<'_>, name: &str| {
        if let Some(mode) = object.get(name).and_then(Value::as_i64)
            && !(0..=0o777).contains(&mode)
        {
            wrong.push(Wrong::invalid(path.field(name), &json!(mode), WHY));
        }
    };
    check(source, path, "defaultMode");
    for (index, item) in items(source, "items").iter().enumerate() {
        let path = path.field("items");
        check(item, &path.index(index), "mode");
    }
    for (index, item) in items(source, "items").iter().enumerate() {
        let path = path.field("items");
        let path = path.index(index);
        required(item, "path", &path, wrong);
        container::descending(text(item, "path"), &path.field("path"), wrong);
    }
}

pub(super) fn host_path(source: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    let target = text(source, "path");
    if target.is_empty() {
        wrong.push(Wrong::required(path.field("path"), ""));
        return;
    }
    if target.split('/').any(|step| step == "..") {
        wrong.push(Wrong::invalid(path.field("path"), &json!(target), "must not contain '..'"));
    }
    let kinds =
        ["", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"];
    field::one_of_if_given(&path.field("type"), text(source, "type"), &kinds, wrong);
}
