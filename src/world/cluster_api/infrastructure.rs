//! The infrastructure provider of a run: what a machine asks it for is there a while later, and is called by a number.

use std::sync::Arc;
use std::time::Duration;

use kube::ResourceExt as _;
use mock_clock::Clock as _;
use serde_json::json;

use super::deployment::pool_name;
use super::kinds::{HOLLOW_FINALIZER, Kind};
use super::reading::is_ending;
use super::rounds;
use super::shelf::Object;
use super::shop::Shop;
use crate::terms::{Machine, MachineEvent};
use crate::world::injuries::Injury;
use crate::world::node::PROVIDER;

/// How long it takes to make a machine; then it boots.
const MAKING: Duration = Duration::from_secs(10);
/// How long it takes to take one down.
const UNMAKING: Duration = Duration::from_secs(5);

/// Works for ever.
pub(super) async fn work(shop: Arc<Shop>) {
    rounds::lives(shop, Kind::Hollow, live).await;
}

async fn live(shop: Arc<Shop>, hollow: Object) {
    let name = hollow.name_any();
    shop.patch(Kind::Hollow, &name, &json!({"metadata": {"finalizers": [HOLLOW_FINALIZER]}})).await;
    let ending = shop.shelf.until(|shelf| {
        let there = shelf.get(Kind::Hollow, &name).filter(|it| it.uid() == hollow.uid());
        there.is_none_or(|it| is_ending(&it)).then_some(())
    });
    let mut made = None;
    {
        let make = async {
            make(&shop, &hollow, &name, &mut made).await;
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = make => {}
            () = ending => {}
        }
    }
    if let Some(id) = made {
        shop.site.clock.sleep(UNMAKING).await;
        let _ = shop.machines.send(MachineEvent::Gone(id));
    }
    shop.patch(Kind::Hollow, &name, &json!({"metadata": {"finalizers": null}})).await;
}

/// Makes what is asked for, and says its number as soon as it has one.
async fn make(shop: &Shop, hollow: &Object, name: &str, made: &mut Option<u64>) {
    let pool = pool_name(hollow);
    let is_of = |of: &str| of == pool;
    shop.site
        .injuries
        .without(name, |injury| matches!(injury, Injury::MachinesWithheld { pool } if is_of(pool)))
        .await;
    shop.site.clock.sleep(MAKING).await;
    let broken = |injury: &Injury| matches!(injury, Injury::MachinesFail { pool } if is_of(pool));
    if let Some(wound) = shop.site.injuries.find(broken) {
        wound.bite(name);
        let failed =
            json!({"failureReason": "CreateError", "failureMessage": "no such machine is to be had"});
        return shop.tell(Kind::Hollow, hollow, &failed).await;
    }
    let Some(machine) = machine(shop, &pool, name) else { return };
    let (id, address) = (machine.id, machine.address.clone());
    *made = Some(id);
    let _ = shop.machines.send(MachineEvent::Exists(Box::new(machine)));
    shop.patch(Kind::Hollow, name, &json!({"spec": {"providerID": format!("{PROVIDER}{id}")}})).await;
    let mut status = shop.contract.provisioned();
    status["addresses"] = json!([{"type": "InternalIP", "address": address}]);
    shop.tell(Kind::Hollow, hollow, &status).await;
}

fn machine(shop: &Shop, pool: &str, name: &str) -> Option<Machine> {
    let pool = shop.pool(pool)?;
    let id = shop.next_id();
    Some(Machine {
        id,
        name: name.to_owned(),
        machine: pool.machine.clone(),
        location: pool.location.clone(),
        zone: pool.location.clone(),
        architecture: "amd64".to_owned(),
        address: format!("10.{}.{}.{}", (id >> 16) & 255, (id >> 8) & 255, id & 255),
        pool: Some(pool.name.clone()),
        labels: pool.node_labels(),
        taints: [pool.taints.as_slice(), &pool.registers_with].concat(),
        room: pool.room,
        running: true,
    })
}
