//! Deployments with their replica sets, and kubelets played by the test.

use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
use serde_json::{Value, json};

use super::Deployments;
use crate::control::replica_set::ReplicaSets;
use crate::control::stage::{Stage, template};

fn stage() -> Stage {
    Stage::new()
        .with(Deployments::SHELVES, Deployments::new())
        .with(ReplicaSets::<ReplicaSet>::SHELVES, ReplicaSets::<ReplicaSet>::new())
}

fn deployment(replicas: i32) -> Value {
    let labels = json!({"app": "web"});
    json!({
        "metadata": {"name": "web", "annotations": {"note": "kept"}},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template(&labels)},
    })
}

fn start(deployment: Value) -> Stage {
    let mut stage = stage();
    stage.make::<Deployment>(deployment);
    stage.settle();
    stage.kubelets();
    stage
}

fn set_image(stage: &Stage, image: &str) {
    stage.edit::<Deployment>("web", |web| {
        web["spec"]["template"]["spec"]["containers"][0]["image"] = json!(image);
    });
}

fn status(stage: &Stage) -> Value {
    stage.value::<Deployment>("web")["status"].clone()
}

fn condition(stage: &Stage, kind: &str) -> (String, String) {
    let status = status(stage);
    let conditions = status["conditions"].as_array().unwrap();
    let found = conditions.iter().find(|one| one["type"] == kind).unwrap_or(&Value::Null);
    let text = |name: &str| found[name].as_str().unwrap_or_default().to_owned();
    (text("status"), text("reason"))
}

/// Image, revision and size of every set, by revision.
fn sets(stage: &Stage) -> Vec<(String, String, i64)> {
    let sets = stage.api.read_all::<ReplicaSet>("default");
    let mut sets: Vec<_> = sets
        .iter()
        .map(|set| serde_json::to_value(set).unwrap())
        .map(|set| {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            (
                text(&set["metadata"]["annotations"]["deployment.kubernetes.io/revision"]),
                text(&set["spec"]["template"]["spec"]["containers"][0]["image"]),
                set["spec"]["replicas"].as_i64().unwrap(),
            )
        })
        .collect();
    sets.sort();
    sets
}

fn row(revision: &str, image: &str, size: i64) -> (String, String, i64) {
    (revision.to_owned(), image.to_owned(), size)
}

#[test]
fn a_deployment_gets_its_set_and_says_when_it_is_done() {
    let mut stage = stage();
    stage.make::<Deployment>(deployment(3));
    stage.settle();
    assert_eq!(condition(&stage, "Available"), ("False".into(), "MinimumReplicasUnavailable".into()));
    assert_eq!(condition(&stage, "Progressing"), ("True".into(), "ReplicaSetUpdated".into()));
    stage.kubelets();
    assert_eq!(condition(&stage, "Available"), ("True".into(), "MinimumReplicasAvailable".into()));
    assert_eq!(condition(&stage, "Progressing"), ("True".into(), "NewReplicaSetAvailable".into()));
    let mut told = status(&stage);
    told.as_object_mut().unwrap().remove("conditions");
    assert_eq!(
        told,
        json!({"availableReplicas": 3, "observedGeneration": 1, "readyReplicas": 3, "replicas": 3,
            "terminatingReplicas": 0, "updatedReplicas": 3})
    );
    let set = serde_json::to_value(&stage.api.read_all::<ReplicaSet>("default")[0]).unwrap();
    let hash = set["metadata"]["labels"]["pod-template-hash"].as_str().unwrap();
    assert_eq!(set["metadata"]["name"], format!("web-{hash}"));
    assert_eq!(
        set["metadata"]["annotations"],
        json!({"deployment.kubernetes.io/desired-replicas": "3", "deployment.kubernetes.io/max-replicas": "4",
            "deployment.kubernetes.io/revision": "1", "note": "kept"})
    );
    let web = stage.value::<Deployment>("web");
    assert_eq!(web["metadata"]["annotations"]["deployment.kubernetes.io/revision"], "1");
    assert_eq!(stage.pods()[0]["metadata"]["labels"], json!({"app": "web", "pod-template-hash": hash}));
}

#[test]
fn a_rolling_update_stays_within_its_bounds() {
    let mut stage = start(deployment(10));
    set_image(&stage, "two");
    stage.settle();
    // A quarter more, rounded up; a quarter fewer, rounded down.
    assert_eq!(sets(&stage), [row("1", "i", 8), row("2", "two", 5)]);
    for _ in 0..20 {
        let live = stage.live_pods();
        let ready = live.iter().filter(|pod| pod["status"]["phase"] == "Running").count();
        assert!(live.len() <= 13 && ready >= 8, "{} live, {ready} ready", live.len());
        stage.kubelets();
    }
    assert_eq!(sets(&stage), [row("1", "i", 0), row("2", "two", 10)]);
    assert_eq!(condition(&stage, "Progressing"), ("True".into(), "NewReplicaSetAvailable".into()));
}

