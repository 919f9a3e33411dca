//! The nodes that pools have when a run begins: as a Karpenter left them that ran before, with their claims.

use k8s_openapi::api::core::v1::{self, Node};
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use serde_json::{Value, json};

use super::{POOL, UNREGISTERED, kwok};
use crate::terms::{Karpenter, KarpenterApi, KarpenterCloud, Period, Pool, Provider};
use crate::world::karpenter::node_pool::{RoomOf, node_pool};

/// Held by whoever ends what the object stands for.
const FINALIZER: &str = "karpenter.sh/termination";

/// How often a node is read and written again when others write it, too.
const REWRITES: u32 = 20;

/// Makes the first nodes of pools, with their claims, at a moment, where the node is the machine. Says what could not be made.
pub async fn settle(
    client: &Client,
    pools: &[Pool],
    karpenter: &Karpenter,
    room: RoomOf<'_>,
    now: &str,
) -> Result<(), (String, kube::Error)> {
    let nodes: Api<Node> = Api::all(client.clone());
    for pool in pools {
        for name in pool.first_machines(Provider::Karpenter) {
            let provider_id = format!("{}{name}", kwok::PROVIDER);
            let first = First { pool, karpenter, name, provider_id, now, room };
            let failed = |error| (format!("make the first node {}", first.name), error);
            let uid = first.claimed(client).await.map_err(failed)?;
            let node = serde_json::from_value(first.node(&uid));
            let node: Node = node.map_err(|error| failed(kube::Error::SerdeError(error)))?;
            nodes.create(&PostParams::default(), &node).await.map_err(failed)?;
        }
    }
    Ok(())
}

/// Makes claims for the first servers of pools, whose nodes are there, and registers those, at a moment. Says what could not be
/// done.
pub async fn adopt(
    client: &Client,
    pools: &[Pool],
    karpenter: &Karpenter,
    now: &str,
) -> Result<(), (String, kube::Error)> {
    let nodes: Api<Node> = Api::all(client.clone());
    for pool in pools {
        for name in pool.first_machines(Provider::Karpenter) {
            let what = format!("adopt the first node {name}");
            let failed = |error| (what.clone(), error);
            let node = nodes.get(&name).await.map_err(failed)?;
            let provider_id = node.spec.and_then(|spec| spec.provider_id).unwrap_or_default();
            let first = First { pool, karpenter, name, provider_id, now, room: &|_| None };
            let uid = first.claimed(client).await.map_err(failed)?;
            first.register(&nodes, &uid).await.map_err(failed)?;
        }
    }
    Ok(())
}

/// One of them.
struct First<'a> {
    pool: &'a Pool,
    karpenter: &'a Karpenter,
    name: String,
    provider_id: String,
    now: &'a str,
    room: RoomOf<'a>,
}

impl First<'_> {
    /// Makes its claim; the uid of that.
    async fn claimed(&self, client: &Client) -> Result<String, kube::Error> {
        let kind = GroupVersionKind::gvk("karpenter.sh", self.karpenter.api.word(), "NodeClaim");
        let claims: Api<DynamicObject> = Api::all_with(client.clone(), &ApiResource::from_gvk(&kind));
        let claim: DynamicObject = serde_json::from_value(self.claim()).map_err(kube::Error::SerdeError)?;
        let made = claims.create(&PostParams::default(), &claim).await?;
        let status = Patch::Merge(json!({"status": self.status()}));
        claims.patch_status(&self.name, &PatchParams::default(), &status).await?;
        Ok(made.metadata.uid.unwrap_or_default())
    }

    /// Writes on a node that is there what Karpenter writes on one that it registers.
    async fn register(&self, nodes: &Api<Node>, claim: &str) -> Result<(), kube::Error> {
        let read = kube::Error::SerdeError;
        let wanted: Node = serde_json::from_value(self.node(claim)).map_err(read)?;
        let taints: Vec<v1::Taint> = serde_json::from_value(json!(self.pool.taints)).map_err(read)?;
        for _ in 0..REWRITES {
            let mut node = nodes.get(&self.name).await?;
            let meta = &mut node.metadata;
            meta.labels.get_or_insert_default().extend(wanted.metadata.labels.clone().unwrap_or_default());
            meta.finalizers.clone_from(&wanted.metadata.finalizers);
            meta.owner_references.clone_from(&wanted.metadata.owner_references);
            let on_it = node.spec.get_or_insert_default().taints.get_or_insert_default();
            on_it.retain(|taint| taint.key != UNREGISTERED);
            on_it.extend(taints.clone());
            match nodes.replace(&self.name, &PostParams::default(), &node).await {
                Err(kube::Error::Api(status)) if status.code == 409 => {}
                done => return done.map(drop),
            }
        }
        Ok(())
    }

    fn labels(&self) -> Value {
        let machine = &self.pool.machine;
        let (machine, zone) = match self.karpenter.cloud {
            KarpenterCloud::Kwok => {
                ((self.room)(machine).and_then(|room| kwok::sells(room, "amd64")), "test-zone-a")
            }
            KarpenterCloud::Hetzner => (Some(machine.clone()), self.pool.location.as_str()),
        };
        let mut labels = json!({
            POOL: self.pool.name,
            "node.kubernetes.io/instance-type": machine,
            "karpenter.sh/capacity-type": "on-demand",
            "topology.kubernetes.io/zone": zone,
            "kubernetes.io/arch": "amd64",
            "kubernetes.io/os": "linux",
        });
        for (key, value) in &self.pool.labels {
            labels[key] = json!(value);
        }
        labels
    }

    /// What is written in a template of the pool today, so that it is not found to be different.
    fn claim(&self) -> Value {
        let pool = node_pool(self.pool, self.karpenter, Period::default(), self.room).unwrap_or_default();
        let mut spec = pool["spec"]["template"]["spec"].clone();
        spec["resources"] = json!({"requests": {"pods": "1"}});
        json!({
            "apiVersion": format!("karpenter.sh/{}", self.karpenter.api.word()), "kind": "NodeClaim",
            "metadata": {"name": self.name, "labels": self.labels(), "finalizers": [FINALIZER]},
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
            "nodeName": self.name, "providerID": self.provider_id, "capacity": self.resources(),
            "allocatable": self.resources(), "conditions": conditions,
        })
    }

    fn node(&self, claim: &str) -> Value {
        let mut labels = self.labels();
        labels["karpenter.sh/registered"] = json!("true");
        labels["karpenter.sh/initialized"] = json!("true");
        labels["kubernetes.io/hostname"] = json!(self.name);
        if self.karpenter.cloud == KarpenterCloud::Kwok {
            labels["kwok.x-k8s.io/node"] = json!("fake");
        }
        let api = format!("karpenter.sh/{}", self.karpenter.api.word());
        let mut owner = json!({"apiVersion": api, "kind": "NodeClaim", "name": self.name, "uid": claim});
        if self.karpenter.api == KarpenterApi::V1 {
            owner["blockOwnerDeletion"] = json!(true);
        }
        json!({
            "metadata": {"name": self.name, "labels": labels, "finalizers": [FINALIZER],
                "annotations": {"kwok.x-k8s.io/node": "fake"}, "ownerReferences": [owner]},
            "spec": {"providerID": self.provider_id, "taints": self.pool.taints},
            "status": {"capacity": self.resources(), "allocatable": self.resources()},
        })
    }
}
