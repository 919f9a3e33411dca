//! Who is in a network, as clients see it, and what must hold whatever they do.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::profile::Profile;
use crate::resource::Kind;
use crate::resource::network::Effect;
use crate::rig::Rig;

/// A network of one subnet, by its id.
fn network(rig: &mut Rig, range: &str) -> u64 {
    let subnet = json!({"type": "cloud", "network_zone": "eu-central", "ip_range": range});
    let body = json!({"name": "net", "ip_range": "10.0.0.0/16", "subnets": [subnet]});
    rig.post("/networks", &body)["network"]["id"].as_u64().unwrap()
}

fn attach(rig: &mut Rig, server: u64, body: &Value) -> (u16, String) {
    let (status, answer) = rig.ask("POST", &format!("/servers/{server}/actions/attach_to_network"), body);
    (status, answer["error"]["code"].as_str().unwrap_or_default().to_owned())
}

fn members(rig: &mut Rig, network: u64, query: &str) -> Vec<(u64, String, String)> {
    let list = rig.get(&format!("/networks/{network}/members{query}"))["members"].clone();
    let text = |member: &Value, field: &str| member[field].as_str().unwrap().to_owned();
    let list = list.as_array().unwrap().iter();
    list.map(|it| (it["id"].as_u64().unwrap(), text(it, "ip"), text(it, "status"))).collect()
}

#[test]
fn a_place_is_reserved_at_once_and_shown_at_the_end() {
    let mut rig = Rig::new();
    let net = network(&mut rig, "10.0.1.0/24");
    let [one, two] = ["one", "two"].map(|name| rig.server(name, &json!({})));
    attach(&mut rig, one, &json!({"network": net}));
    let at_one = (one, "10.0.1.1".to_owned(), "attaching".to_owned());
    assert_eq!(members(&mut rig, net, ""), [at_one]);
    assert_eq!(rig.get(&format!("/networks/{net}"))["network"]["servers"], json!([]));
    let taken = attach(&mut rig, two, &json!({"network": net, "ip": "10.0.1.1"}));
    assert_eq!(taken, (422, "ip_not_available".to_owned()));
    attach(&mut rig, two, &json!({"network": net, "ip_range": "10.0.1.0/24", "alias_ips": ["10.0.1.9"]}));
    rig.pass(60);
    assert_eq!(rig.get(&format!("/networks/{net}"))["network"]["servers"], json!([one, two]));
    let shown = rig.get(&format!("/networks/{net}/members?sort=ip:desc"))["members"][0].clone();
    let whole = json!({
        "type": "server", "id": two, "ip": "10.0.1.2", "alias_ips": ["10.0.1.9"], "subnet": "10.0.1.0/24",
        "status": "ok",
    });
    assert_eq!(shown, whole);
    for (query, count) in [
        ("?type=server", 2),
        ("?type=load_balancer", 0),
        ("?status=ok", 2),
        ("?status=error", 0),
        ("?subnet=10.0.1.0%2F24", 2),
        ("?subnet=10.0.2.0%2F24", 0),
        ("?per_page=1&page=2", 1),
    ] {
        assert_eq!(members(&mut rig, net, query).len(), count, "{query}");
    }
}

#[test]
fn who_leaves_keeps_the_address_until_the_end() {
    let mut rig = Rig::new();
    let net = network(&mut rig, "10.0.1.0/24");
    let one = rig.server("one", &json!({}));
    attach(&mut rig, one, &json!({"network": net}));
    rig.pass(60);
    rig.post(&format!("/servers/{one}/actions/detach_from_network"), &json!({"network": net}));
    assert_eq!(members(&mut rig, net, "")[0].2, "detaching");
    rig.pass(60);
    assert_eq!(members(&mut rig, net, ""), []);
}

#[test]
fn a_subnet_in_use_stays() {
    let mut rig = Rig::new();
    let net = network(&mut rig, "10.0.1.0/24");
    let one = rig.server("one", &json!({}));
    attach(&mut rig, one, &json!({"network": net}));
    let path = format!("/networks/{net}/actions/delete_subnet");
    let body = json!({"ip_range": "10.0.1.0/24"});
    let (status, answer) = rig.ask("POST", &path, &body);
    assert_eq!((status, &answer["error"]["code"]), (422, &json!("service_error")));
    assert!(answer["error"]["message"].as_str().unwrap().contains("servers are attached"));
    rig.done("DELETE", &format!("/servers/{one}"), &Value::Null);
    rig.post(&path, &body);
    // Nobody moves in while it is being deleted.
    let two = rig.server("two", &json!({}));
    assert_eq!(attach(&mut rig, two, &json!({"network": net})), (422, "no_subnet_available".to_owned()));
}

