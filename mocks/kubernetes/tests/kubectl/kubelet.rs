//! The kubelets of all nodes: pods that are bound run at once, and end at once when they are deleted.

use futures_util::TryStreamExt as _;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{DeleteParams, Patch, PatchParams};
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Api, Client, ResourceExt as _};
use serde_json::{Value, json};

pub(crate) async fn all(client: Client) {
    let bound = watcher::Config::default().fields("spec.nodeName!=");
    let pods = watcher(Api::<Pod>::all(client.clone()), bound).default_backoff().applied_objects();
    let seen = pods.try_for_each(|pod| {
        let client = client.clone();
        async move {
            tend(client, &pod).await;
            Ok(())
        }
    });
    let _ = seen.await;
}

async fn tend(client: Client, pod: &Pod) {
    let pods = Api::<Pod>::namespaced(client, &pod.namespace().unwrap_or_default());
    let name = pod.name_any();
    if pod.metadata.deletion_timestamp.is_some() {
        // Somebody else may have ended it.
        let _ = pods.delete(&name, &DeleteParams::default().grace_period(0)).await;
        return;
    }
    let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
    if phase == Some("Pending") {
        let _ = pods.patch_status(&name, &PatchParams::default(), &Patch::Strategic(status(pod))).await;
    }
}

fn status(pod: &Pod) -> Value {
    let policy = pod.spec.as_ref().and_then(|spec| spec.restart_policy.as_deref());
    if policy == Some("Never") {
        return json!({"status": {"phase": "Succeeded"}});
    }
    let conditions = ["Initialized", "ContainersReady", "Ready"]
        .map(|kind| json!({"type": kind, "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}));
    let containers = pod.spec.iter().flat_map(|spec| &spec.containers);
    let containers: Vec<Value> = containers
        .map(|container| {
            json!({
                "name": container.name, "image": container.image, "imageID": "", "ready": true, "restartCount": 0,
                "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}},
            })
        })
        .collect();
    json!({"status": {
        "phase": "Running", "podIP": "10.1.0.1", "conditions": conditions, "containerStatuses": containers,
    }})
}
