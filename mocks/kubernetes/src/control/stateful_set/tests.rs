//! StatefulSets, with kubelets played by the test.

use k8s_openapi::api::apps::v1::{ControllerRevision, StatefulSet};
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod};
use serde_json::{Value, json};

use super::StatefulSets;
use crate::control::stage::{Stage, template};

fn start(replicas: i32, change: impl Fn(&mut Value)) -> Stage {
    let mut stage = Stage::new().with(StatefulSets::SHELVES, StatefulSets::new());
    let labels = json!({"app": "db"});
    let mut set = json!({
        "metadata": {"name": "db"},
        "spec": {"replicas": replicas, "serviceName": "db", "selector": {"matchLabels": labels},
            "template": template(&labels)},
    });
    change(&mut set["spec"]);
    stage.make::<StatefulSet>(set);
    stage.settle();
    stage
}

fn ready(stage: &mut Stage) {
    for _ in 0..10 {
        stage.kubelets();
    }
}

/// Name and image of every pod that is not about to go.
fn pods(stage: &Stage) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let row = |pod: &Value| {
        format!("{} {}", text(&pod["metadata"]["name"]), text(&pod["spec"]["containers"][0]["image"]))
    };
    stage.live_pods().iter().map(row).collect()
}

fn status(stage: &Stage) -> Value {
    stage.value::<StatefulSet>("db")["status"].clone()
}

fn set(stage: &mut Stage, change: impl Fn(&mut Value)) {
    stage.edit::<StatefulSet>("db", |set| change(&mut set["spec"]));
    stage.settle();
}

fn set_image(stage: &mut Stage, image: &str) {
    set(stage, |spec| spec["template"]["spec"]["containers"][0]["image"] = json!(image));
}

#[test]
fn pods_come_and_go_in_order() {
    let mut stage = start(3, |_| {});
    assert_eq!(pods(&stage), ["db-0 i"]);
    let pod = stage.value::<Pod>("db-0");
    let labels = &pod["metadata"]["labels"];
    assert_eq!(
        (&labels["statefulset.kubernetes.io/pod-name"], &labels["apps.kubernetes.io/pod-index"]),
        (&json!("db-0"), &json!("0"))
    );
    assert_eq!((&pod["spec"]["hostname"], &pod["spec"]["subdomain"]), (&json!("db-0"), &json!("db")));
    stage.kubelets();
    assert_eq!(pods(&stage), ["db-0 i", "db-1 i"]);
    ready(&mut stage);
    let revision = stage.api.read_all::<ControllerRevision>("default")[0].metadata.name.clone();
    assert_eq!(
        status(&stage),
        json!({"availableReplicas": 3, "collisionCount": 0, "currentReplicas": 3, "currentRevision": revision,
            "observedGeneration": 1, "readyReplicas": 3, "replicas": 3, "updateRevision": revision, "updatedReplicas": 3})
    );
    assert_eq!(labels["controller-revision-hash"], json!(revision));
    for pod in ["db-0", "db-1", "db-2"] {
        stage.bind(pod, "n");
    }
    set(&mut stage, |spec| spec["replicas"] = json!(1));
    assert_eq!(pods(&stage), ["db-0 i", "db-1 i"]);
    stage.kubelets();
    assert_eq!(pods(&stage), ["db-0 i"]);
    assert!(
        stage.events().contains(&"SuccessfulDelete Delete Pod db-2 in StatefulSet db successful".to_owned())
    );
}

#[test]
fn parallel_pods_come_together_from_their_first_number() {
    let stage = start(3, |spec| {
        spec["podManagementPolicy"] = json!("Parallel");
        spec["ordinals"] = json!({"start": 5});
    });
    assert_eq!(pods(&stage), ["db-5 i", "db-6 i", "db-7 i"]);
}

#[test]
fn an_update_goes_from_the_highest_down() {
    let mut stage = start(3, |_| {});
    ready(&mut stage);
    set_image(&mut stage, "two");
    assert_eq!(pods(&stage), ["db-0 i", "db-1 i", "db-2 two"]);
    let told = status(&stage);
    assert_ne!(told["currentRevision"], told["updateRevision"]);
    stage.settle();
    assert_eq!(pods(&stage), ["db-0 i", "db-1 i", "db-2 two"], "the new one is not ready");
    ready(&mut stage);
    assert_eq!(pods(&stage), ["db-0 two", "db-1 two", "db-2 two"]);
    let told = status(&stage);
    assert_eq!(told["currentRevision"], told["updateRevision"]);
    set_image(&mut stage, "i");
    ready(&mut stage);
    let revisions = stage.api.read_all::<ControllerRevision>("default");
    let mut numbers: Vec<i64> = revisions.iter().map(|revision| revision.revision).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [2, 3], "going back is a new revision of the old template");
}

#[test]
fn a_partition_keeps_the_lower_pods_and_their_template() {
    let mut stage = start(3, |spec| spec["updateStrategy"] = json!({"rollingUpdate": {"partition": 2}}));
    ready(&mut stage);
    set_image(&mut stage, "two");
    ready(&mut stage);
    assert_eq!(pods(&stage), ["db-0 i", "db-1 i", "db-2 two"]);
    stage.reach("db-0", "Failed");
    stage.settle();
    ready(&mut stage);
    assert_eq!(pods(&stage)[0], "db-0 i", "it comes back as it was");
    set(&mut stage, |spec| spec["updateStrategy"]["rollingUpdate"]["partition"] = json!(0));
    ready(&mut stage);
    assert_eq!(pods(&stage)[0], "db-0 two");
}

#[test]
fn on_delete_replaces_only_what_is_gone() {
    let mut stage = start(2, |spec| spec["updateStrategy"] = json!({"type": "OnDelete"}));
    ready(&mut stage);
    set_image(&mut stage, "two");
    stage.reach("db-1", "Failed");
    stage.settle();
    ready(&mut stage);
    assert_eq!(pods(&stage), ["db-0 i", "db-1 two"]);
}

fn claimed(spec: &mut Value) {
    spec["volumeClaimTemplates"] = json!([{"metadata": {"name": "data"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}]);
}

#[test]
fn each_pod_has_its_claim_and_the_claim_stays() {
    let mut stage = start(1, claimed);
    let claim = stage.value::<PersistentVolumeClaim>("data-db-0");
    assert_eq!(claim["metadata"]["labels"], json!({"app": "db"}));
    let volume = stage.value::<Pod>("db-0")["spec"]["volumes"][0].clone();
    assert_eq!(volume, json!({"name": "data", "persistentVolumeClaim": {"claimName": "data-db-0"}}));
    ready(&mut stage);
    set(&mut stage, |spec| spec["replicas"] = json!(0));
    ready(&mut stage);
    let claim = stage.value::<PersistentVolumeClaim>("data-db-0");
    assert!(claim["metadata"]["ownerReferences"].is_null());
}

#[test]
fn claims_may_go_with_their_pods() {
    let mut stage = start(1, |spec| {
        claimed(spec);
        spec["persistentVolumeClaimRetentionPolicy"] =
            json!({"whenScaled": "Delete", "whenDeleted": "Delete"});
    });
    ready(&mut stage);
    let owner = |stage: &Stage| {
        stage.value::<PersistentVolumeClaim>("data-db-0")["metadata"]["ownerReferences"][0]["kind"].clone()
    };
    assert_eq!(owner(&stage), "StatefulSet");
    set(&mut stage, |spec| spec["replicas"] = json!(0));
    assert_eq!(owner(&stage), "Pod");
}
