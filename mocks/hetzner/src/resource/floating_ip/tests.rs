//! Floating IPs as clients meet them.

use serde_json::{Value, json};

use crate::profile::Profile;
use crate::rig::Rig;

fn floating(rig: &mut Rig, body: &Value) -> Value {
    let made = rig.post("/floating_ips", body);
    rig.pass(60);
    made
}

fn id(made: &Value) -> u64 {
    made["floating_ip"]["id"].as_u64().unwrap()
}

fn shown(rig: &mut Rig, id: u64) -> Value {
    rig.get(&format!("/floating_ips/{id}"))["floating_ip"].clone()
}

fn action(id: u64, what: &str) -> String {
    format!("/floating_ips/{id}/actions/{what}")
}

#[test]
fn one_has_a_home_and_a_name() {
    let mut rig = Rig::new();
    let made = floating(&mut rig, &json!({"type": "ipv4", "home_location": "nbg1", "description": "door"}));
    let (ip, number) = (&made["floating_ip"], id(&made));
    assert_eq!(ip["name"], format!("floating_ip-{number}"));
    assert_eq!((&ip["home_location"]["name"], &ip["description"]), (&json!("nbg1"), &json!("door")));
    assert_eq!((&ip["server"], &made["action"]), (&Value::Null, &Value::Null));
    assert_eq!(ip["dns_ptr"][0]["ip"], ip["ip"]);
    rig.done("PUT", &format!("/floating_ips/{number}"), &json!({"name": "n", "description": "back"}));
    assert_eq!(rig.get("/floating_ips?name=n")["floating_ips"][0]["description"], "back");
    for body in [
        json!({"type": "ipv4"}),
        json!({"home_location": "nbg1"}),
        json!({"type": "ipv4", "home_location": "moon"}),
    ] {
        assert_eq!(rig.refused("POST", "/floating_ips", &body).1, "invalid_input", "{body}");
    }
    let again = json!({"type": "ipv6", "home_location": "nbg1", "name": "n"});
    assert_eq!(rig.refused("POST", "/floating_ips", &again).1, "uniqueness_error");
    let path = format!("/floating_ips/{number}");
    rig.post(&action(number, "change_protection"), &json!({"delete": true}));
    assert_eq!(rig.refused("DELETE", &path, &Value::Null).1, "protected");
    rig.post(&action(number, "change_protection"), &json!({"delete": false}));
    assert_eq!(rig.ask("DELETE", &path, &Value::Null).0, 204);
    assert!(rig.engine.project.ledger.entries().all(|entry| entry.until.is_some()));
}

#[test]
fn one_moves_between_servers() {
    let mut rig = Rig::new();
    let (one, two) = (rig.server("one", &json!({})), rig.server("two", &json!({})));
    let made = floating(&mut rig, &json!({"type": "ipv6", "server": one}));
    assert_eq!(made["action"]["command"], "assign_floating_ip");
    let ip = id(&made);
    assert_eq!(made["floating_ip"]["home_location"]["name"], "fsn1");
    let again = rig.refused("POST", &action(ip, "assign"), &json!({"server": one}));
    assert_eq!(again, (422, "floating_ip_assigned".to_owned()));
    assert_eq!(rig.refused("POST", &action(ip, "assign"), &json!({"server": 7})).0, 404);
    rig.post(&action(ip, "assign"), &json!({"server": two}));
    assert_eq!(rig.refused("POST", &action(ip, "unassign"), &Value::Null).1, "locked");
    rig.pass(60);
    assert_eq!(shown(&mut rig, ip)["server"], two);
    let path = format!("/floating_ips/{ip}");
    assert_eq!(rig.refused("DELETE", &path, &Value::Null), (422, "must_be_unassigned".to_owned()));
    rig.post(&action(ip, "unassign"), &Value::Null);
    rig.pass(60);
    assert_eq!(rig.refused("POST", &action(ip, "unassign"), &Value::Null).1, "invalid_input");
    rig.post(&action(ip, "assign"), &json!({"server": one}));
    rig.done("DELETE", &format!("/servers/{one}"), &Value::Null);
    rig.pass(60);
    assert_eq!(shown(&mut rig, ip)["server"], Value::Null);
    rig.done("DELETE", &path, &Value::Null);
}

#[test]
fn in_2024_one_was_taken_from_its_server_when_deleted() {
    let mut rig = Rig::of(Profile::Y2024);
    let server = rig.server("one", &json!({}));
    let made = floating(&mut rig, &json!({"type": "ipv4", "server": server}));
    assert_eq!(rig.ask("DELETE", &format!("/floating_ips/{}", id(&made)), &Value::Null).0, 204);
}

#[test]
fn addresses_have_names_in_the_reverse() {
    let mut rig = Rig::new();
    let made = floating(&mut rig, &json!({"type": "ipv4", "home_location": "nbg1"}));
    let (before, ip) = (&made["floating_ip"], id(&made));
    rig.post(&action(ip, "change_dns_ptr"), &json!({"ip": before["ip"], "dns_ptr": "a.example.com"}));
    rig.pass(60);
    assert_eq!(shown(&mut rig, ip)["dns_ptr"][0]["dns_ptr"], "a.example.com");
    rig.post(&action(ip, "change_dns_ptr"), &json!({"ip": before["ip"], "dns_ptr": null}));
    rig.pass(60);
    assert_eq!(shown(&mut rig, ip), *before);
}

#[test]
fn an_address_that_is_given_up_can_be_had_again() {
    let mut rig = Rig::new();
    rig.engine.project.pools.set_size(1);
    let body = json!({"type": "ipv4", "home_location": "nbg1"});
    let first = id(&floating(&mut rig, &body));
    assert_eq!(rig.refused("POST", "/floating_ips", &body), (412, "resource_unavailable".to_owned()));
    rig.done("DELETE", &format!("/floating_ips/{first}"), &Value::Null);
    floating(&mut rig, &body);
}

#[test]
fn one_whose_move_fails_leads_where_it_led() {
    let mut rig = Rig::new();
    let (one, two) = (rig.server("one", &json!({})), rig.server("two", &json!({})));
    let ip = id(&floating(&mut rig, &json!({"type": "ipv4", "server": one})));
    rig.inject(&json!({"kind": "fails", "command": "assign_floating_ip"}));
    for before in [json!(one), Value::Null] {
        rig.post(&action(ip, "assign"), &json!({"server": two}));
        assert_eq!(shown(&mut rig, ip)["server"], two);
        if before.is_null() {
            rig.done("DELETE", &format!("/servers/{one}"), &Value::Null);
        }
        rig.pass(60);
        assert_eq!(shown(&mut rig, ip)["server"], before);
    }
}
