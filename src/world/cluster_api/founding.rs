//! The pools of a run as Cluster API has them: for each a machine deployment with its bounds and what one of its machines
//! would be, and the template of the infrastructure that it refers to.

use std::collections::BTreeMap;

use kube::api::{Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use super::kinds::{CLUSTER, CLUSTER_NAME, DEPLOYMENT_NAME, Kind};
use super::shop::Shop;
use crate::terms::{Pool, Room, Taint};

/// What autoscalers read the bounds of a group from.
const BOUND: &str = "cluster.x-k8s.io/cluster-api-autoscaler-node-group";
/// What they read from what a node of an empty group would be.
const CAPACITY: &str = "capacity.cluster-autoscaler.kubernetes.io";

/// Makes them all.
pub(super) async fn found(shop: &Shop) -> kube::Result<()> {
    for pool in &shop.pools {
        make(shop, Kind::Template, template(pool)).await?;
        let capacity = json!({"status": {"capacity": capacity(pool.room),
            "nodeInfo": {"architecture": "amd64", "operatingSystem": "linux"}}});
        let (api, params) = (shop.api(Kind::Template), PatchParams::default());
        api.patch_status(&pool.name, &params, &Patch::Merge(capacity)).await?;
        make(shop, Kind::Deployment, deployment(shop, pool)).await?;
    }
    Ok(())
}

async fn make(shop: &Shop, kind: Kind, mut object: Value) -> kube::Result<()> {
    let resource = kind.resource(shop.contract);
    object["apiVersion"] = json!(resource.api_version);
    object["kind"] = json!(resource.kind);
    let object = serde_json::from_value(object).map_err(kube::Error::SerdeError)?;
    shop.api(kind).create(&PostParams::default(), &object).await.map(drop)
}

fn template(pool: &Pool) -> Value {
    json!({
        "metadata": {"name": pool.name, "labels": {CLUSTER_NAME: CLUSTER}},
        "spec": {"template": {"spec": {"machine": pool.machine, "location": pool.location}}},
    })
}

fn deployment(shop: &Shop, pool: &Pool) -> Value {
    let labels = json!({CLUSTER_NAME: CLUSTER, DEPLOYMENT_NAME: pool.name});
    json!({
        "metadata": {"name": pool.name, "labels": labels, "annotations": annotations(pool)},
        "spec": {
            "clusterName": CLUSTER,
            "replicas": pool.initial,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "clusterName": CLUSTER,
                    "version": "v1.35.0",
                    "bootstrap": {"dataSecretName": format!("{}-bootstrap", pool.name)},
                    "infrastructureRef": shop.contract.reference(Kind::Template, &pool.name),
                },
            },
        },
    })
}

/// The annotations by which autoscalers are told the bounds of a pool.
pub fn bounds(min: u32, max: u32) -> BTreeMap<String, String> {
    [("min", min), ("max", max)]
        .map(|(which, bound)| (format!("{BOUND}-{which}-size"), bound.to_string()))
        .into()
}

/// Its bounds, and what a node of it would be like.
fn annotations(pool: &Pool) -> BTreeMap<String, String> {
    let mut annotations = bounds(pool.min, pool.max);
    annotations.extend([
        (format!("{CAPACITY}/cpu"), format!("{}m", pool.room.cpu_milli)),
        (format!("{CAPACITY}/memory"), format!("{}Mi", pool.room.memory_mib)),
        (format!("{CAPACITY}/maxPods"), "110".to_owned()),
    ]);
    if !pool.labels.is_empty() {
        let labels: Vec<String> = pool.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        annotations.insert(format!("{CAPACITY}/labels"), labels.join(","));
    }
    if !pool.taints.is_empty() {
        let word = |taint: &Taint| format!("{}={}:{}", taint.key, taint.value, taint.effect);
        let taints: Vec<String> = pool.taints.iter().map(word).collect();
        annotations.insert(format!("{CAPACITY}/taints"), taints.join(","));
    }
    annotations
}

fn capacity(room: Room) -> Value {
    json!({"cpu": format!("{}m", room.cpu_milli), "memory": format!("{}Mi", room.memory_mib), "pods": "110"})
}