#[test]
fn a_network_that_goes_lets_everybody_go() {
    let mut rig = Rig::new();
    let net = network(&mut rig, "10.0.1.0/24");
    let [one, two] = ["one", "two"].map(|name| rig.server(name, &json!({})));
    attach(&mut rig, one, &json!({"network": net}));
    rig.pass(60);
    attach(&mut rig, two, &json!({"network": net}));
    assert_eq!(rig.ask("DELETE", &format!("/networks/{net}"), &Value::Null).0, 204);
    rig.pass(60);
    for server in [one, two] {
        assert_eq!(rig.get(&format!("/servers/{server}"))["server"]["private_net"], json!([]));
    }
}

#[test]
fn what_fails_leaves_everything_as_it_was() {
    let mut rig = Rig::new();
    let net = network(&mut rig, "10.0.1.0/24");
    let one = rig.server("one", &json!({}));
    attach(&mut rig, one, &json!({"network": net}));
    Effect::Joined { kind: Kind::Server, id: one, network: net }.settle(
        &mut rig.engine.project,
        rig.now,
        false,
    );
    assert_eq!(members(&mut rig, net, ""), []);
    let before = rig.get(&format!("/networks/{net}"));
    let subnet = rig.engine.project.networks.get(net).unwrap().plan.subnets()[0].clone();
    rig.post(&format!("/networks/{net}/actions/delete_subnet"), &json!({"ip_range": "10.0.1.0/24"}));
    Effect::SubnetDeleted { network: net, subnet }.settle(&mut rig.engine.project, rig.now, false);
    assert_eq!(rig.get(&format!("/networks/{net}")), before);
}

#[test]
fn the_list_of_members_is_new() {
    let mut rig = Rig::of(Profile::June2026);
    let net = network(&mut rig, "10.0.1.0/24");
    assert_eq!(rig.ask("GET", &format!("/networks/{net}/members"), &Value::Null).0, 404);
    assert_eq!(rig.ask("GET", "/networks/1/members", &Value::Null).0, 404);
}

#[derive(Clone, Debug)]
enum Step {
    Attach { server: usize, ip: Option<u8>, alias: Option<u8> },
    Detach { server: usize },
    Delete { server: usize },
    Fail { server: usize },
    Pass { seconds: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    let server = 0..6usize;
    let last = || prop::option::of(0..17u8);
    prop_oneof![
        4 => (server.clone(), last(), last()).prop_map(|(server, ip, alias)| Step::Attach { server, ip, alias }),
        2 => server.clone().prop_map(|server| Step::Detach { server }),
        1 => server.clone().prop_map(|server| Step::Delete { server }),
        1 => server.prop_map(|server| Step::Fail { server }),
        2 => (0..5u64).prop_map(|seconds| Step::Pass { seconds }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn nobody_has_anothers_address(steps in prop::collection::vec(step(), 0..30)) {
        let mut rig = Rig::new();
        let net = network(&mut rig, "10.0.1.0/28");
        let servers: Vec<u64> = (0..6).map(|n| rig.server(&format!("s{n}"), &json!({}))).collect();
        for step in steps {
            let (path, body) = match &step {
                Step::Pass { seconds } => {
                    rig.pass(*seconds);
                    continue;
                }
                Step::Fail { server } => {
                    let failed = Effect::Joined { kind: Kind::Server, id: servers[*server], network: net };
                    failed.settle(&mut rig.engine.project, rig.now, false);
                    continue;
                }
                Step::Delete { server } => {
                    rig.ask("DELETE", &format!("/servers/{}", servers[*server]), &Value::Null);
                    continue;
                }
                Step::Attach { server, ip, alias } => {
                    let text = |last: &u8| format!("10.0.1.{last}");
                    let aliases: Vec<String> = alias.iter().map(text).collect();
                    let body = json!({"network": net, "ip": ip.as_ref().map(text), "alias_ips": aliases});
                    (format!("/servers/{}/actions/attach_to_network", servers[*server]), body)
                }
                Step::Detach { server } => {
                    (format!("/servers/{}/actions/detach_from_network", servers[*server]), json!({"network": net}))
                }
            };
            let before = serde_json::to_string(&rig.engine.project.servers).unwrap();
            let refused = rig.ask("POST", &path, &body).0 >= 400;
            prop_assert!(!refused || serde_json::to_string(&rig.engine.project.servers).unwrap() == before);
            let list = rig.get(&format!("/networks/{net}/members?per_page=50"))["members"].clone();
            let mut seen = BTreeSet::new();
            for member in list.as_array().unwrap() {
                let aliases = member["alias_ips"].as_array().unwrap().iter();
                for ip in aliases.chain([&member["ip"]]) {
                    let ip = ip.as_str().unwrap().to_owned();
                    let last: u8 = ip.strip_prefix("10.0.1.").unwrap().parse().unwrap();
                    prop_assert!((1..15).contains(&last), "{ip} is not for anybody");
                    prop_assert!(seen.insert(ip));
                }
            }
        }
    }
}
