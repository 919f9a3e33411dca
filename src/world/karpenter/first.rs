//! The nodes that pools have when a run begins: as a Karpenter left them that ran before, with their claims.

use k8s_openapi::api::core::v1::Node;
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use serde_json::{Value, json};

use super::{POOL, kwok};
use crate::terms::{Karpenter, KarpenterApi, KarpenterCloud, Period, Pool};
use crate::world::karpenter::node_pool::{RoomOf, node_pool};

/// Held by whoever ends what the object stands for.
const FINALIZER: &str = "karpenter.sh/termination";

/// Makes the first nodes of pools, with their claims, at a moment. Says what could not be made.
pub async fn settle(
    client: &Client,
    pools: &[Pool],
    karpenter: &Karpenter,
    room: RoomOf<'_>,
    now: &str,
) -> Result<(), (String, kube::Error)> {
    if karpenter.cloud != KarpenterCloud::Kwok {
        return Ok(());
    }
    let resource =
        ApiResource::from_gvk(&GroupVersionKind::gvk("karpenter.sh", karpenter.api.word(), "NodeClaim"));
    let claims: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    let nodes: Api<Node> = Api::all(client.clone());
    for pool in pools {
        for number in 1..=pool.initial {
            let first = First { pool, karpenter, name: format!("{}-first-{number}", pool.name), now };
            let failed = |error| (format!("make the first node {}", first.name), error);
            let read = |error| failed(kube::Error::SerdeError(error));
            let claim: DynamicObject = serde_json::from_value(first.claim(room)).map_err(read)?;
            let made = claims.create(&PostParams::default(), &claim).await.map_err(failed)?;
            let status = Patch::Merge(json!({"status": first.status()}));
            claims.patch_status(&first.name, &PatchParams::default(), &status).await.map_err(failed)?;
            let uid = made.metadata.uid.unwrap_or_default();
            let node: Node = serde_json::from_value(first.node(&uid, room)).map_err(read)?;
            nodes.create(&PostParams::default(), &node).await.map_err(failed)?;
        }
    }
    Ok(())
}

/// One of them.
struct First<'a> {
    pool: &'a Pool,
    karpenter: &'a Karpenter,
    name: String,
    now: &'a str,
}

impl First<'_> {
    fn labels(&self, room: RoomOf<'_>) -> Value {
        let machine = room(&self.pool.machine).and_then(|room| kwok::sells(room, "amd64"));
        let mut labels = json!({
            POOL: self.pool.name,
            "node.kubernetes.io/instance-type": machine,
            "karpenter.sh/capacity-type": "on-demand",
            "topology.kubernetes.io/zone": "test-zone-a",
            "kubernetes.io/arch": "amd64",
            "kubernetes.io/os": "linux",
        });
        for (key, value) in &self.pool.labels {
            labels[key] = json!(value);
        }
        labels
    }

    /// What is written in a template of the pool today, so that it is not found to be different.
    fn claim(&self, room: RoomOf<'_>) -> Value {
        let pool = node_pool(self.pool, self.karpenter, Period::default(), room).unwrap_or_default();
        let mut spec = pool["spec"]["template"]["spec"].clone();
        spec["resources"] = json!({"requests": {"pods": "1"}});
        json!({
            "apiVersion": format!("karpenter.sh/{}", self.karpenter.api.word()), "kind": "NodeClaim",
            "metadata": {"name": self.name, "labels": self.labels(room), "finalizers": [FINALIZER]},
            "spec": spec,
        })
    }

    fn resources(&self) -> Value {
        let room = self.pool.room;
        json!({"cpu": format!("{}m", room.cpu_milli), "memory": format!("{}Mi", room.memory_mib),
            "ephemeral-storage": "20Gi", "pods": "110"})
    }

    fn status(&self) -> Value {
        let kinds = ["Launched", "Registered", "Initialized", "Ready"];
        let conditions = kinds.map(|kind| {
            json!({"type": kind, "status": "True", "reason": kind, "message": "", "lastTransitionTime": self.now})
        });
        json!({
            "nodeName": self.name, "providerID": self.provider_id(), "capacity": self.resources(),
            "allocatable": self.resources(), "conditions": conditions,
        })
    }

    fn provider_id(&self) -> String {
        format!("{}{}", kwok::PROVIDER, self.name)
    }

    fn node(&self, claim: &str, room: RoomOf<'_>) -> Value {
        let mut labels = self.labels(room);
        labels["karpenter.sh/registered"] = json!("true");
        labels["karpenter.sh/initialized"] = json!("true");
        labels["kubernetes.io/hostname"] = json!(self.name);
        labels["kwok.x-k8s.io/node"] = json!("fake");
        let api = format!("karpenter.sh/{}", self.karpenter.api.word());
        let mut owner = json!({"apiVersion": api, "kind": "NodeClaim", "name": self.name, "uid": claim});
        if self.karpenter.api == KarpenterApi::V1 {
            owner["blockOwnerDeletion"] = json!(true);
        }
        json!({
            "metadata": {"name": self.name, "labels": labels, "finalizers": [FINALIZER],
                "annotations": {"kwok.x-k8s.io/node": "fake"}, "ownerReferences": [owner]},
            "spec": {"providerID": self.provider_id(), "taints": self.pool.taints},
            "status": {"capacity": self.resources(), "allocatable": self.resources()},
        })
    }
}
