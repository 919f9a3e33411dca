//! DaemonSets on nodes without kubelets: the test binds their pods and lets them run.

use k8s_openapi::api::apps::v1::{ControllerRevision, DaemonSet};
use k8s_openapi::api::core::v1::Node;
use serde_json::{Value, json};

use super::DaemonSets;
use crate::api::{Delete, Write};
use crate::control::stage::{Stage, template};

fn start(nodes: &[&str], change: impl Fn(&mut Value)) -> Stage {
    let mut stage = Stage::new().with(DaemonSets::SHELVES, DaemonSets::new());
    for node in nodes {
        make_node(&stage, node, &json!([]));
    }
    let labels = json!({"app": "agent"});
    let mut set = json!({
        "metadata": {"name": "agent"},
        "spec": {"selector": {"matchLabels": labels}, "template": template(&labels)},
    });
    change(&mut set);
    stage.make::<DaemonSet>(set);
    run(&mut stage);
    stage
}

fn make_node(stage: &Stage, name: &str, taints: &Value) {
    let node = json!({"metadata": {"name": name, "labels": {"name": name}}, "spec": {"taints": taints}});
    stage.api.make::<Node>("", &serde_json::from_value(node).unwrap(), &Write::by("tester")).unwrap();
    stage
        .api
        .edit::<Node>(("", name, ""), &Write::by("tester"), |node| {
            node.spec.get_or_insert_default().taints = serde_json::from_value(taints.clone()).unwrap();
            Ok(())
        })
        .unwrap();
}

/// The node that a pod is meant for.
fn meant(pod: &Value) -> String {
    let term = &pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
        [0];
    term["matchFields"][0]["values"][0].as_str().unwrap().to_owned()
}

fn bind(stage: &mut Stage) {
    stage.settle();
    for pod in stage.live_pods() {
        if pod["spec"]["nodeName"].is_null() {
            stage.bind(pod["metadata"]["name"].as_str().unwrap(), &meant(&pod));
        }
    }
    stage.settle();
}

fn run(stage: &mut Stage) {
    bind(stage);
    stage.kubelets();
}

/// Node and image of every pod that is not about to go.
fn pods(stage: &Stage) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or("nowhere").to_owned();
    let pods = stage.live_pods().into_iter();
    let mut pods: Vec<String> = pods
        .map(|pod| {
            format!("{} {}", text(&pod["spec"]["nodeName"]), text(&pod["spec"]["containers"][0]["image"]))
        })
        .collect();
    pods.sort();
    pods
}

fn status(stage: &Stage) -> Value {
    stage.value::<DaemonSet>("agent")["status"].clone()
}

fn set_image(stage: &mut Stage, image: &str) {
    stage.edit::<DaemonSet>("agent", |set| {
        set["spec"]["template"]["spec"]["containers"][0]["image"] = json!(image)
    });
    stage.settle();
}

#[test]
fn every_node_gets_its_daemon() {
    let mut stage = start(&["a", "b"], |_| {});
    assert_eq!(pods(&stage), ["a i", "b i"]);
    assert_eq!(
        status(&stage),
        json!({"currentNumberScheduled": 2, "desiredNumberScheduled": 2, "numberAvailable": 2, "numberMisscheduled": 0,
            "numberReady": 2, "observedGeneration": 1, "updatedNumberScheduled": 2})
    );
    let pod = &stage.pods()[0];
    assert_eq!(pod["spec"]["tolerations"].as_array().unwrap().len(), 6);
    let revision = stage.api.read_all::<ControllerRevision>("default").remove(0);
    assert_eq!(
        pod["metadata"]["labels"]["controller-revision-hash"],
        revision.metadata.labels.unwrap()["controller-revision-hash"]
    );
    make_node(&stage, "c", &json!([]));
    run(&mut stage);
    assert_eq!(pods(&stage).len(), 3);
}

