//! On a clock that skips idle time, what takes a real cluster minutes takes no time: and nothing is skipped over while
//! a request is on its way.

#![expect(clippy::unwrap_used, reason = "all of this binary is a test")]

use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{Api, Patch, PatchParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::runtime::wait::await_condition;
use kube::{Client, Config};
use mock_clock::{Clock, Time, VirtualClock};
use mock_kubernetes::ControlPlane;
use serde_json::json;

async fn client(control_plane: &ControlPlane) -> Client {
    let kubeconfig = Kubeconfig::from_yaml(&control_plane.kubeconfig()).unwrap();
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    Client::try_from(config).unwrap()
}

fn node(name: &str, now: Time) -> Node {
    let now = now.to_string();
    let ready = json!({"type": "Ready", "status": "True", "reason": "KubeletReady",
        "lastHeartbeatTime": now, "lastTransitionTime": now});
    let resources = json!({"cpu": "4", "memory": "8Gi", "pods": "110"});
    let node = json!({
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"name": name}},
        "status": {"capacity": resources, "allocatable": resources, "conditions": [ready]},
    });
    serde_json::from_value(node).unwrap()
}

fn lease(name: &str, now: Time) -> Lease {
    let lease = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name},
        "spec": {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": micros(now)},
    });
    serde_json::from_value(lease).unwrap()
}

fn micros(now: Time) -> String {
    format!("{:.6}", jiff::Timestamp::from(now))
}

/// A kubelet that does nothing but live.
async fn renew(client: Client, clock: VirtualClock, name: &'static str) {
    let leases = Api::<Lease>::namespaced(client, "kube-node-lease");
    leases.create(&PostParams::default(), &lease(name, clock.now())).await.unwrap();
    loop {
        clock.sleep(Duration::from_secs(10)).await;
        let renewed = json!({"spec": {"renewTime": micros(clock.now())}});
        leases.patch(name, &PatchParams::default(), &Patch::Merge(renewed)).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_node_loses_its_pods_after_minutes_that_nobody_waits_for() {
    let clock = VirtualClock::idle_skip().unwrap();
    let control_plane = ControlPlane::builder().clock(clock.clone()).start().await.unwrap();
    let client = client(&control_plane).await;
    let begin = clock.now();

    let nodes = Api::<Node>::all(client.clone());
    // If all were silent, the control plane would blame itself and evict nobody.
    for name in ["lively", "silent"] {
        nodes.create(&PostParams::default(), &node(name, begin)).await.unwrap();
    }
    let kubelet = tokio::spawn(renew(client.clone(), clock.clone(), "lively"));

    let pods = Api::<Pod>::namespaced(client, "default");
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "guest"},
        "spec": {
            "nodeSelector": {"name": "silent"},
            "containers": [{"name": "c", "image": "i"}],
            "terminationGracePeriodSeconds": 0,
        },
    });
    pods.create(&PostParams::default(), &serde_json::from_value(pod).unwrap()).await.unwrap();
    let bound =
        |pod: Option<&Pod>| pod.and_then(|pod| pod.spec.as_ref()?.node_name.as_deref()) == Some("silent");
    await_condition(pods.clone(), "guest", bound).await.unwrap();
    await_condition(pods, "guest", |pod: Option<&Pod>| pod.is_none()).await.unwrap();

    // Silent for long enough to be noticed, and tolerated for five minutes after that.
    let waited = clock.now() - begin;
    assert!((340..=400).contains(&waited.as_secs()), "evicted after {waited:?}");
    let taints = |node: Node| node.spec.and_then(|spec| spec.taints).unwrap_or_default();
    let unreachable =
        |node: Node| taints(node).iter().any(|taint| taint.key == "node.kubernetes.io/unreachable");
    assert!(unreachable(nodes.get("silent").await.unwrap()));
    assert!(!unreachable(nodes.get("lively").await.unwrap()));
    println!("{waited:?} virtual in {:?}", clock.real_elapsed());
    kubelet.abort();
    control_plane.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_control_planes_live_side_by_side() {
    let clock = VirtualClock::idle_skip().unwrap();
    let mut all = Vec::new();
    for seed in 0..8 {
        all.push(ControlPlane::builder().clock(clock.clone()).seed(seed).start().await.unwrap());
    }
    for control_plane in &all {
        let version = client(control_plane).await.apiserver_version().await.unwrap();
        assert_eq!(version.minor, "35");
    }
    for control_plane in all {
        control_plane.stop().await;
    }
}
