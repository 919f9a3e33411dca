//! Primary IPs as clients meet them.

use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::{Value, json};

use crate::profile::Profile;
use crate::resource::primary_ip::Assignee;
use crate::rig::Rig;

fn server(rig: &mut Rig, name: &str, more: &Value) -> u64 {
    let mut more = more.clone();
    more["start_after_create"] = json!(false);
    let (_, answer) = rig.order_with(name, &more);
    rig.pass(60);
    answer["server"]["id"].as_u64().unwrap()
}

fn ip(rig: &mut Rig, name: &str, version: &str) -> u64 {
    let body = json!({"name": name, "type": version, "location": "fsn1"});
    rig.post("/primary_ips", &body)["primary_ip"]["id"].as_u64().unwrap()
}

fn to(server: u64) -> Value {
    json!({"assignee_id": server, "assignee_type": "server"})
}

/// A server that has only a private network.
fn bare(rig: &mut Rig, name: &str) -> u64 {
    let body = json!({
        "name": format!("net-{name}"), "ip_range": "10.0.0.0/16",
        "subnets": [{"type": "cloud", "ip_range": "10.0.1.0/24", "network_zone": "eu-central"}],
    });
    let network = rig.post("/networks", &body)["network"]["id"].clone();
    let public = json!({"enable_ipv4": false, "enable_ipv6": false});
    server(rig, name, &json!({"networks": [network], "public_net": public}))
}

#[test]
fn a_server_comes_with_addresses_and_takes_them_along() {
    let mut rig = Rig::new();
    let id = server(&mut rig, "a", &Value::Null);
    let shown = rig.get(&format!("/servers/{id}"))["server"]["public_net"].clone();
    let all = rig.get("/primary_ips");
    assert_eq!(all["primary_ips"].as_array().unwrap().len(), 2);
    let v4 = &all["primary_ips"][0];
    assert_eq!(v4["name"], format!("primary_ip-{}", v4["id"]));
    assert_eq!((&v4["type"], &v4["assignee_id"]), (&json!("ipv4"), &json!(id)));
    assert_eq!((&v4["assignee_type"], &v4["auto_delete"]), (&json!("server"), &json!(true)));
    assert_eq!(shown["ipv4"]["ip"], v4["ip"]);
    assert_eq!(shown["ipv4"]["dns_ptr"], v4["dns_ptr"][0]["dns_ptr"]);
    assert_eq!(shown["ipv6"]["dns_ptr"], json!([]));
    let v6 = all["primary_ips"][1]["ip"].as_str().unwrap();
    assert!(v6.ends_with("::/64") && shown["ipv6"]["ip"] == v6, "{v6}");
    rig.done("DELETE", &format!("/servers/{id}"), &Value::Null);
    assert_eq!(rig.get("/primary_ips")["primary_ips"], json!([]));
    let entries: Vec<bool> = rig.engine.project.ledger.entries().map(|entry| entry.until.is_some()).collect();
    assert_eq!(entries, [true; 3]);
}

#[test]
fn one_that_was_given_stays_when_its_server_goes() {
    let mut rig = Rig::new();
    let given = ip(&mut rig, "mine", "ipv4");
    let public = |id: u64| json!({"public_net": {"enable_ipv6": false, "ipv4": id}});
    let first = server(&mut rig, "a", &public(given));
    let body = json!({"name": "b", "server_type": "cx23", "image": "debian-12", "location": "fsn1",
        "public_net": {"ipv4": given}});
    assert_eq!(rig.refused("POST", "/servers", &body), (422, "primary_ip_assigned".to_owned()));
    rig.done("DELETE", &format!("/servers/{first}"), &Value::Null);
    let shown = rig.get(&format!("/primary_ips/{given}"))["primary_ip"].clone();
    assert_eq!((&shown["assignee_id"], &shown["assignee_type"]), (&Value::Null, &json!("unassigned")));
    server(&mut rig, "c", &public(given));
}

