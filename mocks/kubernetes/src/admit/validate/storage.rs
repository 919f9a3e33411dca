//! Volumes, claims, storage classes, attachments.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{affinity, field, resources, selector, volume};
use crate::admit::names;
use crate::admit::path::Path;
use crate::admit::quantities::quantity;
use crate::admit::read::{deep, entries, items, present, remove, text};
use crate::admit::same::{same, same_field};
use crate::status::Wrong;

const SPEC: Path<'static> = Path::Top("spec");
const MODES: [&str; 4] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
const NOT_POSITIVE: &str = "must be greater than zero";

fn access_modes(spec: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    let path = path.field("accessModes");
    let modes = items(spec, "accessModes");
    if modes.is_empty() {
        wrong.push(Wrong::required(path, "at least 1 access mode is required"));
    }
    for mode in modes.iter().filter_map(Value::as_str).filter(|mode| !MODES.contains(mode)) {
        wrong.push(Wrong::not_supported(path, &json!(mode), &MODES));
    }
    if modes.len() > 1 && modes.iter().any(|mode| mode == "ReadWriteOncePod") {
        wrong.push(Wrong::forbidden(path, "may not use ReadWriteOncePod with other access modes"));
    }
}

fn positive(value: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    let amount = quantity(value);
    if amount.nanos() <= 0 {
        wrong.push(Wrong::invalid(path, &json!(amount.to_string()), NOT_POSITIVE));
    }
}

pub(super) fn claim(object: &Value, wrong: &mut Vec<Wrong>) {
    claim_spec(field::part(object, "spec"), &SPEC, wrong);
}

pub(super) fn claim_spec(spec: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    if items(spec, "accessModes").is_empty() {
        let path = path.field("accessModes");
        wrong.push(Wrong::required(path, "at least 1 access mode is required"));
    } else {
        access_modes(spec, path, wrong);
    }
    selector::selector(spec, path, "selector", wrong);
    let at = path.field("resources");
    let at = at.key("storage");
    match deep(spec, &["resources", "requests", "storage"]) {
        None => wrong.push(Wrong::required(at, "")),
        Some(asked) if quantity(asked).nanos() <= 0 => positive(asked, &at, wrong),
        Some(asked) => resources::amount("storage", asked, &at, wrong),
    }
    let class = text(spec, "storageClassName");
    if !class.is_empty() {
        field::invalid(&path.field("storageClassName"), class, names::subdomain(class), wrong);
    }
    field::one_of_if_given(
        &path.field("volumeMode"),
        text(spec, "volumeMode"),
        &["Block", "Filesystem"],
        wrong,
    );
}

/// Of a claim's spec only the size of a bound claim changes, and the volume it is bound to is set once.
pub(super) fn claim_update(object: &Value, old: &Value, wrong: &mut Vec<Wrong>) {
    let (now, before) = (field::part(object, "spec"), field::part(old, "spec"));
    let (mut left, mut right) = (now.clone(), before.clone());
    let is_bound = text(field::part(object, "status"), "phase") == "Bound";
    if text(before, "volumeName").is_empty() {
        for spec in [&mut left, &mut right] {
            remove(spec, "volumeName");
        }
    }
    if is_bound {
        for spec in [&mut left, &mut right] {
            if let Some(requests) = spec.get_mut("resources").and_then(|all| all.get_mut("requests")) {
                remove(requests, "storage");
            }
            remove(spec, "volumeAttributesClassName");
        }
    }
    if !same(&left, &right) {
        let why = "spec is immutable after creation except resources.requests and volumeAttributesClassName for \
                   bound claims";
        wrong.push(Wrong::forbidden(SPEC, why));
    }
    let size =
        |spec: &Value| deep(spec, &["resources", "requests", "storage"]).map(quantity).unwrap_or_default();
    let held = deep(old, &["status", "capacity", "storage"]).map(quantity).unwrap_or_default();
    if size(now) < size(before) && size(now) <= held {
        let path = SPEC.field("resources");
        let path = path.field("requests");
        wrong.push(Wrong::forbidden(path.field("storage"), "field can not be less than status.capacity"));
    }
    field::immutable(&Path::Top("volumeMode"), &["volumeMode"], now, before, wrong);
}

/// Fields of a volume's spec that are not its source.
const NOT_SOURCES: [&str; 9] = [
    "accessModes",
    "capacity",
    "claimRef",
    "mountOptions",
    "nodeAffinity",
    "persistentVolumeReclaimPolicy",
    "storageClassName",
    "volumeAttributesClassName",
    "volumeMode",
];

