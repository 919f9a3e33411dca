//! Deeds by hand, tested.

use serde_json::json;

use crate::rig::Rig;
use crate::{Deed, Kind};

fn deed(rig: &mut Rig, text: &serde_json::Value) -> Result<(), String> {
    let deed: Deed = serde_json::from_value(text.clone()).unwrap();
    assert_eq!(serde_json::from_value::<Deed>(serde_json::to_value(&deed).unwrap()).unwrap(), deed);
    rig.engine.by_hand(rig.now, &deed).map_err(|error| error.to_string())
}

#[test]
fn servers_are_switched_relabelled_renamed_and_deleted() {
    let mut rig = Rig::new();
    let id = rig.ordered("a");
    rig.pass(3600);
    deed(&mut rig, &json!({"deed": "power_off", "server": "a"})).unwrap();
    rig.pass(3600);
    assert_eq!(rig.status_of(id), "off");
    deed(&mut rig, &json!({"deed": "power_on", "server": id})).unwrap();
    rig.pass(3600);
    assert_eq!(rig.status_of(id), "running");
    deed(&mut rig, &json!({"deed": "relabel", "which": id, "set": {"x": "1", "y": "2"}})).unwrap();
    deed(&mut rig, &json!({"deed": "relabel", "which": id.to_string(), "set": {"y": "3"}, "remove": ["x"]}))
        .unwrap();
    deed(&mut rig, &json!({"deed": "rename", "which": "a", "name": "b"})).unwrap();
    let server = rig.get(&format!("/servers/{id}"))["server"].clone();
    assert_eq!((&server["name"], &server["labels"]), (&json!("b"), &json!({"y": "3"})));
    deed(&mut rig, &json!({"deed": "delete", "which": "b"})).unwrap();
    assert!(rig.listed().is_empty());
    let entry = rig.engine.project.ledger.entries().find(|it| it.kind == Kind::Server).unwrap();
    assert_eq!(entry.deleted_by.as_deref(), Some("by hand"));
}

#[test]
fn a_server_is_written_anew() {
    let mut rig = Rig::new();
    let id = rig.ordered("a");
    rig.pass(3600);
    deed(&mut rig, &json!({"deed": "rebuild", "server": "a", "image": "debian-12"})).unwrap();
    assert_eq!(rig.status_of(id), "rebuilding");
    rig.pass(3600);
    assert_eq!(rig.status_of(id), "running");
    assert_eq!(rig.get(&format!("/servers/{id}"))["server"]["image"]["name"], "debian-12");
}

#[test]
fn other_things_are_deleted_too() {
    let mut rig = Rig::new();
    rig.post("/placement_groups", &json!({"name": "g", "type": "spread"}));
    deed(&mut rig, &json!({"deed": "delete", "what": "placement_group", "which": "g"})).unwrap();
    assert_eq!(rig.engine.project.placement_groups.len(), 0);
}

#[test]
fn a_server_leaves_a_network() {
    let mut rig = Rig::new();
    let body = json!({"name": "n", "ip_range": "10.0.0.0/16", "subnets": [
        {"type": "cloud", "ip_range": "10.0.1.0/24", "network_zone": "eu-central"}
    ]});
    let network = rig.post("/networks", &body)["network"]["id"].clone();
    let made = rig.order_with("a", &json!({"networks": [network]})).1;
    let id = made["server"]["id"].as_u64().unwrap();
    rig.pass(3600);
    deed(&mut rig, &json!({"deed": "detach", "server": "a", "network": "n"})).unwrap();
    rig.pass(3600);
    assert_eq!(rig.get(&format!("/servers/{id}"))["server"]["private_net"], json!([]));
}

#[test]
fn a_deed_meets_the_rules_of_the_cloud_and_neither_its_tokens_nor_its_errors() {
    let mut rig = Rig::new();
    let id = rig.ordered("a");
    let refused = deed(&mut rig, &json!({"deed": "power_off", "server": "a"})).unwrap_err();
    assert!(
        refused.ends_with("by hand: cannot perform operation because server is locked (locked)"),
        "{refused}"
    );
    assert_eq!(
        deed(&mut rig, &json!({"deed": "delete", "which": 1})),
        Err("find server 1: there is none".into())
    );
    for kind in ["token_rejected", "maintenance"] {
        rig.inject(&json!({"kind": kind}));
    }
    rig.inject(&json!({"kind": "rate_limit", "spent": "always"}));
    deed(&mut rig, &json!({"deed": "delete", "which": id})).unwrap();
    assert_eq!(rig.engine.project.servers.len(), 0);
}
