//! Defaults of volumes, claims, storage classes and their drivers.

use serde_json::{Map, Value, json};

use super::resources;
use crate::admit::read::{fill, fill_zero, inner_mut};

pub(super) fn persistent_volume(volume: &mut Value) {
    if let Some(status) = inner_mut(volume, "status") {
        fill_zero(status, "phase", "Pending");
    }
    let Some(spec) = inner_mut(volume, "spec") else { return };
    fill_zero(spec, "persistentVolumeReclaimPolicy", "Retain");
    fill(spec, "volumeMode", "Filesystem");
    resources::round(spec, "capacity");
    if let Some(map) = spec.as_object_mut() {
        for (name, source) in map {
            volume_source(name, source);
        }
    }
}

pub(super) fn claim(claim: &mut Value) {
    if let Some(status) = inner_mut(claim, "status") {
        fill_zero(status, "phase", "Pending");
        resources::round(status, "capacity");
        resources::round(status, "allocatedResources");
    }
    if let Some(spec) = inner_mut(claim, "spec") {
        claim_spec(spec);
    }
}

pub(super) fn claim_spec(spec: &mut Value) {
    fill(spec, "volumeMode", "Filesystem");
    fill(spec, "resources", Map::new());
    if let Some(all) = spec.get_mut("resources") {
        resources::round(all, "limits");
        resources::round(all, "requests");
    }
}

/// Sources that a pod and a persistent volume share.
pub(super) fn volume_source(name: &str, source: &mut Value) {
    match name {
        "hostPath" => fill(source, "type", ""),
        "iscsi" => fill_zero(source, "iscsiInterface", "default"),
        "rbd" => {
            fill_zero(source, "pool", "rbd");
            fill_zero(source, "user", "admin");
            fill_zero(source, "keyring", "/etc/ceph/keyring");
        }
        "azureDisk" => {
            fill(source, "cachingMode", "ReadWrite");
            fill(source, "fsType", "ext4");
            fill(source, "readOnly", false);
            fill(source, "kind", "Shared");
        }
        "scaleIO" => {
            fill_zero(source, "storageMode", "ThinProvisioned");
            fill_zero(source, "fsType", "xfs");
        }
        _ => {}
    }
}

pub(super) fn storage_class(class: &mut Value) {
    fill(class, "reclaimPolicy", "Delete");
    fill(class, "volumeBindingMode", "Immediate");
}

pub(super) fn driver(driver: &mut Value) {
    let Some(spec) = inner_mut(driver, "spec") else { return };
    fill(spec, "attachRequired", true);
    fill(spec, "podInfoOnMount", false);
    fill(spec, "storageCapacity", false);
    fill(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
    fill_zero(spec, "volumeLifecycleModes", json!(["Persistent"]));
    fill(spec, "requiresRepublish", false);
    fill(spec, "seLinuxMount", false);
}
