//! Containers of every sort: names, images, ports, environment, mounts, probes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{field, probe, resources};
use crate::admit::names;
use crate::admit::path::Path;
use crate::admit::read::{integer, items, present, text};
use crate::status::Wrong;

/// What a container's pod says around it.
pub(super) struct Around<'a> {
    pub(super) spec: &'a Value,
    pub(super) volumes: &'a BTreeMap<&'a str, &'a Value>,
    pub(super) grace: Option<i64>,
}

pub(super) fn containers(around: &Around<'_>, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    let list = items(around.spec, "containers");
    if list.is_empty() {
        wrong.push(Wrong::required(path, ""));
        return;
    }
    let mut seen = BTreeSet::new();
    for (index, container) in list.iter().enumerate() {
        let path = path.index(index);
        common(around, container, &path, wrong);
        let name = text(container, "name");
        if !seen.insert(name) {
            wrong.push(Wrong::duplicate(path.field("name"), &json!(name)));
        }
        probe::all(container, around.grace, &path, wrong);
        restart_policy(container, &path, wrong);
    }
    host_ports(list, path, wrong);
}

fn restart_policy(container: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    if let Some(policy) = present(container, "restartPolicy").and_then(Value::as_str) {
        let policies = ["Always", "Never", "OnFailure"];
        field::one_of_if_given(&path.field("restartPolicy"), policy, &policies, wrong);
    }
}

pub(super) fn init_containers(around: &Around<'_>, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    let mut seen: BTreeSet<&str> = names_of(around.spec, "containers").collect();
    for (index, container) in items(around.spec, "initContainers").iter().enumerate() {
        let path_of = path.index(index);
        common(around, container, &path_of, wrong);
        restart_policy(container, &path_of, wrong);
        let name = text(container, "name");
        if !name.is_empty() && !seen.insert(name) {
            wrong.push(Wrong::duplicate(path_of.field("name"), &json!(name)));
        }
        host_ports(std::slice::from_ref(container), path, wrong);
        if text(container, "restartPolicy") == "Always" {
            probe::all(container, around.grace, &path_of, wrong);
            continue;
        }
        for name in ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] {
            if present(container, name).is_some() {
                let why = "may not be set for init containers without restartPolicy=Always";
                wrong.push(Wrong::forbidden(path_of.field(name), why));
            }
        }
    }
}

fn names_of<'a>(spec: &'a Value, list: &str) -> impl Iterator<Item = &'a str> {
    items(spec, list).iter().map(|container| text(container, "name"))
}

pub(super) fn ephemeral_containers(around: &Around<'_>, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    let list = items(around.spec, "ephemeralContainers");
    if list.is_empty() {
        return;
    }
    let others: BTreeSet<&str> =
        names_of(around.spec, "containers").chain(names_of(around.spec, "initContainers")).collect();
    let mut seen = others.clone();
    for (index, container) in list.iter().enumerate() {
        let path = path.index(index);
        common(around, container, &path, wrong);
        image_is_trimmed(container, &path, wrong);
        let name = text(container, "name");
        if !seen.insert(name) {
            wrong.push(Wrong::duplicate(path.field("name"), &json!(name)));
        }
        let target = text(container, "targetContainerName");
        if !target.is_empty() && !others.contains(target) {
            wrong.push(Wrong::not_found(path.field("targetContainerName"), &json!(target)));
        }
        for name in ["ports", "livenessProbe", "readinessProbe", "startupProbe", "lifecycle"] {
            if present(container, name).is_some() {
                let why = "cannot be set for an Ephemeral Container";
                wrong.push(Wrong::forbidden(path.field(name), why));
            }
        }
    }
}

fn common(around: &Around<'_>, container: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    let name = text(container, "name");
    if name.is_empty() {
        wrong.push(Wrong::required(path.field("name"), ""));
    } else {
        field::invalid(&path.field("name"), name, names::label(name), wrong);
    }
    if text(container, "image").is_empty() {
        wrong.push(Wrong::required(path.field("image"), ""));
    }
    let policy = text(container, "terminationMessagePolicy");
    let policies = ["File", "FallbackToLogsOnError"];
    field::one_of(&path.field("terminationMessagePolicy"), policy, &policies, wrong);
    ports(container, &path.field("ports"), wrong);
    environment(container, path, wrong);
    mounts(around, container, &path.field("volumeMounts"), wrong);
    devices(around, container, &path.field("volumeDevices"), wrong);
    let policies = ["Always", "IfNotPresent", "Never"];
    field::one_of(&path.field("imagePullPolicy"), text(container, "imagePullPolicy"), &policies, wrong);
    resources::requirements(field::part(container, "resources"), &path.field("resources"), wrong);
}

pub(super) fn image_is_trimmed(container: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    let image = text(container, "image");
    if image.trim() != image {
        let why = "must not have leading or trailing whitespace";
        wrong.push(Wrong::invalid(path.field("image"), &json!(image), why));
    }
}

