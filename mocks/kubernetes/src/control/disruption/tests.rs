//! Budgets as pods come, become ready, and go.

use serde_json::{Value, json};

use super::super::amend::condition;
use super::super::rig::Rig;
use super::{Disruption, SHELVES};
use crate::api::{Delete, Target, Write};

fn rig() -> Rig {
    let mut rig = Rig::new();
    rig.start("disruption", SHELVES, Disruption::new);
    rig
}

fn pod(rig: &Rig, name: &str, owner: Option<Value>) {
    rig.put("pods", "default", json!({
        "metadata": {"name": name, "labels": {"app": "x"}, "ownerReferences": owner.map(|owner| json!([owner]))},
        "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]},
    }));
    rig.edit("pods", "default", name, "status", |pod| {
        pod["status"] = json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]});
    });
}

fn budget(rig: &Rig, spec: Value) {
    let mut spec = spec;
    spec["selector"] = json!({"matchLabels": {"app": "x"}});
    rig.put("poddisruptionbudgets", "default", json!({"metadata": {"name": "b"}, "spec": spec}));
}

fn owner(rig: &Rig, kind: &str, plural: &str, name: &str, extra: Value) -> Value {
    let mut body = json!({
        "metadata": {"name": name},
        "spec": {
            "selector": {"matchLabels": {"app": "x"}},
            "template": {
                "metadata": {"labels": {"app": "x"}},
                "spec": {"containers": [{"name": "c", "image": "i"}]},
            },
        },
    });
    for (field, value) in extra.as_object().unwrap() {
        if field == "ownerReferences" {
            body["metadata"][field] = value.clone();
        } else {
            body["spec"][field] = value.clone();
        }
    }
    let made = rig.put(plural, "default", body);
    json!({
        "apiVersion": "apps/v1", "kind": kind, "name": name, "uid": made["metadata"]["uid"], "controller": true,
    })
}

/// Expected, desired, healthy, allowed, reason.
fn told(rig: &Rig) -> (i64, i64, i64, i64, String) {
    let budget = rig.get("poddisruptionbudgets", "default", "b").unwrap();
    let status = &budget["status"];
    let number = |field: &str| status[field].as_i64().unwrap();
    let condition = condition(&budget, "DisruptionAllowed").unwrap();
    (
        number("expectedPods"),
        number("desiredHealthy"),
        number("currentHealthy"),
        number("disruptionsAllowed"),
        condition["reason"].as_str().unwrap().to_owned(),
    )
}

fn evict(rig: &Rig, name: &str) -> u16 {
    let registry = rig.api.registry();
    let resource = registry.find("", "v1", "pods").unwrap();
    let target = Target { resource, namespace: "default", name, subresource: "eviction" };
    let evicted = rig.api.evict(&target, &Delete::default(), &Write::by("tester"));
    evicted.map_or_else(|status| status.code, |()| 201)
}

#[tokio::test]
async fn a_number_counts_the_pods_that_are_there() {
    let rig = rig();
    budget(&rig, json!({"minAvailable": 2}));
    rig.settle().await;
    assert_eq!(told(&rig), (0, 2, 0, 0, "InsufficientPods".to_owned()));
    for name in ["a", "b", "c"] {
        pod(&rig, name, None);
    }
    rig.settle().await;
    assert_eq!(told(&rig), (3, 2, 3, 1, "SufficientPods".to_owned()));
    let budget = rig.get("poddisruptionbudgets", "default", "b").unwrap();
    assert_eq!(budget["status"]["observedGeneration"], 1);
    assert_eq!(budget["status"]["conditions"][0]["message"], "");
    rig.edit("pods", "default", "a", "status", |pod| {
        pod["status"]["conditions"][0]["status"] = json!("False");
    });
    rig.settle().await;
    assert_eq!(told(&rig), (3, 2, 2, 0, "InsufficientPods".to_owned()));
}