#[test]
fn labels_and_taints_decide() {
    let taint = |key: &str, effect: &str| json!([{"key": key, "effect": effect}]);
    let mut stage =
        start(&["a"], |set| set["spec"]["template"]["spec"]["nodeSelector"] = json!({"kind": "x"}));
    assert_eq!(pods(&stage).len(), 0);
    let label = |stage: &Stage, name: &str| {
        let edited = stage.api.edit::<Node>(("", name, ""), &Write::by("tester"), |node| {
            node.metadata.labels = Some([("kind".to_owned(), "x".to_owned())].into());
            Ok(())
        });
        edited.unwrap();
    };
    label(&stage, "a");
    for (name, taints) in [
        ("b", taint("mine", "NoSchedule")),
        ("c", taint("node.kubernetes.io/unschedulable", "NoSchedule")),
        ("d", taint("mine", "PreferNoSchedule")),
    ] {
        make_node(&stage, name, &taints);
        label(&stage, name);
    }
    run(&mut stage);
    assert_eq!(pods(&stage), ["a i", "c i", "d i"]);
    // A taint that only keeps others away lets a running one stay, one that drives away does not.
    for (effect, left) in [("NoSchedule", 3), ("NoExecute", 2)] {
        make_taint(&stage, "a", &taint("mine", effect));
        stage.settle();
        assert_eq!(pods(&stage).len(), left, "{effect}");
    }
}

fn make_taint(stage: &Stage, node: &str, taints: &Value) {
    let edited = stage.api.edit::<Node>(("", node, ""), &Write::by("tester"), |node| {
        node.spec.get_or_insert_default().taints = serde_json::from_value(taints.clone()).unwrap();
        Ok(())
    });
    edited.unwrap();
}

#[test]
fn an_update_takes_one_node_after_the_other() {
    let mut stage = start(&["a", "b", "c"], |_| {});
    set_image(&mut stage, "two");
    assert_eq!(pods(&stage), ["b i", "c i"], "the first has to stop before another comes");
    for _ in 0..8 {
        let running = stage.live_pods().iter().filter(|pod| pod["status"]["phase"] == "Running").count();
        assert!(running >= 2);
        stage.kubelets();
        run(&mut stage);
    }
    assert_eq!(pods(&stage), ["a two", "b two", "c two"]);
    assert_eq!(status(&stage)["updatedNumberScheduled"], 3);
    assert_eq!(stage.api.read_all::<ControllerRevision>("default").len(), 2);
}

#[test]
fn a_surging_update_never_leaves_a_node_without() {
    let mut stage = start(&["a", "b"], |set| {
        set["spec"]["updateStrategy"] = json!({"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}});
    });
    set_image(&mut stage, "two");
    bind(&mut stage);
    assert_eq!(pods(&stage), ["a i", "a two", "b i"]);
    for _ in 0..8 {
        run(&mut stage);
    }
    assert_eq!(pods(&stage), ["a two", "b two"]);
}

#[test]
fn on_delete_waits_for_somebody_to_delete() {
    let mut stage = start(&["a"], |set| set["spec"]["updateStrategy"] = json!({"type": "OnDelete"}));
    set_image(&mut stage, "two");
    assert_eq!(pods(&stage), ["a i"]);
    let name = stage.pods()[0]["metadata"]["name"].as_str().unwrap().to_owned();
    stage
        .api
        .discard::<k8s_openapi::api::core::v1::Pod>("default", &name, &Delete::now(), &Write::by("tester"))
        .unwrap();
    run(&mut stage);
    assert_eq!(pods(&stage), ["a two"]);
}

#[test]
fn failed_daemons_are_replaced_later_each_time() {
    let mut stage = start(&["a"], |_| {});
    for _ in 0..8 {
        let pod = stage.live_pods().remove(0);
        stage.reach(pod["metadata"]["name"].as_str().unwrap(), "Failed");
        bind(&mut stage);
        stage.pass(1);
        bind(&mut stage);
    }
    let killed = stage.events().iter().filter(|event| event.starts_with("FailedDaemonPod")).count();
    assert_eq!(killed, 4, "at 0, 1, 3 and 7 seconds");
}
