//! Faults at the nodes of a pool: volumes that stay attached, and taints that somebody sets.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use k8s_openapi::api::core::v1::{self, Node, PersistentVolume};
use k8s_openapi::api::storage::v1::VolumeAttachment;
use kube::api::{Api, DeleteParams, ListParams, PostParams};
use kube::{Client, ResourceExt as _};
use mock_clock::Clock as _;
use serde_json::json;

use super::Victims;
use crate::terms::{Provider, Taint};

/// How often is looked for nodes that were not there before.
const LOOK: Duration = Duration::from_millis(500);
/// How often a node is read and written again when others write it, too.
const REWRITES: u32 = 20;
/// Attachments that are ours.
const OURS: &str = "scaleproof.dev/stuck=true";

/// Nodes of a pool, whoever has bought them.
async fn nodes_of(client: &Client, pool: &str) -> Vec<Node> {
    let list = Api::<Node>::all(client.clone()).list(&ListParams::default()).await;
    let of = |node: &Node| {
        Provider::ALL.iter().any(|it| node.labels().get(it.pool_label()).is_some_and(|of| of == pool))
    };
    // Whoever cannot be asked now is asked again.
    list.map(|list| list.items.into_iter().filter(of).collect()).unwrap_or_default()
}

/// Attaches a volume to each node of a pool, until it is aborted.
pub(super) async fn attach(victims: Victims, pool: String, bites: Arc<AtomicU64>, bite: Box<impl Fn(&str)>) {
    let volumes: Api<PersistentVolume> = Api::all(victims.client.clone());
    let attachments: Api<VolumeAttachment> = Api::all(victims.client.clone());
    let mut done = BTreeSet::new();
    loop {
        for node in nodes_of(&victims.client, &pool).await {
            let name = node.name_any();
            let written = json!({
                "metadata": {"name": format!("stuck-{name}"), "labels": {"scaleproof.dev/stuck": "true"}},
                "spec": {"attacher": "csi.example.com", "nodeName": name, "source": {"persistentVolumeName": format!("volume-{name}")}},
            });
            let Ok(attachment) = serde_json::from_value::<VolumeAttachment>(written) else { return };
            // What is attached without a volume is detached at once.
            let volume = json!({
                "metadata": {"name": format!("volume-{name}")},
                "spec": {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"},
                    "csi": {"driver": "csi.example.com", "volumeHandle": format!("stuck-{name}")}},
            });
            let Ok(volume) = serde_json::from_value::<PersistentVolume>(volume) else { return };
            let params = PostParams::default();
            if done.contains(&name)
                || volumes.create(&params, &volume).await.is_err()
                || attachments.create(&params, &attachment).await.is_err()
            {
                continue;
            }
            if bites.fetch_add(1, Ordering::Relaxed) == 0 {
                bite(&format!("node {name}"));
            }
            done.insert(name);
        }
        victims.clock.sleep(LOOK * 10).await;
    }
}

/// Detaches what was attached.
pub(super) async fn detach(client: Client) {
    let volumes: Api<PersistentVolume> = Api::all(client.clone());
    let attachments: Api<VolumeAttachment> = Api::all(client);
    let Ok(list) = attachments.list(&ListParams::default().labels(OURS)).await else { return };
    for attachment in list.items {
        // One that is gone is gone.
        let _ = attachments.delete(&attachment.name_any(), &DeleteParams::default()).await;
        if let Some(volume) = attachment.spec.source.persistent_volume_name {
            let _ = volumes.delete(&volume, &DeleteParams::default()).await;
        }
    }
}

/// Taints each node of a pool once, until it is aborted.
pub(super) async fn taint(
    victims: Victims,
    pool: String,
    taint: Taint,
    bites: Arc<AtomicU64>,
    bite: Box<impl Fn(&str)>,
) {
    let nodes: Api<Node> = Api::all(victims.client.clone());
    let mut done = BTreeSet::new();
    loop {
        for node in nodes_of(&victims.client, &pool).await {
            let name = node.name_any();
            if !done.contains(&name) && set(&nodes, &name, &taint).await {
                if bites.fetch_add(1, Ordering::Relaxed) == 0 {
                    bite(&format!("node {name}"));
                }
                done.insert(name);
            }
        }
        victims.clock.sleep(LOOK).await;
    }
}

async fn set(nodes: &Api<Node>, name: &str, taint: &Taint) -> bool {
    for _ in 0..REWRITES {
        let Ok(mut node) = nodes.get(name).await else { return false };
        let taint = v1::Taint {
            key: taint.key.clone(),
            value: Some(taint.value.clone()).filter(|value| !value.is_empty()),
            effect: taint.effect.clone(),
            time_added: None,
        };
        node.spec.get_or_insert_default().taints.get_or_insert_default().push(taint);
        if nodes.replace(name, &PostParams::default(), &node).await.is_ok() {
            return true;
        }
    }
    false
}
