//! On a clock that skips idle time, what takes a real cluster minutes takes no time: and nothing is skipped over while
//! a request is on its way.

use std::time::Duration;

use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{Api, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use mock_clock::{Clock, VirtualClock};
use mock_kubernetes::ControlPlane;
use serde_json::json;

async fn client(control_plane: &ControlPlane) -> Client {
    let kubeconfig = Kubeconfig::from_yaml(&control_plane.kubeconfig()).unwrap();
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    Client::try_from(config).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_node_loses_its_pods_after_minutes_that_nobody_waits_for() {
    let clock = VirtualClock::idle_skip().unwrap();
    let control_plane = ControlPlane::builder().clock(clock.clone()).start().await.unwrap();
    let client = client(&control_plane).await;
    let begin = clock.now();

    let nodes = Api::<Node>::all(client.clone());
    let ready = json!({"type": "Ready", "status": "True", "reason": "KubeletReady",
        "lastHeartbeatTime": begin.to_string(), "lastTransitionTime": begin.to_string()});
    let node = json!({
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": "silent"},
        "status": {
            "capacity": {"cpu": "4", "memory": "8Gi", "pods": "110"},
            "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"},
            "conditions": [ready],
        },
    });
    nodes.create(&PostParams::default(), &serde_json::from_value(node).unwrap()).await.unwrap();

    let pods = Api::<Pod>::namespaced(client, "default");
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "guest"},
        "spec": {"containers": [{"name": "c", "image": "i"}], "terminationGracePeriodSeconds": 0},
    });
    pods.create(&PostParams::default(), &serde_json::from_value(pod).unwrap()).await.unwrap();

    let bound =
        |pod: Option<&Pod>| pod.and_then(|pod| pod.spec.as_ref()?.node_name.as_deref()) == Some("silent");
    kube::runtime::wait::await_condition(pods.clone(), "guest", bound).await.unwrap();
    let gone = |pod: Option<&Pod>| pod.is_none();
    kube::runtime::wait::await_condition(pods, "guest", gone).await.unwrap();

    // Silent for long enough, and tolerated for five minutes after that.
    let waited = clock.now() - begin;
    assert!(waited >= Duration::from_secs(340), "evicted after {waited:?}");
    assert!(waited <= Duration::from_secs(400), "evicted after {waited:?}");
    let node = nodes.get("silent").await.unwrap();
    let taints = node.spec.and_then(|spec| spec.taints).unwrap_or_default();
    assert!(taints.iter().any(|taint| taint.key == "node.kubernetes.io/unreachable"), "{taints:?}");
    println!("{waited:?} in {:?}", clock.real_elapsed());
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
