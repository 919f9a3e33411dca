//! Volumes made to order: the part of the external provisioner of every driver.

use serde_json::{Value, json};

use super::facts::{PROVISIONED_BY, SELECTED_NODE, annotation, text};
use super::{ATTACHMENTS, CLAIMS, VOLUMES, binding::MANAGER};
use crate::api::{Api, Delete, Write};
use crate::control::amend::{amend, drop_finalizer, erase, resource};
use crate::status::Status;
use crate::store::Key;

const FINALIZER: &str = "external-provisioner.volume.kubernetes.io/finalizer";
const ZONE: &str = "topology.kubernetes.io/zone";
const PROVISIONERS: [&str; 2] =
    ["volume.beta.kubernetes.io/storage-provisioner", "volume.kubernetes.io/storage-provisioner"];

/// Tells the provisioner that it is its turn.
pub(super) fn ask(api: &Api, key: &Key, provisioner: &str) -> Result<(), Status> {
    amend(api, (CLAIMS, key, ""), MANAGER, |claim| {
        for annotation in PROVISIONERS {
            claim["metadata"]["annotations"][annotation] = json!(provisioner);
        }
    })
}

/// Makes a volume that is reserved for the claim, where its first consumer will be; what it is called.
pub(super) fn make(api: &Api, claim: &Value, class: &Value) -> Result<String, Status> {
    let metadata = &claim["metadata"];
    let name = format!("pvc-{}", text(metadata, "uid"));
    let driver = text(class, "provisioner");
    let mut body = json!({
        "metadata": {
            "name": name,
            "annotations": {PROVISIONED_BY: driver},
            "finalizers": [FINALIZER],
        },
        "spec": {
            "accessModes": claim["spec"]["accessModes"],
            "capacity": {"storage": claim["spec"]["resources"]["requests"]["storage"]},
            "claimRef": {
                "apiVersion": "v1", "kind": "PersistentVolumeClaim",
                "namespace": metadata["namespace"], "name": metadata["name"], "uid": metadata["uid"],
                "resourceVersion": metadata["resourceVersion"],
            },
            "csi": {"driver": driver, "volumeHandle": name},
            "persistentVolumeReclaimPolicy": class["reclaimPolicy"],
            "storageClassName": class["metadata"]["name"],
            "volumeMode": claim["spec"]["volumeMode"],
            "mountOptions": class["mountOptions"],
            "volumeAttributesClassName": claim["spec"]["volumeAttributesClassName"],
        },
    });
    let topology = topology(api, claim, class);
    if !topology.is_empty() {
        let term = json!({"matchExpressions": topology});
        body["spec"]["nodeAffinity"] = json!({"required": {"nodeSelectorTerms": [term]}});
    }
    if let Some(resource) = resource(api, VOLUMES) {
        match api.create(&resource, "", body, &Write::by("external-provisioner")) {
            Err(status) if status.code != 409 => return Err(status),
            _ => {}
        }
    }
    Ok(name)
}

/// Where the volume can be used: what the driver on the selected node goes by, or what the class allows first.
fn topology(api: &Api, claim: &Value, class: &Value) -> Vec<Value> {
    let within = |key: &str, value: &str| json!({"key": key, "operator": "In", "values": [value]});
    let Some(node) = annotation(claim, SELECTED_NODE) else {
        let terms = class["allowedTopologies"][0]["matchLabelExpressions"].as_array();
        let first = |term: &Value| within(text(term, "key"), term["values"][0].as_str().unwrap_or_default());
        return terms.into_iter().flatten().map(first).collect();
    };
    let key = Key::new("", node);
    let value = |shelf| api.store().get(shelf, &key).map(|object| object.value()).unwrap_or_default();
    let labels = &value("nodes")["metadata"]["labels"];
    let csi = value("csinodes.storage.k8s.io");
    let mut drivers = csi["spec"]["drivers"].as_array().into_iter().flatten();
    let keys = drivers.find(|driver| driver["name"] == class["provisioner"]);
    // Nodes of simulations often have no driver, but zones: disks stay in theirs all the same.
    let keys = keys.map_or_else(|| json!([ZONE]), |driver| driver["topologyKeys"].clone());
    let keys = keys.as_array().cloned().unwrap_or_default();
    let keys = keys.iter().filter_map(Value::as_str);
    keys.filter_map(|key| Some(within(key, labels[key].as_str()?))).collect()
}

/// Unmakes a volume that nobody claims any more, once it is attached nowhere.
pub(super) fn destroy(api: &Api, key: &Key) -> Result<(), Status> {
    let attachments = api.store().list(ATTACHMENTS, "").objects;
    let attached = |attachment: &Value| attachment["spec"]["source"]["persistentVolumeName"] == *key.name;
    if attachments.iter().any(|attachment| attached(&attachment.value())) {
        return Ok(());
    }
    erase(api, (VOLUMES, key), MANAGER, &Delete::background())?;
    amend(api, (VOLUMES, key, ""), MANAGER, |volume| drop_finalizer(volume, FINALIZER))
}
