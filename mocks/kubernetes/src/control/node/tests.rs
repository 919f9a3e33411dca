//! Nodes that are heard and nodes that are not.

use serde_json::{Value, json};

use super::super::amend::condition;
use super::super::rig::Rig;
use super::{Grace, Lifecycle, SHELVES};

fn rig() -> Rig {
    let mut rig = Rig::new();
    let api = rig.api.clone();
    rig.start("node", SHELVES, move || Lifecycle::new(&api, Grace::default()));
    rig
}

fn node(name: &str, ready: &str) -> Value {
    json!({
        "metadata": {"name": name},
        "status": {"conditions": [{
            "type": "Ready", "status": ready, "reason": "KubeletReady", "message": "",
            "lastHeartbeatTime": "2030-01-01T00:00:00Z", "lastTransitionTime": "2030-01-01T00:00:00Z",
        }]},
    })
}

fn taints(rig: &Rig, name: &str) -> Vec<String> {
    let node = rig.get("nodes", "", name).unwrap();
    let text = |taint: &Value, field: &str| taint[field].as_str().unwrap().to_owned();
    let list = node["spec"]["taints"].as_array().cloned().unwrap_or_default();
    let short = |taint: &Value| text(taint, "key").trim_start_matches("node.kubernetes.io/").to_owned();
    list.iter().map(|taint| format!("{}:{}", short(taint), text(taint, "effect"))).collect()
}

fn ready(rig: &Rig, name: &str) -> Value {
    condition(&rig.get("nodes", "", name).unwrap(), "Ready").unwrap()["status"].clone()
}

fn renew(rig: &Rig, name: &str) {
    let now = rig.api.now().to_string().replace('Z', ".000000Z");
    if rig.get("leases", "kube-node-lease", name).is_none() {
        rig.put("leases", "kube-node-lease", json!({"metadata": {"name": name}, "spec": {"renewTime": now}}));
    } else {
        rig.edit("leases", "kube-node-lease", name, "", |lease| lease["spec"]["renewTime"] = json!(now));
    }
}

#[tokio::test]
async fn a_node_that_becomes_ready_loses_its_first_taint() {
    let rig = rig();
    rig.put("nodes", "", node("a", "True"));
    rig.put("nodes", "", node("b", "False"));
    assert_eq!(taints(&rig, "a"), ["not-ready:NoSchedule"]);
    rig.pass(1).await;
    assert!(taints(&rig, "a").is_empty());
    assert_eq!(taints(&rig, "b"), ["not-ready:NoSchedule", "not-ready:NoExecute"]);
    assert_eq!(rig.reasons(), ["RegisteredNode", "RegisteredNode"]);
}

#[tokio::test]
async fn a_silent_node_is_unknown_and_its_pods_are_not_ready() {
    let rig = rig();
    for name in ["a", "b", "c"] {
        rig.put("nodes", "", node(name, "True"));
    }
    rig.put(
        "pods",
        "default",
        json!({
            "metadata": {"name": "p"},
            "spec": {"nodeName": "a", "containers": [{"name": "c", "image": "i"}]},
        }),
    );
    rig.edit("pods", "default", "p", "status", |pod| {
        pod["status"] = json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]});
    });
    for _ in 0..5 {
        rig.pass(10).await;
        renew(&rig, "b");
        renew(&rig, "c");
        assert_eq!(ready(&rig, "a"), "True");
    }
    rig.pass(6).await;
    assert_eq!([ready(&rig, "a"), ready(&rig, "b")], ["Unknown", "True"]);
    assert_eq!(taints(&rig, "a"), ["unreachable:NoSchedule", "unreachable:NoExecute"]);
    let pod = rig.get("pods", "default", "p").unwrap();
    assert_eq!(condition(&pod, "Ready").unwrap()["status"], "False");
    assert!(rig.reasons().contains(&"NodeNotReady".to_owned()));

    rig.edit("nodes", "", "a", "status", |a| {
        a["status"]["conditions"][0]["status"] = json!("True");
        a["status"]["conditions"][0]["lastHeartbeatTime"] = json!("2030-01-01T00:01:00Z");
    });
    rig.settle().await;
    assert!(taints(&rig, "a").is_empty());
}

#[tokio::test]
async fn if_nobody_is_heard_nobody_is_evicted() {
    let rig = rig();
    rig.put("nodes", "", node("a", "True"));
    rig.put("nodes", "", node("b", "True"));
    rig.pass(60).await;
    assert_eq!([ready(&rig, "a"), ready(&rig, "b")], ["Unknown", "Unknown"]);
    assert_eq!(taints(&rig, "a"), ["unreachable:NoSchedule"]);
    assert_eq!(taints(&rig, "b"), ["unreachable:NoSchedule"]);
}

#[tokio::test]
async fn a_node_that_never_said_a_word_is_unknown_after_a_minute() {
    let rig = rig();
    rig.put("nodes", "", json!({"metadata": {"name": "a"}}));
    rig.pass(59).await;
    assert!(condition(&rig.get("nodes", "", "a").unwrap(), "Ready").is_none());
    rig.pass(7).await;
    let node = rig.get("nodes", "", "a").unwrap();
    assert_eq!(condition(&node, "MemoryPressure").unwrap()["reason"], "NodeStatusNeverUpdated");
}

#[tokio::test]
async fn conditions_and_cordons_are_taints() {
    let rig = rig();
    rig.put("nodes", "", node("a", "True"));
    rig.edit("nodes", "", "a", "", |a| a["spec"]["unschedulable"] = json!(true));
    rig.edit("nodes", "", "a", "status", |a| {
        let pressure = json!({"type": "DiskPressure", "status": "True"});
        a["status"]["conditions"].as_array_mut().unwrap().push(pressure);
    });
    rig.settle().await;
    assert_eq!(taints(&rig, "a"), ["disk-pressure:NoSchedule", "unschedulable:NoSchedule"]);
    rig.edit("nodes", "", "a", "", |a| a["spec"]["unschedulable"] = Value::Null);
    rig.settle().await;
    assert_eq!(taints(&rig, "a"), ["disk-pressure:NoSchedule"]);
}