fn sources(spec: &Value) -> impl Iterator<Item = (&String, &Value)> {
    let fields = spec.as_object().into_iter().flatten();
    fields.filter(|(name, value)| !NOT_SOURCES.contains(&name.as_str()) && !value.is_null())
}

pub(super) fn volume(object: &Value, wrong: &mut Vec<Wrong>) {
    let spec = field::part(object, "spec");
    if items(spec, "accessModes").is_empty() {
        wrong.push(Wrong::required(SPEC.field("accessModes"), ""));
    } else {
        access_modes(spec, &SPEC, wrong);
    }
    let path = SPEC.field("capacity");
    let mut capacity = entries(spec, "capacity").peekable();
    if capacity.peek().is_none() {
        wrong.push(Wrong::required(path, ""));
    }
    let capacity: Vec<_> = capacity.collect();
    if capacity.len() != 1 || capacity.iter().any(|(name, _)| *name != "storage") {
        let shown = field::part(spec, "capacity");
        wrong.push(Wrong::not_supported(path, shown, &["storage"]));
    }
    for (name, amount) in capacity {
        positive(amount, &path.key(name), wrong);
    }
    let policies = ["Delete", "Recycle", "Retain"];
    let policy = text(spec, "persistentVolumeReclaimPolicy");
    field::one_of_if_given(&SPEC.field("persistentVolumeReclaimPolicy"), policy, &policies, wrong);
    if let Some(required) = deep(spec, &["nodeAffinity", "required"]) {
        affinity::node_selector(required, &SPEC.field("nodeAffinity").field("required"), wrong);
    }
    let mut count = 0;
    for (name, source) in sources(spec) {
        count += 1;
        if count > 1 {
            wrong.push(Wrong::forbidden(SPEC.field(name), "may not specify more than 1 volume type"));
        } else if name == "hostPath" {
            volume::host_path(source, &SPEC.field(name), wrong);
        } else if name == "csi" {
            for field in ["driver", "volumeHandle"] {
                if text(source, field).is_empty() {
                    wrong.push(Wrong::required(SPEC.field(name).field(field), ""));
                }
            }
        }
    }
    if count == 0 {
        wrong.push(Wrong::required(SPEC, "must specify a volume type"));
    }
    let class = text(spec, "storageClassName");
    if !class.is_empty() {
        field::invalid(&SPEC.field("storageClassName"), class, names::subdomain(class), wrong);
    }
}

pub(super) fn volume_update(object: &Value, old: &Value, wrong: &mut Vec<Wrong>) {
    let (now, before) = (field::part(object, "spec"), field::part(old, "spec"));
    let names = sources(now).chain(sources(before));
    let is_changed = names.into_iter().any(|(name, _)| !same_field(now.get(name), before.get(name)));
    if is_changed {
        let why = "spec.persistentvolumesource is immutable after creation";
        wrong.push(Wrong::forbidden(SPEC.field("persistentvolumesource"), why));
    }
    field::immutable(&Path::Top("volumeMode"), &["volumeMode"], now, before, wrong);
    if present(before, "nodeAffinity").is_some()
        && !same_field(now.get("nodeAffinity"), before.get("nodeAffinity"))
    {
        let why = "field is immutable, except for updating from beta label to GA";
        wrong.push(Wrong::invalid(Path::Top("nodeAffinity"), field::part(now, "nodeAffinity"), why));
    }
}

pub(super) fn storage_class(object: &Value, wrong: &mut Vec<Wrong>) {
    let provisioner = text(object, "provisioner");
    let path = Path::Top("provisioner");
    if provisioner.is_empty() {
        wrong.push(Wrong::required(path, ""));
    } else {
        let lower = provisioner.to_ascii_lowercase();
        field::invalid(&path, &lower, names::qualified(&lower), wrong);
    }
    let policy = text(object, "reclaimPolicy");
    field::one_of_if_given(&Path::Top("reclaimPolicy"), policy, &["Delete", "Retain"], wrong);
    let mode = text(object, "volumeBindingMode");
    let modes = ["Immediate", "WaitForFirstConsumer"];
    field::one_of_if_given(&Path::Top("volumeBindingMode"), mode, &modes, wrong);
    for (index, term) in items(object, "allowedTopologies").iter().enumerate() {
        topology(term, &Path::Top("allowedTopologies").index(index), wrong);
    }
}

