//! Claims from their creation to the end of their volume.

use serde_json::{Value, json};

use super::super::rig::Rig;
use super::*;
use crate::api::Delete;

fn rig(drivers: Drivers) -> Rig {
    let mut rig = Rig::new();
    rig.start("binder", BINDING_SHELVES, move || Binder::new(drivers));
    rig.start("attacher", ATTACHMENT_SHELVES, move || Attacher::new(drivers));
    rig.start("claims", CLAIM_SHELVES, ClaimGuard::default);
    rig.start("volumes", VOLUME_SHELVES, || VolumeGuard);
    rig
}

fn class(rig: &Rig, name: &str, mode: &str) {
    rig.put(
        "storageclasses",
        "",
        json!({
            "metadata": {"name": name}, "provisioner": "x.csi", "volumeBindingMode": mode,
        }),
    );
}

fn claim(rig: &Rig, name: &str, class: &str) {
    rig.put(
        "persistentvolumeclaims",
        "default",
        json!({
            "metadata": {"name": name},
            "spec": {
                "storageClassName": class, "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}},
            },
        }),
    );
}

fn got(rig: &Rig, name: &str) -> Value {
    rig.get("persistentvolumeclaims", "default", name).unwrap()
}

fn pod(rig: &Rig, name: &str, claim: &str) {
    rig.put(
        "pods",
        "default",
        json!({
            "metadata": {"name": name},
            "spec": {
                "nodeName": "n", "containers": [{"name": "c", "image": "i"}],
                "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": claim}}],
            },
        }),
    );
}

fn attachments(rig: &Rig) -> Vec<bool> {
    let resource = rig.api.resource::<k8s_openapi::api::storage::v1::VolumeAttachment>();
    let list = rig.api.list(&resource, "");
    list.iter().map(|attachment| attachment.value()["status"]["attached"] == true).collect()
}

#[tokio::test]
async fn a_claim_takes_the_volume_that_is_there() {
    let rig = rig(Drivers::default());
    claim(&rig, "c", "");
    rig.settle().await;
    assert_eq!(got(&rig, "c")["status"]["phase"], "Pending");
    rig.put(
        "persistentvolumes",
        "",
        json!({
            "metadata": {"name": "v"},
            "spec": {
                "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "2Gi"},
                "csi": {"driver": "x.csi", "volumeHandle": "h"}, "persistentVolumeReclaimPolicy": "Retain",
            },
        }),
    );
    rig.settle().await;
    let claim = got(&rig, "c");
    assert_eq!(claim["spec"]["volumeName"], "v");
    assert_eq!(
        claim["status"],
        json!({
            "phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "2Gi"},
        })
    );
    assert_eq!(claim["metadata"]["annotations"]["pv.kubernetes.io/bind-completed"], "yes");
    let volume = rig.get("persistentvolumes", "", "v").unwrap();
    assert_eq!(volume["status"]["phase"], "Bound");
    assert_eq!(volume["spec"]["claimRef"]["uid"], claim["metadata"]["uid"]);
    rig.delete("persistentvolumeclaims", "default", "c", Delete::background());
    rig.settle().await;
    assert!(rig.get("persistentvolumeclaims", "default", "c").is_none());
    assert_eq!(rig.get("persistentvolumes", "", "v").unwrap()["status"]["phase"], "Released");
}

#[tokio::test]
async fn a_claim_that_waits_gets_its_volume_in_the_zone_of_its_node() {
    let rig = rig(Drivers::default());
    class(&rig, "late", "WaitForFirstConsumer");
    claim(&rig, "c", "late");
    let labels = json!({"topology.kubernetes.io/zone": "z", "own/rack": "r"});
    rig.put("nodes", "", json!({"metadata": {"name": "n", "labels": labels}}));
    rig.put(
        "csinodes",
        "",
        json!({
            "metadata": {"name": "n"},
            "spec": {"drivers": [{"name": "x.csi", "nodeID": "n", "topologyKeys": ["own/rack"]}]},
        }),
    );
    rig.settle().await;
    assert_eq!(got(&rig, "c")["status"]["phase"], "Pending");
    assert_eq!(rig.reasons(), ["WaitForFirstConsumer"]);
    rig.edit("persistentvolumeclaims", "default", "c", "", |claim| {
        claim["metadata"]["annotations"] = json!({"volume.kubernetes.io/selected-node": "n"});
    });
    rig.settle().await;
    let claim = got(&rig, "c");
    assert_eq!(claim["status"]["phase"], "Bound");
    let volume = rig.get("persistentvolumes", "", claim["spec"]["volumeName"].as_str().unwrap()).unwrap();
    let term = &volume["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"][0]["matchExpressions"];
    assert_eq!(*term, json!([{"key": "own/rack", "operator": "In", "values": ["r"]}]));
    assert_eq!(volume["spec"]["persistentVolumeReclaimPolicy"], "Delete");
}

#[tokio::test]
async fn a_volume_is_attached_while_it_is_used_and_goes_with_its_claim() {
    let second = Duration::from_secs(1);
    let rig = rig(Drivers { attach: second * 3, detach: second * 2, ..Drivers::default() });
    class(&rig, "now", "Immediate");
    claim(&rig, "c", "now");
    rig.put("nodes", "", json!({"metadata": {"name": "n"}}));
    rig.settle().await;
    let volume = got(&rig, "c")["spec"]["volumeName"].as_str().unwrap().to_owned();
    assert!(attachments(&rig).is_empty());
    pod(&rig, "a", "c");
    pod(&rig, "b", "c");
    rig.pass(2).await;
    assert_eq!(attachments(&rig), [false]);
    rig.pass(1).await;
    assert_eq!(attachments(&rig), [true]);

    rig.delete("persistentvolumeclaims", "default", "c", Delete::background());
    rig.delete("pods", "default", "a", Delete::now());
    rig.pass(5).await;
    assert!(got(&rig, "c")["metadata"]["deletionTimestamp"].is_string());
    assert_eq!(attachments(&rig), [true]);
    rig.delete("pods", "default", "b", Delete::now());
    rig.settle().await;
    assert!(rig.get("persistentvolumeclaims", "default", "c").is_none());
    assert_eq!(attachments(&rig), [true]);
    assert!(rig.get("persistentvolumes", "", &volume).is_some(), "what is attached is not deleted");
    rig.pass(2).await;
    assert!(attachments(&rig).is_empty());
    assert!(rig.get("persistentvolumes", "", &volume).is_none());
}

#[tokio::test]
async fn without_a_provisioner_a_claim_only_asks() {
    let rig = rig(Drivers { provision: false, ..Drivers::default() });
    class(&rig, "now", "Immediate");
    claim(&rig, "c", "now");
    rig.settle().await;
    let claim = got(&rig, "c");
    assert_eq!(claim["metadata"]["annotations"]["volume.kubernetes.io/storage-provisioner"], "x.csi");
    assert_eq!(claim["status"]["phase"], "Pending");
}

#[tokio::test]
async fn a_claim_whose_volume_is_gone_is_lost() {
    let rig = rig(Drivers::default());
    class(&rig, "now", "Immediate");
    claim(&rig, "c", "now");
    rig.settle().await;
    let volume = got(&rig, "c")["spec"]["volumeName"].as_str().unwrap().to_owned();
    rig.edit("persistentvolumes", "", &volume, "", |volume| volume["metadata"]["finalizers"] = Value::Null);
    rig.delete("persistentvolumes", "", &volume, Delete::background());
    rig.settle().await;
    assert_eq!(got(&rig, "c")["status"]["phase"], "Lost");
    assert!(rig.reasons().contains(&"ClaimLost".to_owned()));
}
