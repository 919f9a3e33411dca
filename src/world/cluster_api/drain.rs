//! A node before its machine goes: it takes no more pods, and those on it are evicted until none is left. A node that is not
//! ready is not waited for: nobody there could end anything.

use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt as _;
use kube::api::{Api, EvictParams, ListParams};
use mock_clock::Clock as _;
use serde_json::json;

use super::kinds::Kind;
use super::reading::is_ready;
use super::shop::Shop;

/// How often it is looked who is still there.
const LOOK: Duration = Duration::from_secs(10);

/// Drains a node, if it is there and can be.
pub(super) async fn drain(shop: &Shop, node: &str) {
    let reachable = || shop.shelf.get(Kind::Node, node).is_some_and(|node| is_ready(&node));
    if !reachable() {
        return;
    }
    shop.patch(Kind::Node, node, &json!({"spec": {"unschedulable": true}})).await;
    let all: Api<Pod> = Api::all(shop.site.client.clone());
    let on_it = ListParams::default().fields(&format!("spec.nodeName={node}"));
    while reachable() {
        let pods = shop.site.call("list the pods of a node", || all.list(&on_it)).await;
        let guests: Vec<Pod> = pods.into_iter().flatten().filter(is_guest).collect();
        if guests.is_empty() {
            return;
        }
        for pod in guests.iter().filter(|pod| pod.metadata.deletion_timestamp.is_none()) {
            let of: Api<Pod> =
                Api::namespaced(shop.site.client.clone(), &pod.namespace().unwrap_or_default());
            // Who may not go now is asked again.
            let _ = of.evict(&pod.name_any(), &EvictParams::default()).await;
        }
        shop.site.clock.sleep(LOOK).await;
    }
}

/// Whether a pod has to leave: daemons and what the kubelet runs itself end with the node.
fn is_guest(pod: &Pod) -> bool {
    let daemon = pod.owner_references().iter().any(|owner| owner.kind == "DaemonSet");
    let mirror = pod.annotations().contains_key("kubernetes.io/config.mirror");
    let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
    !daemon && !mirror && !matches!(phase, Some("Succeeded" | "Failed"))
}