#[test]
fn going_back_uses_the_old_set_under_a_new_revision() {
    let mut stage = start(deployment(1));
    for image in ["two", "i"] {
        set_image(&stage, image);
        stage.settle();
        for _ in 0..4 {
            stage.kubelets();
        }
    }
    assert_eq!(sets(&stage), [row("2", "two", 0), row("3", "i", 1)]);
    let sets = stage.api.read_all::<ReplicaSet>("default");
    let history = "deployment.kubernetes.io/revision-history";
    let histories: Vec<&str> = sets
        .iter()
        .filter_map(|set| set.metadata.annotations.as_ref()?.get(history).map(String::as_str))
        .collect();
    assert_eq!(histories, ["1"]);
}

#[test]
fn recreate_waits_until_the_old_pods_are_gone() {
    let mut recreate = deployment(2);
    recreate["spec"]["strategy"] = json!({"type": "Recreate"});
    let mut stage = start(recreate);
    for pod in stage.pods() {
        stage.bind(pod["metadata"]["name"].as_str().unwrap(), "n");
    }
    set_image(&stage, "two");
    stage.settle();
    assert_eq!(sets(&stage), [row("1", "i", 0)]);
    assert_eq!(stage.pods().len(), 2);
    stage.kubelets();
    assert_eq!(sets(&stage), [row("1", "i", 0), row("2", "two", 2)]);
}

#[test]
fn scaling_within_a_rollout_is_shared_out() {
    let mut stage = start(deployment(10));
    set_image(&stage, "two");
    stage.settle();
    assert_eq!(sets(&stage), [row("1", "i", 8), row("2", "two", 5)]);
    stage.edit::<Deployment>("web", |web| web["spec"]["replicas"] = json!(20));
    stage.settle();
    // 25 may be there: twelve more, of which the larger set gets its share and what is left.
    assert_eq!(sets(&stage), [row("1", "i", 15), row("2", "two", 10)]);
}

#[test]
fn a_paused_deployment_scales_but_does_not_roll() {
    let mut stage = start(deployment(2));
    stage.edit::<Deployment>("web", |web| web["spec"]["paused"] = json!(true));
    set_image(&stage, "two");
    stage.edit::<Deployment>("web", |web| web["spec"]["replicas"] = json!(5));
    stage.settle();
    assert_eq!(sets(&stage), [row("1", "i", 5)]);
    assert_eq!(condition(&stage, "Progressing"), ("Unknown".into(), "DeploymentPaused".into()));
    stage.edit::<Deployment>("web", |web| web["spec"]["paused"] = json!(false));
    stage.settle();
    assert_eq!(sets(&stage).len(), 2);
}

#[test]
fn lack_of_progress_is_noticed_in_time() {
    let mut stage = stage();
    stage.make::<Deployment>(deployment(1));
    stage.pass(600);
    assert_eq!(condition(&stage, "Progressing").1, "ReplicaSetUpdated");
    stage.pass(2);
    assert_eq!(condition(&stage, "Progressing"), ("False".into(), "ProgressDeadlineExceeded".into()));
    stage.kubelets();
    assert_eq!(condition(&stage, "Progressing"), ("True".into(), "NewReplicaSetAvailable".into()));
}

#[test]
fn history_is_cut() {
    let mut short = deployment(1);
    short["spec"]["revisionHistoryLimit"] = json!(1);
    let mut stage = start(short);
    for image in ["two", "three", "four"] {
        set_image(&stage, image);
        stage.settle();
        for _ in 0..4 {
            stage.kubelets();
        }
    }
    assert_eq!(sets(&stage), [row("3", "three", 0), row("4", "four", 1)]);
}

#[test]
fn a_taken_name_is_a_collision() {
    let mut stage = start(deployment(1));
    let set = stage.api.read_all::<ReplicaSet>("default").remove(0);
    let name = set.metadata.name.unwrap();
    // Somebody else's set under the name that the first template would get again.
    stage.edit::<ReplicaSet>(&name, |set| {
        set["metadata"]["labels"] = json!({"app": "other"});
        set["metadata"]["ownerReferences"] = json!([]);
    });
    stage.settle();
    stage.pass(1);
    assert_eq!(status(&stage)["collisionCount"], 1);
    assert_eq!(sets(&stage).len(), 2);
}

#[test]
fn what_a_set_cannot_make_the_deployment_tells() {
    let mut wrong = deployment(1);
    wrong["spec"]["template"]["spec"]["priorityClassName"] = json!("missing");
    let mut stage = stage();
    stage.make::<Deployment>(wrong);
    stage.settle();
    assert_eq!(condition(&stage, "ReplicaFailure"), ("True".into(), "FailedCreate".into()));
}

#[test]
fn nothing_is_waited_for_once_a_rollout_is_over() {
    let mut stage = start(deployment(1));
    stage.pass(601);
    stage.edit::<Deployment>("web", |web| web["spec"]["replicas"] = json!(2));
    // The second pod finds no node.
    stage.settle();
    assert_eq!(condition(&stage, "Progressing"), ("True".into(), "NewReplicaSetAvailable".into()));
    assert_eq!(condition(&stage, "Available"), ("False".into(), "MinimumReplicasUnavailable".into()));
    assert_eq!(stage.due(), None);
}
