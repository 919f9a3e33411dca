//! ReplicaSets, with kubelets played by the test.

use k8s_openapi::api::apps::v1::ReplicaSet;
use k8s_openapi::api::core::v1::{Pod, ReplicationController};
use serde_json::{Value, json};

use super::ReplicaSets;
use crate::control::stage::{Stage, template};

fn stage() -> Stage {
    Stage::new().with(ReplicaSets::<ReplicaSet>::SHELVES, ReplicaSets::<ReplicaSet>::new())
}

fn set(replicas: i32) -> Value {
    let labels = json!({"app": "web"});
    json!({
        "metadata": {"name": "web"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template(&labels)},
    })
}

fn status(stage: &Stage) -> Value {
    stage.value::<ReplicaSet>("web")["status"].clone()
}

#[test]
fn pods_are_made_and_counted() {
    let mut stage = stage();
    stage.make::<ReplicaSet>(set(3));
    stage.settle();
    assert_eq!(stage.pods().len(), 3);
    let told =
        json!({"replicas": 3, "fullyLabeledReplicas": 3, "observedGeneration": 1, "terminatingReplicas": 0});
    assert_eq!(status(&stage), told);
    let pod = &stage.pods()[0];
    assert_eq!(pod["metadata"]["generateName"], "web-");
    assert_eq!(pod["metadata"]["ownerReferences"][0]["kind"], "ReplicaSet");
    stage.kubelets();
    assert_eq!(
        (status(&stage)["readyReplicas"].clone(), status(&stage)["availableReplicas"].clone()),
        (json!(3), json!(3))
    );
    assert!(stage.events()[0].starts_with("SuccessfulCreate Created pod: web-"));
}

#[test]
fn many_pods_come_in_batches() {
    let mut stage = stage();
    stage.make::<ReplicaSet>(set(1100));
    stage.settle();
    assert_eq!(stage.pods().len(), 1100);
}

#[test]
fn a_failed_pod_is_replaced_and_left() {
    let mut stage = stage();
    stage.make::<ReplicaSet>(set(1));
    stage.settle();
    let name = stage.pods()[0]["metadata"]["name"].as_str().unwrap().to_owned();
    stage.reach(&name, "Failed");
    stage.settle();
    assert_eq!(stage.pods().len(), 2);
    assert_eq!(status(&stage)["replicas"], 1);
}

#[test]
fn the_least_valuable_pods_go_first() {
    let mut stage = stage();
    stage.make::<ReplicaSet>(set(4));
    stage.settle();
    let names: Vec<String> =
        stage.pods().iter().map(|pod| pod["metadata"]["name"].as_str().unwrap().to_owned()).collect();
    for name in &names[1..] {
        stage.bind(name, "n");
        stage.reach(name, "Running");
    }
    stage.edit::<Pod>(&names[2], |pod| {
        pod["metadata"]["annotations"]["controller.kubernetes.io/pod-deletion-cost"] = json!("-5");
    });
    stage.edit::<ReplicaSet>("web", |set| set["spec"]["replicas"] = json!(2));
    stage.settle();
    let left: Vec<Value> = stage.live_pods().iter().map(|pod| pod["metadata"]["name"].clone()).collect();
    assert_eq!(left, [json!(names[1]), json!(names[3])]);
    assert_eq!(status(&stage)["terminatingReplicas"], 1, "the bound one takes its grace");
    stage.kubelets();
    assert_eq!(status(&stage)["terminatingReplicas"], 0);
}

#[test]
fn orphans_are_adopted_and_strangers_let_go() {
    let mut stage = stage();
    stage.make::<Pod>(json!({"metadata": {"name": "lone", "labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "image": "i"}]}}));
    stage.make::<ReplicaSet>(set(1));
    stage.settle();
    assert_eq!(stage.pods().len(), 1);
    assert_eq!(stage.value::<Pod>("lone")["metadata"]["ownerReferences"][0]["name"], "web");
    stage.edit::<Pod>("lone", |pod| pod["metadata"]["labels"]["app"] = json!("other"));
    stage.settle();
    assert_eq!(stage.pods().len(), 2);
    assert!(stage.value::<Pod>("lone")["metadata"]["ownerReferences"].is_null());
}

#[test]
fn availability_waits() {
    let mut stage = stage();
    let mut slow = set(1);
    slow["spec"]["minReadySeconds"] = json!(30);
    stage.make::<ReplicaSet>(slow);
    stage.settle();
    stage.kubelets();
    stage.pass(29);
    assert_eq!(status(&stage)["availableReplicas"], Value::Null);
    stage.pass(1);
    assert_eq!(status(&stage)["availableReplicas"], 1);
}

#[test]
fn what_cannot_be_made_is_told_and_tried_again() {
    let mut stage = stage();
    let mut wrong = set(2);
    wrong["spec"]["template"]["spec"]["priorityClassName"] = json!("missing");
    stage.make::<ReplicaSet>(wrong);
    stage.pass(0);
    let failure = &status(&stage)["conditions"][0];
    assert_eq!(
        (failure["type"].as_str(), failure["reason"].as_str()),
        (Some("ReplicaFailure"), Some("FailedCreate"))
    );
    assert!(
        stage.events()[0].starts_with("FailedCreate Error creating: pods \"web-"),
        "{:?}",
        stage.events()
    );
}

#[test]
fn replication_controllers_are_the_same() {
    let sets = ReplicaSets::<ReplicationController>::new();
    let mut stage = Stage::new().with(ReplicaSets::<ReplicationController>::SHELVES, sets);
    let labels = json!({"app": "old"});
    stage.make::<ReplicationController>(
        json!({"metadata": {"name": "old"}, "spec": {"replicas": 2, "selector": labels, "template": template(&labels)}}),
    );
    stage.settle();
    stage.kubelets();
    assert_eq!(stage.value::<ReplicationController>("old")["status"]["readyReplicas"], 2);
}