#[tokio::test]
async fn a_share_is_of_what_the_deployment_wants() {
    let rig = rig();
    let deployment = owner(&rig, "Deployment", "deployments", "d", json!({"replicas": 10}));
    let old = json!({"replicas": 1, "ownerReferences": [deployment]});
    let old = owner(&rig, "ReplicaSet", "replicasets", "old", old);
    let new = json!({"replicas": 9, "ownerReferences": [deployment]});
    let new = owner(&rig, "ReplicaSet", "replicasets", "new", new);
    pod(&rig, "a", Some(old));
    pod(&rig, "b", Some(new));
    budget(&rig, json!({"maxUnavailable": "25%"}));
    rig.settle().await;
    assert_eq!(told(&rig), (10, 7, 2, 0, "InsufficientPods".to_owned()));
    rig.edit("deployments", "default", "d", "", |deployment| deployment["spec"]["replicas"] = json!(2));
    rig.settle().await;
    assert_eq!(told(&rig), (2, 1, 2, 1, "SufficientPods".to_owned()));
}

#[tokio::test]
async fn what_cannot_be_counted_may_not_go() {
    let rig = rig();
    let job = json!({"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "u", "controller": true});
    pod(&rig, "a", Some(job));
    budget(&rig, json!({"maxUnavailable": 1}));
    rig.settle().await;
    let budget = rig.get("poddisruptionbudgets", "default", "b").unwrap();
    let condition = condition(&budget, "DisruptionAllowed").unwrap();
    assert_eq!(condition["reason"], "SyncFailed");
    assert_eq!(condition["message"], "jobs.batch does not implement the scale subresource");
}

#[tokio::test]
async fn an_eviction_is_remembered_until_it_happens_or_two_minutes_pass() {
    let rig = rig();
    for name in ["a", "b", "c"] {
        pod(&rig, name, None);
    }
    budget(&rig, json!({"minAvailable": 1}));
    rig.settle().await;
    assert_eq!(evict(&rig, "a"), 201);
    rig.settle().await;
    assert_eq!(told(&rig), (3, 1, 2, 1, "SufficientPods".to_owned()));
    let disrupted = |rig: &Rig| {
        rig.get("poddisruptionbudgets", "default", "b").unwrap()["status"]["disruptedPods"].clone()
    };
    assert_eq!(disrupted(&rig), Value::Null, "it is being deleted, which is as good");
    rig.edit("poddisruptionbudgets", "default", "b", "status", |budget| {
        budget["status"]["disruptedPods"] =
            json!({"b": "2030-01-01T00:00:00Z", "ghost": "2030-01-01T00:00:00Z"});
    });
    rig.settle().await;
    assert_eq!(disrupted(&rig), json!({"b": "2030-01-01T00:00:00Z"}));
    assert_eq!(told(&rig), (3, 1, 1, 0, "InsufficientPods".to_owned()));
    rig.pass(120).await;
    assert_eq!(disrupted(&rig), Value::Null);
    assert_eq!(told(&rig), (3, 1, 2, 1, "SufficientPods".to_owned()));
}

#[tokio::test]
async fn a_pod_that_was_said_to_go_and_did_not_is_not_said_to_go() {
    let rig = rig();
    pod(&rig, "a", None);
    rig.edit("pods", "default", "a", "status", |pod| {
        let target = json!({
            "type": "DisruptionTarget", "status": "True", "lastTransitionTime": "2030-01-01T00:00:00Z",
        });
        pod["status"]["conditions"].as_array_mut().unwrap().push(target);
    });
    let target = |rig: &Rig| {
        let pod = rig.get("pods", "default", "a").unwrap();
        condition(&pod, "DisruptionTarget").unwrap()["status"].clone()
    };
    rig.pass(119).await;
    assert_eq!(target(&rig), "True");
    rig.pass(1).await;
    assert_eq!(target(&rig), "False");
}