#[test]
fn nobody_gets_the_name_of_another() {
    let mut rig = Rig::new();
    let own = ip(&mut rig, "x", "ipv4");
    rig.done("PUT", &format!("/primary_ips/{own}"), &json!({"name": format!("primary_ip-{}", own + 1)}));
    server(&mut rig, "a", &Value::Null);
    let all = rig.get("/primary_ips");
    let names: std::collections::BTreeSet<&str> =
        all["primary_ips"].as_array().unwrap().iter().map(|ip| ip["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 3);
}

#[test]
fn lists_are_filtered_by_address_and_name() {
    let mut rig = Rig::new();
    let (a, b) = (ip(&mut rig, "a", "ipv4"), ip(&mut rig, "b", "ipv6"));
    let address = rig.get(&format!("/primary_ips/{a}"))["primary_ip"]["ip"].as_str().unwrap().to_owned();
    let network = rig.get(&format!("/primary_ips/{b}"))["primary_ip"]["ip"].as_str().unwrap().to_owned();
    let escaped = network.replace('/', "%2F");
    let first = network.trim_end_matches("/64");
    for (query, found) in [
        (format!("ip={address}"), vec![a]),
        (format!("ip={escaped}"), vec![b]),
        (format!("ip={first}"), vec![b]),
        ("ip=1.1.1.1".to_owned(), vec![]),
        ("name=b".to_owned(), vec![b]),
        ("sort=created:desc&sort=id:desc".to_owned(), vec![b, a]),
    ] {
        let all = rig.get(&format!("/primary_ips?{query}"))["primary_ips"].clone();
        let ids: Vec<u64> = all.as_array().unwrap().iter().map(|ip| ip["id"].as_u64().unwrap()).collect();
        assert_eq!(ids, found, "{query}");
    }
}

#[test]
fn what_a_body_says_of_the_place_has_to_fit() {
    let mut rig = Rig::new();
    let server = bare(&mut rig, "s");
    for body in [
        json!({"name": "a", "type": "ipv4"}),
        json!({"name": "a", "type": "ipv5", "location": "fsn1"}),
        json!({"name": "a", "type": "ipv4", "location": "moon"}),
        json!({"name": "a", "type": "ipv4", "datacenter": "fsn1-dc14"}),
        json!({"name": "a", "type": "ipv4", "assignee_type": "server", "assignee_id": server, "location": "nbg1"}),
        json!({"type": "ipv4", "location": "fsn1"}),
    ] {
        assert_eq!(rig.refused("POST", "/primary_ips", &body), (422, "invalid_input".to_owned()), "{body}");
    }
    let named = ip(&mut rig, "a", "ipv4");
    let again = json!({"name": "a", "type": "ipv6", "location": "fsn1"});
    assert_eq!(rig.refused("POST", "/primary_ips", &again), (409, "uniqueness_error".to_owned()));
    assert_eq!(rig.get("/primary_ips")["primary_ips"][0]["id"], named);
    let mut old = Rig::of(Profile::Y2024);
    let body = json!({"name": "a", "type": "ipv4", "datacenter": "nbg1-dc3"});
    assert_eq!(old.refused("POST", "/primary_ips", &body), (422, "invalid_input".to_owned()));
    let body = json!({"name": "a", "type": "ipv4", "datacenter": "nbg1-dc3", "assignee_type": "server"});
    let made = old.post("/primary_ips", &body)["primary_ip"].clone();
    assert_eq!((&made["datacenter"]["name"], &made["assignee_type"]), (&json!("nbg1-dc3"), &json!("server")));
}

#[test]
fn a_server_that_is_off_takes_one_of_each_version_and_gives_it_back() {
    let mut rig = Rig::new();
    let server = bare(&mut rig, "s");
    let made = rig.post(
        "/primary_ips",
        &json!({"name": "a", "type": "ipv4", "assignee_type": "server", "assignee_id": server}),
    );
    assert_eq!(made["action"]["command"], "assign_primary_ip");
    let a = made["primary_ip"]["id"].as_u64().unwrap();
    let (b, c) = (ip(&mut rig, "b", "ipv4"), ip(&mut rig, "c", "ipv6"));
    let path = |id: u64, what: &str| format!("/primary_ips/{id}/actions/{what}");
    assert_eq!(rig.refused("POST", &path(c, "assign"), &to(server)), (423, "locked".to_owned()));
    assert_eq!(rig.refused("PUT", &format!("/primary_ips/{a}"), &json!({"name": "n"})).1, "conflict");
    rig.pass(60);
    assert_eq!(rig.refused("POST", &path(b, "assign"), &to(server)), (422, "server_has_ipv4".to_owned()));
    assert_eq!(rig.refused("POST", &path(a, "assign"), &to(server)).1, "primary_ip_already_assigned");
    assert_eq!(rig.refused("POST", &path(c, "assign"), &to(7)), (404, "not_found".to_owned()));
    rig.post(&path(c, "assign"), &to(server));
    rig.pass(60);
    rig.post(&format!("/servers/{server}/actions/poweron"), &Value::Null);
    rig.pass(60);
    assert_eq!(rig.refused("POST", &path(a, "unassign"), &Value::Null).1, "server_not_stopped");
    rig.post(&format!("/servers/{server}/actions/poweroff"), &Value::Null);
    rig.pass(60);
    assert_eq!(rig.refused("DELETE", &format!("/primary_ips/{a}"), &Value::Null).1, "must_be_unassigned");
    rig.post(&path(a, "unassign"), &Value::Null);
    rig.pass(60);
    let net = rig.get(&format!("/servers/{server}"))["server"]["public_net"].clone();
    assert_eq!((&net["ipv4"], &net["ipv6"]["id"]), (&Value::Null, &json!(c)));
    assert_eq!(rig.done("DELETE", &format!("/primary_ips/{a}"), &Value::Null), Value::Null);
    assert_eq!(rig.refused("POST", &path(b, "unassign"), &Value::Null).0, 422);
}

#[test]
fn a_balancer_holds_the_address_that_it_sends_connections_to() {
    let mut rig = Rig::new();
    let inside = bare(&mut rig, "s");
    let a = ip(&mut rig, "a", "ipv4");
    let (assign, unassign) =
        (format!("/primary_ips/{a}/actions/assign"), format!("/primary_ips/{a}/actions/unassign"));
    rig.post(&assign, &to(inside));
    rig.pass(60);
    let network = rig.get("/networks")["networks"][0]["id"].clone();
    let body = json!({"name": "lb", "load_balancer_type": "lb11", "location": "fsn1", "network": network});
    let balancer = rig.post("/load_balancers", &body)["load_balancer"]["id"].clone();
    rig.pass(60);
    for (private, status) in [(false, 422), (true, 201)] {
        let target = json!({"type": "server", "server": {"id": inside}, "use_private_ip": private});
        rig.post(&format!("/load_balancers/{balancer}/actions/add_target"), &target);
        rig.pass(60);
        let (told, answer) = rig.ask("POST", &unassign, &Value::Null);
        assert_eq!(told, status, "{answer}");
        if status == 422 {
            assert_eq!(answer["error"]["code"], "server_is_load_balancer_target");
            let target = json!({"type": "server", "server": {"id": inside}});
            rig.post(&format!("/load_balancers/{balancer}/actions/remove_target"), &target);
            rig.pass(60);
        }
    }
}

#[test]
fn in_2024_one_was_taken_from_its_server_when_deleted() {
    let mut rig = Rig::of(Profile::Y2024);
    let server = server(&mut rig, "s", &Value::Null);
    let id = rig.get("/primary_ips")["primary_ips"][0]["id"].as_u64().unwrap();
    rig.done("DELETE", &format!("/primary_ips/{id}"), &Value::Null);
    assert_eq!(rig.get(&format!("/servers/{server}"))["server"]["public_net"]["ipv4"], Value::Null);
}

#[test]
fn addresses_have_names_in_the_reverse() {
    let mut rig = Rig::new();
    let (a, b) = (ip(&mut rig, "a", "ipv4"), ip(&mut rig, "b", "ipv6"));
    let shown = |rig: &mut Rig, id: u64| rig.get(&format!("/primary_ips/{id}"))["primary_ip"].clone();
    let before = shown(&mut rig, a);
    assert!(before["dns_ptr"][0]["dns_ptr"].as_str().unwrap().starts_with("static."));
    let inside = shown(&mut rig, b)["ip"].as_str().unwrap().replace("::/64", "::7");
    for (id, ip) in [(a, before["ip"].as_str().unwrap().to_owned()), (b, inside.clone())] {
        let path = format!("/primary_ips/{id}/actions/change_dns_ptr");
        rig.post(&path, &json!({"ip": ip, "dns_ptr": "a.example.com"}));
        rig.pass(60);
        assert_eq!(shown(&mut rig, id)["dns_ptr"], json!([{"ip": ip, "dns_ptr": "a.example.com"}]));
        for body in [json!({"ip": "1.1.1.1"}), json!({"dns_ptr": "a"}), json!({"ip": ip, "dns_ptr": "-"})] {
            assert_eq!(rig.refused("POST", &path, &body).1, "invalid_input", "{body}");
        }
        rig.post(&path, &json!({"ip": ip, "dns_ptr": null}));
        rig.pass(60);
    }
    assert_eq!(shown(&mut rig, a), before);
    assert_eq!(shown(&mut rig, b)["dns_ptr"], json!([]));
    let path = format!("/primary_ips/{b}/actions/change_dns_ptr");
    for number in 0..=100 {
        let ip = inside.replace("::7", &format!("::{:x}", number + 1));
        let (status, _) = rig.ask("POST", &path, &json!({"ip": ip, "dns_ptr": "n"}));
        assert_eq!(status, if number < 100 { 201 } else { 422 });
        rig.pass(60);
    }
}

#[test]
fn protection_and_automatic_deletion_exclude_each_other() {
    let mut rig = Rig::new();
    let id = ip(&mut rig, "a", "ipv4");
    let (path, protect) =
        (format!("/primary_ips/{id}"), format!("/primary_ips/{id}/actions/change_protection"));
    rig.done("PUT", &path, &json!({"auto_delete": true, "labels": {"a": "b"}}));
    assert_eq!(rig.refused("POST", &protect, &json!({"delete": true})).1, "invalid_input");
    rig.done("PUT", &path, &json!({"auto_delete": false}));
    rig.post(&protect, &json!({"delete": true}));
    assert_eq!(rig.refused("PUT", &path, &json!({"auto_delete": true})).1, "invalid_input");
    assert_eq!(rig.refused("DELETE", &path, &Value::Null), (423, "protected".to_owned()));
    assert_eq!(rig.get(&path)["primary_ip"]["labels"], json!({"a": "b"}));
}

#[test]
fn when_no_address_is_left_nobody_gets_one() {
    let mut rig = Rig::new();
    rig.engine.project.pools.set_size(1);
    let one = ip(&mut rig, "a", "ipv4");
    let before = rig.engine.project.clone();
    let body = json!({"name": "b", "type": "ipv4", "location": "fsn1"});
    assert_eq!(rig.refused("POST", "/primary_ips", &body), (412, "resource_unavailable".to_owned()));
    let body = json!({"name": "s", "server_type": "cx23", "image": "debian-12", "location": "fsn1"});
    assert_eq!(rig.refused("POST", "/servers", &body), (412, "resource_unavailable".to_owned()));
    assert_eq!(rig.engine.project.primary_ips, before.primary_ips);
    rig.done("DELETE", &format!("/primary_ips/{one}"), &Value::Null);
    ip(&mut rig, "b", "ipv4");
}

#[test]
fn what_fails_leaves_everything_as_it_was() {
    let mut rig = Rig::new();
    let (server, ip) = (bare(&mut rig, "s"), ip(&mut rig, "a", "ipv6"));
    let path = |what: &str| format!("/primary_ips/{ip}/actions/{what}");
    let holder = |rig: &Rig| {
        let project = &rig.engine.project;
        (project.servers.find(server).unwrap().ipv6, project.primary_ips.find(ip).unwrap().assignee)
    };
    let trouble = rig.inject(&json!({"kind": "fails", "command": "assign_primary_ip"}));
    rig.post(&path("assign"), &to(server));
    assert_eq!(holder(&rig), (Some(ip), Some(Assignee::Server(server))));
    rig.pass(60);
    assert_eq!(holder(&rig), (None, None));
    rig.heal(trouble);
    rig.post(&path("assign"), &to(server));
    rig.pass(60);
    rig.inject(&json!({"kind": "fails", "command": "unassign_primary_ip"}));
    rig.post(&path("unassign"), &Value::Null);
    rig.pass(60);
    assert_eq!(holder(&rig), (Some(ip), Some(Assignee::Server(server))));
    rig.inject(&json!({"kind": "no_addresses", "location": "fsn1"}));
    let more = json!({"name": "b", "type": "ipv4", "location": "fsn1"});
    assert_eq!(rig.refused("POST", "/primary_ips", &more), (412, "resource_unavailable".to_owned()));
}

proptest! {
    #![proptest_config(Config { failure_persistence: None, cases: 32, ..Config::default() })]

    /// Whatever is asked for and whenever: a server and its addresses know each other, and no address is had twice.
    #[test]
    fn servers_and_addresses_know_each_other(
        steps in prop::collection::vec((0..7u8, any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..40),
    ) {
        let mut rig = Rig::new();
        for (number, (step, which, other)) in steps.into_iter().enumerate() {
            let project = &rig.engine.project;
            let ips: Vec<u64> = project.primary_ips.all().map(|ip| ip.head.id).collect();
            let servers: Vec<u64> = project.servers.all().map(|server| server.head.id).collect();
            let pick = |all: &[u64], index: prop::sample::Index| if all.is_empty() { 1 } else { all[index.index(all.len())] };
            let (ip, server) = (pick(&ips, which), pick(&servers, other));
            let version = if other.index(2) == 0 { "ipv4" } else { "ipv6" };
            let place = json!({"name": format!("n{number}"), "type": version, "location": "fsn1"});
            let body = json!({"name": format!("n{number}"), "server_type": "cx23", "image": "debian-12",
                "location": "fsn1", "start_after_create": false});
            let _ = match step {
                0 => rig.ask("POST", "/primary_ips", &place),
                1 => rig.ask("POST", &format!("/primary_ips/{ip}/actions/assign"), &to(server)),
                2 => rig.ask("POST", &format!("/primary_ips/{ip}/actions/unassign"), &Value::Null),
                3 => rig.ask("DELETE", &format!("/primary_ips/{ip}"), &Value::Null),
                4 => rig.ask("POST", "/servers", &body),
                5 => rig.ask("DELETE", &format!("/servers/{server}"), &Value::Null),
                _ => {
                    rig.pass(60);
                    (0, Value::Null)
                }
            };
            let project = &rig.engine.project;
            let mut seen = std::collections::BTreeSet::new();
            for ip in project.primary_ips.all() {
                prop_assert!(seen.insert(ip.ip));
                if let Some(Assignee::Server(server)) = ip.assignee {
                    let server = project.servers.find(server).unwrap();
                    let has = if ip.v4 { server.ipv4 } else { server.ipv6 };
                    prop_assert_eq!(has, Some(ip.head.id));
                }
            }
            for server in project.servers.all() {
                for id in [server.ipv4, server.ipv6].into_iter().flatten() {
                    prop_assert_eq!(project.primary_ips.find(id).unwrap().assignee, Some(Assignee::Server(server.head.id)));
                }
            }
        }
    }
}