/// The places where a volume of a class may be.
fn topology(term: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    let path = path.field("matchLabelExpressions");
    let mut keys = BTreeSet::new();
    for (index, expression) in items(term, "matchLabelExpressions").iter().enumerate() {
        let path = path.index(index);
        let values = items(expression, "values");
        let place = path.field("values");
        if values.is_empty() {
            wrong.push(Wrong::required(place, ""));
        }
        for (index, value) in values.iter().enumerate() {
            if values.iter().take(index).any(|before| before == value) {
                wrong.push(Wrong::duplicate(place.index(index), value));
            }
        }
        let key = text(expression, "key");
        field::key(&path.field("key"), key, wrong);
        if !keys.insert(key) {
            wrong.push(Wrong::duplicate(path.field("key"), &json!(key)));
        }
    }
}

/// The drivers of a node.
pub(super) fn node_drivers(object: &Value, wrong: &mut Vec<Wrong>) {
    const ID_MAX: usize = 256;
    let mut seen = BTreeSet::new();
    for (index, driver) in items(field::part(object, "spec"), "drivers").iter().enumerate() {
        let path = SPEC.field("drivers");
        let path = path.index(index);
        let (name, id) = (text(driver, "name"), text(driver, "nodeID"));
        driver_name(name, &path.field("name"), wrong);
        if id.is_empty() {
            wrong.push(Wrong::required(path.field("nodeID"), ""));
        } else if id.len() > ID_MAX {
            let why = format!("must be {ID_MAX} characters or less");
            wrong.push(Wrong::invalid(path.field("nodeID"), &json!(id), &why));
        }
        let room = path.field("allocatable");
        field::not_negative(field::part(driver, "allocatable"), &room, "count", wrong);
        if !seen.insert(name) {
            wrong.push(Wrong::duplicate(path.field("name"), &json!(name)));
        }
        let mut keys = BTreeSet::new();
        for key in items(driver, "topologyKeys").iter().filter_map(Value::as_str) {
            if key.is_empty() {
                wrong.push(Wrong::required(path, ""));
            }
            if !keys.insert(key) {
                wrong.push(Wrong::duplicate(path, &json!(key)));
            }
            field::key(&path, key, wrong);
        }
    }
}

fn driver_name(name: &str, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    const NAME_MAX: usize = 63;
    if name.is_empty() {
        wrong.push(Wrong::required(path, ""));
        return;
    }
    if name.len() > NAME_MAX {
        wrong.push(Wrong::too_long(path, NAME_MAX));
    }
    field::invalid(path, name, names::subdomain(&name.to_ascii_lowercase()), wrong);
}

/// What a driver says of itself stays as it is, but for its room.
pub(super) fn node_drivers_update(object: &Value, old: &Value, wrong: &mut Vec<Wrong>) {
    let drivers = |object| items(field::part(object, "spec"), "drivers").iter();
    for was in drivers(old) {
        for is in drivers(object).filter(|is| text(is, "name") == text(was, "name")) {
            let fixed = |driver: &Value| {
                let mut driver = driver.clone();
                remove(&mut driver, "allocatable");
                driver
            };
            let (is, was) = (fixed(is), fixed(was));
            if !same(&is, &was) {
                let keys = is.get("topologyKeys").unwrap_or(&Value::Null);
                let shown = format!(
                    "{{\"Name\":{},\"NodeID\":{},\"TopologyKeys\":{keys},\"Allocatable\":null}}",
                    field::part(&is, "name"),
                    field::part(&is, "nodeID")
                );
                wrong.push(Wrong::invalid_shown(SPEC.field("drivers"), &shown, field::IMMUTABLE));
            }
        }
    }
}

pub(super) fn storage_class_update(object: &Value, old: &Value, wrong: &mut Vec<Wrong>) {
    for name in ["parameters", "provisioner", "reclaimPolicy"] {
        if !same_field(object.get(name), old.get(name)) {
            wrong.push(Wrong::forbidden(Path::Top(name), &format!("updates to {name} are forbidden.")));
        }
    }
    field::immutable(&Path::Top("volumeBindingMode"), &["volumeBindingMode"], object, old, wrong);
}

pub(super) fn attachment_update(object: &Value, old: &Value, wrong: &mut Vec<Wrong>) {
    field::immutable(&SPEC, &["spec"], object, old, wrong);
}
