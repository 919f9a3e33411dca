//! The primary IPs of load balancers as clients meet them.

use serde_json::{Value, json};

use crate::money::Money;
use crate::profile::Profile;
use crate::resource::Kind;
use crate::rig::Rig;

fn body(more: &Value) -> Value {
    let mut body = json!({"name": "front", "load_balancer_type": "lb11", "location": "fsn1"});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

fn balancer(rig: &mut Rig, more: &Value) -> Value {
    let made = rig.post("/load_balancers", &body(more))["load_balancer"].clone();
    rig.pass(60);
    made
}

fn ip(rig: &mut Rig, more: &Value) -> Value {
    let mut body = json!({"name": "mine", "type": "ipv4", "location": "fsn1", "assignee_type": "server"});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    rig.post("/primary_ips", &body)["primary_ip"].clone()
}

fn of(ip: &Value) -> String {
    format!("/primary_ips/{}", ip["id"])
}

fn front(balancer: &Value) -> String {
    format!("/load_balancers/{}", balancer["id"])
}

fn given(ipv4: &Value) -> Value {
    json!({"public_net": {"ipv4": ipv4["id"]}})
}

fn all(rig: &mut Rig) -> Vec<Value> {
    rig.get("/primary_ips")["primary_ips"].as_array().unwrap().clone()
}

/// What a primary IP has come to.
fn cost(rig: &Rig, ip: &Value) -> Money {
    let mut entries = rig.engine.project.ledger.entries();
    let entry = entries.find(|it| it.kind == Kind::PrimaryIp && it.id == ip["id"].as_u64().unwrap());
    entry.unwrap().cost(rig.now)
}

#[test]
fn those_that_come_with_it_are_included_and_go_with_it() {
    let mut rig = Rig::new();
    let trouble = rig.inject(&json!({"kind": "quota", "primary_ips": 1}));
    let made = balancer(&mut rig, &json!({}));
    let ips = all(&mut rig);
    for (ip, version) in ips.iter().zip(["ipv4", "ipv6"]) {
        assert_eq!((&ip["id"], &ip["type"]), (&made["public_net"][version]["id"], &json!(version)));
        assert_eq!((&ip["assignee_type"], &ip["assignee_id"]), (&json!("load_balancer"), &made["id"]));
        assert_eq!(
            (&ip["auto_delete"], &ip["name"]),
            (&json!(true), &json!(format!("primary_ip-{}", ip["id"])))
        );
    }
    assert_eq!(ips[0]["ip"], made["public_net"]["ipv4"]["ip"]);
    assert_eq!((&ips[1]["ip"], ips.len()), (&json!("2001:db8:0:1::/64"), 2));
    ip(&mut rig, &json!({}));
    rig.heal(trouble);
    rig.pass(7200);
    assert_eq!(cost(&rig, &ips[0]), Money::ZERO);
    // One that somebody keeps costs what others cost.
    rig.done("PUT", &of(&ips[0]), &json!({"auto_delete": false}));
    rig.done("DELETE", &front(&made), &Value::Null);
    rig.refused("GET", &of(&ips[1]), &Value::Null);
    let kept = rig.get(&of(&ips[0]))["primary_ip"].clone();
    assert_eq!((&kept["assignee_type"], &kept["assignee_id"]), (&json!("unassigned"), &Value::Null));
    rig.pass(3600);
    assert!(cost(&rig, &kept) > Money::ZERO);
}

#[test]
fn one_that_was_given_stays_as_long_as_it_is_there_and_is_free_then() {
    let mut rig = Rig::new();
    let mine = ip(&mut rig, &json!({}));
    let made = balancer(&mut rig, &given(&mine));
    assert_eq!(made["public_net"]["ipv4"]["ip"], mine["ip"]);
    assert_eq!(all(&mut rig).len(), 2, "of version 6 there is a new one");
    let server = json!({"name": "a", "server_type": "cx23", "image": "debian-12", "location": "fsn1",
        "public_net": {"ipv4": mine["id"]}});
    let to = json!({"assignee_type": "server", "assignee_id": rig.server("b", &json!({}))});
    for (method, path, body, code) in [
        ("POST", of(&mine) + "/actions/assign", to, "primary_ip_already_assigned"),
        ("POST", of(&mine) + "/actions/unassign", Value::Null, "invalid_input"),
        ("DELETE", of(&mine), Value::Null, "must_be_unassigned"),
        ("POST", "/servers".to_owned(), server.clone(), "primary_ip_assigned"),
        (
            "POST",
            "/load_balancers".to_owned(),
            {
                let mut other = body(&given(&mine));
                other["name"] = json!("other");
                other
            },
            "primary_ip_assigned",
        ),
    ] {
        assert_eq!(rig.refused(method, &path, &body).1, code, "{method} {path}");
    }
    let shown = rig.get(&of(&mine))["primary_ip"].clone();
    assert_eq!((&shown["assignee_type"], &shown["assignee_id"]), (&json!("load_balancer"), &made["id"]));
    assert!(cost(&rig, &mine) > Money::ZERO);
    let trouble = rig.inject(&json!({"kind": "quota", "primary_ips": 1}));
    let more = json!({"name": "more", "type": "ipv4", "location": "fsn1"});
    assert_eq!(rig.refused("POST", "/primary_ips", &more).1, "resource_limit_exceeded", "it counts");
    rig.heal(trouble);
    rig.done("DELETE", &front(&made), &Value::Null);
    assert_eq!(all(&mut rig).len(), 1);
    rig.post("/servers", &server);
}

#[test]
fn one_that_was_given_to_go_with_it_goes() {
    let mut rig = Rig::new();
    let mine = ip(&mut rig, &json!({"type": "ipv6", "auto_delete": true}));
    let made = balancer(&mut rig, &json!({"public_net": {"ipv6": mine["id"]}}));
    rig.done("DELETE", &front(&made), &Value::Null);
    assert!(all(&mut rig).is_empty());
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_taken() {
    let mut rig = Rig::new();
    let six = ip(&mut rig, &json!({"name": "six", "type": "ipv6"}));
    let far = ip(&mut rig, &json!({"name": "far", "location": "nbg1"}));
    for (ip, code) in [
        (&six, "primary_ip_version_mismatch"),
        (&far, "primary_ip_datacenter_mismatch"),
        (&json!({"id": 17}), "not_found"),
    ] {
        assert_eq!(rig.refused("POST", "/load_balancers", &body(&given(ip))).1, code);
    }
    rig.inject(&json!({"kind": "no_addresses", "location": "fsn1"}));
    let mine = json!({"public_net": {"ipv6": six["id"]}});
    assert_eq!(rig.refused("POST", "/load_balancers", &body(&mine)).1, "resource_unavailable");
    assert_eq!(all(&mut rig), [six, far]);
}

#[test]
fn a_name_is_the_same_on_both_sides() {
    let mut rig = Rig::new();
    let made = balancer(&mut rig, &json!({}));
    for version in ["ipv4", "ipv6"] {
        let (ip, path) = (&made["public_net"][version]["ip"], of(&made["public_net"][version]));
        let other = json!({"type": "ip", "ip": {"ip": ip}});
        let target = format!("{}/actions/add_target", front(&made));
        assert_eq!(rig.refused("POST", &target, &other).1, "cloud_resource_ip_not_allowed");
        for (room, name) in [(front(&made), "a.example.com"), (path.clone(), "b.example.com")] {
            rig.post(&format!("{room}/actions/change_dns_ptr"), &json!({"ip": ip, "dns_ptr": name}));
            rig.pass(60);
            let shown = rig.get(&front(&made))["load_balancer"]["public_net"][version]["dns_ptr"].clone();
            assert_eq!(shown, name);
            assert_eq!(rig.get(&path)["primary_ip"]["dns_ptr"], json!([{"ip": ip, "dns_ptr": name}]));
        }
    }
}

#[test]
fn before_october_2026_nobody_knew_of_them() {
    for profile in [Profile::Y2024, Profile::June2026] {
        let mut rig = Rig::of(profile);
        rig.inject(&json!({"kind": "quota", "primary_ips": 1}));
        let made = balancer(&mut rig, &json!({}));
        let fields: Vec<&String> = made["public_net"]["ipv4"].as_object().unwrap().keys().collect();
        assert_eq!(fields, ["dns_ptr", "ip"]);
        assert!(all(&mut rig).is_empty());
        for id in [80_000_001, 80_000_002] {
            let hidden = of(&json!({"id": id}));
            for (method, path, body) in [
                ("GET", hidden.clone(), Value::Null),
                ("PUT", hidden.clone(), json!({"auto_delete": false})),
                ("DELETE", hidden.clone(), Value::Null),
                (
                    "POST",
                    format!("{hidden}/actions/assign"),
                    json!({"assignee_type": "server", "assignee_id": 1}),
                ),
                ("POST", format!("{hidden}/actions/unassign"), Value::Null),
                (
                    "POST",
                    format!("{hidden}/actions/change_dns_ptr"),
                    json!({"ip": "198.18.0.1", "dns_ptr": "a"}),
                ),
                ("POST", format!("{hidden}/actions/change_protection"), json!({"delete": true})),
            ] {
                assert_eq!(
                    rig.refused(method, &path, &body),
                    (404, "not_found".to_owned()),
                    "{method} {path}"
                );
            }
        }
        let mine = ip(&mut rig, &json!({"name": "primary_ip-80000001"}));
        assert_eq!(rig.refused("POST", "/load_balancers", &body(&given(&mine))).1, "invalid_input");
        rig.done("DELETE", &front(&made), &Value::Null);
        assert_eq!(rig.engine.project.primary_ips.len(), 1);
        let entries = rig.engine.project.ledger.entries().filter(|it| it.kind == Kind::PrimaryIp);
        assert_eq!(entries.count(), 1);
    }
}