fn ports(container: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    let mut seen = BTreeSet::new();
    for (index, port) in items(container, "ports").iter().enumerate() {
        let path = path.index(index);
        let name = text(port, "name");
        let complaints = if name.is_empty() { Vec::new() } else { names::port_name(name) };
        let is_new = name.is_empty() || !complaints.is_empty() || seen.insert(name);
        field::invalid(&path.field("name"), name, complaints, wrong);
        if !is_new {
            wrong.push(Wrong::duplicate(path.field("name"), &json!(name)));
        }
        match integer(port, "containerPort").unwrap_or_default() {
            0 => wrong.push(Wrong::required(path.field("containerPort"), "")),
            number => field::port(&path.field("containerPort"), Some(&json!(number)), wrong),
        }
        if let Some(number) = integer(port, "hostPort").filter(|number| *number != 0) {
            field::port(&path.field("hostPort"), Some(&json!(number)), wrong);
        }
        let protocols = ["SCTP", "TCP", "UDP"];
        field::one_of(&path.field("protocol"), text(port, "protocol"), &protocols, wrong);
    }
}

/// No two containers of a list take the same port of the host.
fn host_ports(containers: &[Value], path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    let mut seen = BTreeSet::new();
    for (index, container) in containers.iter().enumerate() {
        for (at, port) in items(container, "ports").iter().enumerate() {
            let Some(number) = integer(port, "hostPort").filter(|number| *number != 0) else { continue };
            let name = format!("{}/{}/{number}", text(port, "protocol"), text(port, "hostIP"));
            if !seen.insert(name.clone()) {
                let path = path.index(index);
                let path = path.field("ports");
                wrong.push(Wrong::duplicate(path.index(at).field("hostPort"), &json!(name)));
            }
        }
    }
}

const SOURCES: &str =
    "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`";

fn environment(container: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    for (index, variable) in items(container, "env").iter().enumerate() {
        let path = path.field("env");
        let path = path.index(index);
        let name = text(variable, "name");
        if name.is_empty() {
            wrong.push(Wrong::required(path.field("name"), ""));
        } else {
            field::invalid(&path.field("name"), name, names::variable(name), wrong);
        }
        let Some(source) = present(variable, "valueFrom").and_then(Value::as_object) else { continue };
        let path = path.field("valueFrom");
        let given = source.values().filter(|value| !value.is_null()).count();
        let why = match given {
            0 => SOURCES,
            _ if !text(variable, "value").is_empty() => "may not be specified when `value` is not empty",
            1 => continue,
            _ => "may not have more than one field specified at a time",
        };
        wrong.push(Wrong::invalid(path, &json!(""), why));
    }
    for (index, source) in items(container, "envFrom").iter().enumerate() {
        let path = path.field("envFrom");
        let given: Vec<&str> = ["configMapRef", "secretRef"]
            .into_iter()
            .filter(|name| present(source, name).is_some())
            .collect();
        for name in &given {
            if text(field::part(source, name), "name").is_empty() {
                wrong.push(Wrong::required(path.index(index).field(name).field("name"), ""));
            }
        }
        let why = match given.len() {
            0 => "must specify one of: `configMapRef` or `secretRef`",
            1 => continue,
            _ => "may not have more than one field specified at a time",
        };
        wrong.push(Wrong::invalid(path, &json!(""), why));
    }
}

fn mounts(around: &Around<'_>, container: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    let mut seen = BTreeSet::new();
    let devices = items(container, "volumeDevices");
    for (index, mount) in items(container, "volumeMounts").iter().enumerate() {
        let at = path.index(index);
        let (name, target) = (text(mount, "name"), text(mount, "mountPath"));
        if name.is_empty() {
            wrong.push(Wrong::required(at.field("name"), ""));
        }
        if !around.volumes.contains_key(name) {
            wrong.push(Wrong::not_found(at.field("name"), &json!(name)));
        }
        if target.is_empty() {
            wrong.push(Wrong::required(at.field("mountPath"), ""));
        }
        if !seen.insert(target) {
            wrong.push(Wrong::invalid(at.field("mountPath"), &json!(target), "must be unique"));
        }
        if devices.iter().any(|device| text(device, "name") == name) {
            let why = "must not already exist in volumeDevices";
            wrong.push(Wrong::invalid(at.field("name"), &json!(name), why));
        }
        for name in ["subPath", "subPathExpr"] {
            descending(text(mount, name), &path.field(name), wrong);
        }
        if !text(mount, "subPath").is_empty() && !text(mount, "subPathExpr").is_empty() {
            let why = "subPathExpr and subPath are mutually exclusive";
            wrong.push(Wrong::invalid(at.field("subPathExpr"), &json!(text(mount, "subPathExpr")), why));
        }
    }
}

/// A path that stays below where it starts.
pub(super) fn descending(target: &str, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    if target.starts_with('/') {
        wrong.push(Wrong::invalid(path, &json!(target), "must be a relative path"));
    }
    if target.split('/').any(|step| step == "..") {
        wrong.push(Wrong::invalid(path, &json!(target), "must not contain '..'"));
    }
}

fn devices(around: &Around<'_>, container: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    for (index, device) in items(container, "volumeDevices").iter().enumerate() {
        let path = path.index(index);
        let name = text(device, "name");
        match around.volumes.get(name) {
            None => wrong.push(Wrong::not_found(path.field("name"), &json!(name))),
            Some(volume)
                if present(volume, "persistentVolumeClaim").is_none()
                    && present(volume, "ephemeral").is_none() =>
            {
                let why =
                    "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode";
                wrong.push(Wrong::invalid(path.field("name"), &json!(name), why));
            }
            Some(_) => {}
        }
        if text(device, "devicePath").is_empty() {
            wrong.push(Wrong::required(path.field("devicePath"), ""));
        }
    }
}
