//! The controller of machines: each has one life, from the machine of the infrastructure that it asks for, by way of its node,
//! to the end, when the node is drained and goes with it.

use std::sync::Arc;

use kube::ResourceExt as _;
use kube::api::DynamicObject;
use serde_json::{Value, json};

use super::deployment::{owner, pool_name};
use super::drain;
use super::kinds::{CLUSTER, CLUSTER_NAME, Kind, MACHINE_FINALIZER, NAMESPACE};
use super::reading::{failure, is_ending, node_of, provider_id};
use super::rounds;
use super::shelf::{Object, Shelf};
use super::shop::Shop;

/// Works for ever.
pub(super) async fn work(shop: Arc<Shop>) {
    rounds::lives(shop, Kind::Machine, live).await;
}

/// What a machine waits for comes to something else when it is told to go.
enum Next<T> {
    Come(T),
    Ending,
}

async fn live(shop: Arc<Shop>, machine: Object) {
    let (name, pool) = (machine.name_any(), pool_name(&machine));
    if !is_ending(&machine) {
        shop.pace(&pool, &name).await;
        let kept = json!({"metadata": {"finalizers": [MACHINE_FINALIZER]}});
        shop.patch(Kind::Machine, &name, &kept).await;
        become_a_node(&shop, &machine, &name, &pool).await;
    }
    shop.shelf.until(|shelf| ending(shelf, &machine)).await;
    shop.pace(&pool, &name).await;
    end(&shop, &machine, &name).await;
}

/// As far as it comes before it is told to go.
async fn become_a_node(shop: &Shop, machine: &Object, name: &str, pool: &str) {
    let hollow = shop.create(Kind::Hollow, hollow(shop, machine)).await;
    tell(shop, name, json!({"phase": if hollow.is_some() { "Provisioning" } else { "Pending" }})).await;
    let made = |shelf: &Shelf| shelf.get(Kind::Hollow, name).filter(|it| is_settled(it));
    let Next::Come(hollow) = next(shop, machine, made).await else { return };
    shop.pace(pool, name).await;
    if let Some((reason, message)) = failure(&hollow) {
        let mut status = shop.contract.failure(reason, message);
        status["phase"] = "Failed".into();
        return tell(shop, name, status).await;
    }
    let id = provider_id(&hollow).unwrap_or_default().to_owned();
    shop.patch(Kind::Machine, name, &json!({"spec": {"providerID": id}})).await;
    let mut status = shop.contract.carried();
    status["phase"] = "Provisioned".into();
    status["addresses"] = hollow.data["status"]["addresses"].clone();
    tell(shop, name, status).await;
    let registered =
        |shelf: &Shelf| shelf.all(Kind::Node).into_iter().find(|node| provider_id(node) == Some(id.as_str()));
    let Next::Come(node) = next(shop, machine, registered).await else { return };
    shop.pace(pool, name).await;
    shop.patch(Kind::Node, &node.name_any(), &belongs(machine)).await;
    let node = shop.contract.node(&node.name_any(), &node.uid().unwrap_or_default());
    tell(shop, name, json!({"phase": "Running", "nodeRef": node})).await;
}

/// Its node is drained, then what carries it goes, then the node, then itself.
async fn end(shop: &Shop, machine: &Object, name: &str) {
    tell(shop, name, json!({"phase": "Deleting"})).await;
    let node = shop.shelf.get(Kind::Machine, name).and_then(|it| node_of(&it).map(str::to_owned));
    if let Some(node) = &node {
        drain::drain(shop, node).await;
    }
    shop.delete(Kind::Hollow, name).await;
    shop.shelf.until(|shelf| shelf.get(Kind::Hollow, name).is_none().then_some(())).await;
    if let Some(node) = node {
        shop.delete(Kind::Node, &node).await;
    }
    let there = shop.shelf.get(Kind::Machine, name).filter(|it| it.uid() == machine.uid());
    if there.is_some() {
        shop.patch(Kind::Machine, name, &json!({"metadata": {"finalizers": null}})).await;
    }
}

/// Waits for something, unless the machine is told to go before.
async fn next<T>(shop: &Shop, machine: &Object, mut come: impl FnMut(&Shelf) -> Option<T>) -> Next<T> {
    shop.shelf
        .until(|shelf| match ending(shelf, machine) {
            Some(()) => Some(Next::Ending),
            None => come(shelf).map(Next::Come),
        })
        .await
}

/// Whether it has been told to go, or is gone already.
fn ending(shelf: &Shelf, machine: &Object) -> Option<()> {
    let there = shelf.get(Kind::Machine, &machine.name_any()).filter(|it| it.uid() == machine.uid());
    there.is_none_or(|it| is_ending(&it)).then_some(())
}

/// Whether the infrastructure has made it, or has given up.
fn is_settled(hollow: &DynamicObject) -> bool {
    provider_id(hollow).is_some() || failure(hollow).is_some()
}

async fn tell(shop: &Shop, name: &str, status: Value) {
    if let Some(machine) = shop.shelf.get(Kind::Machine, name) {
        shop.tell(Kind::Machine, &machine, &status).await;
    }
}

/// What carries the machine, as its template says.
fn hollow(shop: &Shop, machine: &DynamicObject) -> Value {
    let pool = shop.pool(&pool_name(machine));
    json!({
        "metadata": {
            "name": machine.name_any(), "labels": machine.labels(),
            "ownerReferences": [owner(Kind::Machine, machine)],
        },
        "spec": {
            "machine": pool.map(|pool| pool.machine.clone()).unwrap_or_default(),
            "location": pool.map(|pool| pool.location.clone()).unwrap_or_default(),
        },
    })
}

/// What a node says of its machine.
fn belongs(machine: &DynamicObject) -> Value {
    let owner = machine.owner_references().iter().find(|it| it.controller == Some(true));
    json!({"metadata": {"annotations": {
        CLUSTER_NAME: CLUSTER,
        "cluster.x-k8s.io/cluster-namespace": NAMESPACE,
        "cluster.x-k8s.io/machine": machine.name_any(),
        "cluster.x-k8s.io/owner-kind": owner.map(|it| it.kind.clone()),
        "cluster.x-k8s.io/owner-name": owner.map(|it| it.name.clone()),
    }}})
}
