//! Lives of firewalls, what is refused, and the law of their applications.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::action::Ending;
use crate::rig::Rig;

fn open(port: &str) -> Value {
    json!({"direction": "in", "protocol": "tcp", "port": port, "source_ips": ["0.0.0.0/0", "::/0"]})
}

fn by_id(server: u64) -> Value {
    json!({"type": "server", "server": {"id": server}})
}

fn by_label(selector: &str) -> Value {
    json!({"type": "label_selector", "label_selector": {"selector": selector}})
}

/// A firewall without rules, applied to these: its path.
fn firewall(rig: &mut Rig, name: &str, apply_to: &[Value]) -> String {
    let made = rig.post("/firewalls", &json!({"name": name, "apply_to": apply_to}));
    rig.pass(60);
    format!("/firewalls/{}", made["firewall"]["id"])
}

fn applied_to(rig: &mut Rig, path: &str) -> Value {
    rig.get(path)["firewall"]["applied_to"].clone()
}

fn apply(path: &str) -> String {
    format!("{path}/actions/apply_to_resources")
}

fn remove(path: &str) -> String {
    format!("{path}/actions/remove_from_resources")
}

fn commands(answer: &Value) -> Vec<&str> {
    answer["actions"].as_array().unwrap().iter().filter_map(|action| action["command"].as_str()).collect()
}

/// The firewalls that a server is shown to have.
fn firewalls_of(rig: &mut Rig, server: u64) -> usize {
    let shown = rig.get(&format!("/servers/{server}"));
    shown["server"]["public_net"]["firewalls"].as_array().unwrap().len()
}

/// Lets all actions that run at the moment fail.
fn fail_all(rig: &mut Rig) {
    let mut all: Vec<_> = rig.engine.project.actions.clone().into();
    for action in all.iter_mut().filter(|action| action.finished.is_none()) {
        action.ending = Ending::Error { code: "unknown_error".to_owned(), message: "no".to_owned() };
    }
    rig.engine.project.actions = all.into();
}

#[test]
fn a_life() {
    let mut rig = Rig::new();
    let server = rig.server("one", &json!({}));
    let body =
        json!({"name": "web", "labels": {"a": "b"}, "rules": [open("80")], "apply_to": [by_id(server)]});
    let made = rig.post("/firewalls", &body);
    assert_eq!(commands(&made), ["set_firewall_rules", "apply_firewall"]);
    assert_eq!(made["firewall"]["rules"][0]["destination_ips"], json!([]));
    assert_eq!(made["firewall"]["rules"][0]["description"], Value::Null);
    let path = format!("/firewalls/{}", made["firewall"]["id"]);
    assert_eq!(rig.get("/firewalls?label_selector=a%3Db&name=web")["firewalls"], json!([made["firewall"]]));
    assert_eq!(rig.done("PUT", &path, &json!({"name": "www"}))["firewall"]["name"], "www");

    rig.pass(60);
    let shown = rig.get(&format!("{path}/actions?status=success&sort=id"));
    assert_eq!(commands(&shown), ["set_firewall_rules", "apply_firewall"]);
    let rules = json!({"rules": [open("443"), open("8000-9000")]});
    let set = rig.post(&format!("{path}/actions/set_rules"), &rules);
    assert_eq!(commands(&set), ["set_firewall_rules", "apply_firewall"]);
    assert_eq!(rig.get(&path)["firewall"]["rules"][1]["port"], "8000-9000");

    assert_eq!(rig.refused("DELETE", &path, &Value::Null), (422, "resource_in_use".to_owned()));
    let removed = rig.post(&remove(&path), &json!({"remove_from": [by_id(server)]}));
    assert_eq!(commands(&removed), ["remove_firewall"]);
    assert_eq!(applied_to(&mut rig, &path), json!([by_id(server)]));
    rig.pass(60);
    assert_eq!(applied_to(&mut rig, &path), json!([]));
    assert_eq!(rig.ask("DELETE", &path, &Value::Null), (204, Value::Null));
}

#[test]
fn a_selector_reaches_who_comes_and_lets_go_of_who_leaves() {
    let mut rig = Rig::new();
    let (web, db) = (rig.server("web", &json!({"role": "web"})), rig.server("db", &json!({"role": "db"})));
    let path = firewall(&mut rig, "f", &[by_label("role=web")]);
    let reached = |rig: &mut Rig| {
        let all = applied_to(rig, &path);
        all.as_array().unwrap().last().unwrap()["applied_to_resources"].clone()
    };
    assert_eq!(reached(&mut rig), json!([by_id(web)]));
    rig.done("PUT", &format!("/servers/{db}"), &json!({"labels": {"role": "web"}}));
    assert_eq!(reached(&mut rig), json!([by_id(web), by_id(db)]));
    assert_eq!(firewalls_of(&mut rig, db), 1);
    rig.post(&apply(&path), &json!({"apply_to": [by_id(db)]}));
    assert_eq!(reached(&mut rig), json!([by_id(web)]));
    rig.done("DELETE", &format!("/servers/{web}"), &Value::Null);
    rig.done("DELETE", &format!("/servers/{db}"), &Value::Null);
    assert_eq!(
        applied_to(&mut rig, &path),
        json!([{
            "type": "label_selector",
            "label_selector": {"selector": "role=web"},
            "applied_to_resources": [],
        }])
    );
    assert_eq!(rig.refused("DELETE", &path, &Value::Null), (422, "resource_in_use".to_owned()));
    let as_shown = applied_to(&mut rig, &path);
    rig.post(&remove(&path), &json!({"remove_from": as_shown}));
    rig.pass(60);
    rig.done("DELETE", &path, &Value::Null);
}

#[test]
fn it_is_pending_until_the_action_has_ended() {
    let mut rig = Rig::new();
    let server = rig.server("one", &json!({"a": "b"}));
    let path = firewall(&mut rig, "f", &[]);
    let status = |rig: &mut Rig| {
        let shown = rig.get(&format!("/servers/{server}"));
        shown["server"]["public_net"]["firewalls"][0]["status"].clone()
    };
    assert_eq!(status(&mut rig), Value::Null);
    rig.post(&apply(&path), &json!({"apply_to": [by_id(server), by_label("a")]}));
    assert_eq!(status(&mut rig), "pending");
    let twice = rig.refused("POST", &apply(&path), &json!({"apply_to": [by_id(server)]}));
    assert_eq!(twice, (422, "firewall_already_applied".to_owned()));
    let early = rig.refused("POST", &remove(&path), &json!({"remove_from": [by_id(server)]}));
    assert_eq!(early, (409, "conflict".to_owned()));
    rig.pass(60);
    assert_eq!(status(&mut rig), "applied");
}

#[test]
fn what_failed_is_undone() {
    let mut rig = Rig::new();
    let (one, two) = (rig.server("one", &json!({})), rig.server("two", &json!({})));
    let path = firewall(&mut rig, "f", &[by_id(one)]);
    rig.post(&apply(&path), &json!({"apply_to": [by_id(two), by_label("a")]}));
    rig.post(&remove(&path), &json!({"remove_from": [by_id(one)]}));
    fail_all(&mut rig);
    rig.pass(60);
    assert_eq!(applied_to(&mut rig, &path), json!([by_id(one)]));
    assert_eq!(rig.engine.project.firewalls.all().next().unwrap().pending, []);
}

#[test]
fn a_server_is_made_with_it() {
    let mut rig = Rig::new();
    let path = firewall(&mut rig, "f", &[]);
    let id = json!({"firewall": rig.get(&path)["firewall"]["id"]});
    let body = json!({"name": "one", "server_type": "cx23", "image": "ubuntu-24.04", "firewalls": [id, id]});
    let server = rig.post("/servers", &body)["server"]["id"].as_u64().unwrap();
    assert_eq!(applied_to(&mut rig, &path), json!([by_id(server)]));
    assert_eq!(firewalls_of(&mut rig, server), 1);
}

#[test]
fn who_cannot_have_it_is_refused() {
    let mut rig = Rig::new();
    let (one, hidden) = (rig.server("one", &json!({"a": "b"})), rig.server("hidden", &json!({"a": "b"})));
    rig.engine.project.servers.find_mut(hidden).unwrap().ipv4 = None;
    let path = firewall(&mut rig, "f", &[by_label("a=b")]);
    assert_eq!(applied_to(&mut rig, &path)[0]["applied_to_resources"], json!([by_id(one)]));
    let before = rig.get(&path);
    for (route, body, expected) in [
        (apply(&path), json!({"apply_to": [by_id(7)]}), (404, "firewall_resource_not_found")),
        (apply(&path), json!({"apply_to": [by_id(one), by_id(hidden)]}), (422, "private_net_only_server")),
        (apply(&path), json!({"apply_to": [by_id(one), by_id(one)]}), (422, "firewall_already_applied")),
        (apply(&path), json!({"apply_to": [by_label("a=b")]}), (422, "firewall_already_applied")),
        (apply(&path), json!({"apply_to": [by_label("a=b,")]}), (422, "invalid_input")),
        (apply(&path), json!({"apply_to": [by_label(" ")]}), (422, "invalid_input")),
        (apply(&path), json!({"apply_to": [{"type": "server"}]}), (422, "invalid_input")),
        (
            apply(&path),
            json!({"apply_to": [{"type": "volume", "volume": {"id": 1}}]}),
            (422, "invalid_input"),
        ),
        (apply(&path), json!({}), (422, "invalid_input")),
        (apply("/firewalls/7"), json!({}), (404, "not_found")),
        (remove(&path), json!({"remove_from": [by_id(7)]}), (404, "firewall_resource_not_found")),
        (remove(&path), json!({"remove_from": [by_id(one)]}), (422, "firewall_managed_by_label_selector")),
        ("/firewalls".to_owned(), json!({"name": "f"}), (409, "uniqueness_error")),
        ("/firewalls".to_owned(), json!({"name": "g".repeat(129)}), (422, "invalid_input")),
        (
            "/firewalls".to_owned(),
            json!({"name": "g", "apply_to": [by_id(7)]}),
            (422, "firewall_resource_not_found"),
        ),
        (
            "/firewalls".to_owned(),
            json!({"name": "g", "apply_to": [by_id(one), by_id(one)]}),
            (422, "server_already_added"),
        ),
    ] {
        let (status, code) = rig.refused("POST", &route, &body);
        assert_eq!((status, code.as_str()), expected, "{route} {body}");
    }
    let nothing = json!({"remove_from": [by_id(hidden), by_label("c")]});
    assert_eq!(rig.post(&remove(&path), &nothing), json!({"actions": []}), "there is nothing to remove");
    assert_eq!(rig.get(&path), before);
    assert_eq!(rig.get("/firewalls")["meta"]["pagination"]["total_entries"], 1);
}

#[test]
fn a_server_has_five_at_most() {
    let mut rig = Rig::new();
    let server = rig.server("one", &json!({"a": "b"}));
    firewall(&mut rig, "labelled", &[by_label("a")]);
    for index in 0..4 {
        firewall(&mut rig, &format!("f{index}"), &[by_id(server)]);
    }
    let path = firewall(&mut rig, "sixth", &[]);
    let sixth = rig.refused("POST", &apply(&path), &json!({"apply_to": [by_id(server)]}));
    assert_eq!(sixth, (403, "resource_limit_exceeded".to_owned()));
    assert_eq!(firewalls_of(&mut rig, server), 5);
}

#[test]
fn a_server_that_is_made_cannot_have_more_either() {
    let mut rig = Rig::new();
    firewall(&mut rig, "labelled", &[by_label("a")]);
    let mut ids = Vec::new();
    for index in 0..5 {
        let path = firewall(&mut rig, &format!("f{index}"), &[]);
        ids.push(json!({"firewall": rig.get(&path)["firewall"]["id"]}));
    }
    let refused = |rig: &mut Rig, mut more: Value| {
        more["firewalls"] = json!(ids);
        rig.order_with("one", &more).1["error"]["code"].clone()
    };
    assert_eq!(refused(&mut rig, json!({"labels": {"a": "b"}})), "resource_limit_exceeded");
    let network = json!({"name": "n", "ip_range": "10.0.0.0/16",
        "subnets": [{"type": "cloud", "ip_range": "10.0.1.0/24", "network_zone": "eu-central"}]});
    let network = rig.post("/networks", &network)["network"]["id"].clone();
    let hidden = json!({"networks": [network], "public_net": {"enable_ipv4": false, "enable_ipv6": false}});
    assert_eq!(refused(&mut rig, hidden), "private_net_only_server");
    let (_, made) = rig.order_with("one", &json!({"firewalls": ids}));
    let made = made["server"]["id"].as_u64().unwrap();
    assert_eq!(firewalls_of(&mut rig, made), 5);
}

#[test]
fn every_mistake_of_a_rule_is_told() {
    let mut rig = Rig::new();
    let path = firewall(&mut rig, "f", &[]);
    let many: Vec<String> = (0..101).map(|index| format!("10.0.0.{index}/32")).collect();
    for (rule, field) in [
        (json!({"protocol": "icmp", "source_ips": ["::/0"]}), "direction"),
        (json!({"direction": "up", "protocol": "icmp", "source_ips": ["::/0"]}), "direction"),
        (json!({"direction": "in", "source_ips": ["::/0"]}), "protocol"),
        (json!({"direction": "in", "protocol": "sctp", "source_ips": ["::/0"]}), "protocol"),
        (json!({"direction": "in", "protocol": "tcp", "source_ips": ["::/0"]}), "port"),
        (json!({"direction": "in", "protocol": "icmp", "port": "80", "source_ips": ["::/0"]}), "port"),
        (json!({"direction": "in", "protocol": "udp", "port": "85-80", "source_ips": ["::/0"]}), "port"),
        (json!({"direction": "in", "protocol": "udp", "port": 80, "source_ips": ["::/0"]}), "port"),
        (json!({"direction": "in", "protocol": "gre"}), "source_ips"),
        (json!({"direction": "out", "protocol": "esp", "source_ips": []}), "destination_ips"),
        (json!({"direction": "in", "protocol": "esp", "source_ips": ["10.0.0.1/8"]}), "source_ips"),
        (json!({"direction": "in", "protocol": "esp", "source_ips": many}), "source_ips"),
        (
            json!({"direction": "in", "protocol": "esp", "source_ips": ["::/0"], "destination_ips": ["::/0"]}),
            "destination_ips",
        ),
        (
            json!({"direction": "in", "protocol": "esp", "source_ips": ["::/0"], "description": "d".repeat(256)}),
            "description",
        ),
        (json!({"direction": "in", "protocol": "esp", "source_ips": ["::/0"], "ports": "1"}), "ports"),
    ] {
        let body = json!({"rules": [open("80"), rule]});
        let (status, answer) = rig.ask("POST", &format!("{path}/actions/set_rules"), &body);
        assert_eq!(status, 422, "{body}: {answer}");
        let fields = answer["error"]["details"]["fields"].as_array().unwrap();
        assert!(fields.iter().any(|told| told["name"] == format!("rules.1.{field}")), "{body}: {answer}");
    }
    let wide: Vec<&str> = vec!["10.0.0.0/8"; 100];
    let wide = json!({"direction": "out", "protocol": "icmp", "destination_ips": wide});
    for (rules, refused) in [
        (vec![open("1"); 50], false),
        (vec![open("1"); 51], true),
        (vec![wide.clone(); 5], false),
        (vec![wide; 6], true),
    ] {
        let count = rules.len();
        let (status, _) = rig.ask("POST", &format!("{path}/actions/set_rules"), &json!({"rules": rules}));
        assert_eq!(status >= 400, refused, "{count}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    /// However firewalls are applied, taken off and servers deleted: nothing is listed twice, nothing points to a
    /// server that is gone, and once all actions have ended nothing is pending.
    #[test]
    fn applications_stay_whole(steps in prop::collection::vec((0..6_u8, 0..3_usize, any::<bool>()), 1..40)) {
        let mut rig = Rig::new();
        let servers: Vec<u64> = (0..3).map(|index| rig.server(&format!("s{index}"), &json!({"a": "b"}))).collect();
        let path = firewall(&mut rig, "f", &[]);
        for (step, which, fails) in steps {
            let server = servers[which];
            let selector = ["a", "a=b", "!a"][which];
            let (_, answer) = match step {
                0 | 1 => rig.ask("POST", &apply(&path), &json!({"apply_to": [by_id(server)]})),
                2 => rig.ask("POST", &apply(&path), &json!({"apply_to": [by_label(selector)]})),
                3 => rig.ask("POST", &remove(&path), &json!({"remove_from": [by_id(server)]})),
                4 => rig.ask("POST", &remove(&path), &json!({"remove_from": [by_label(selector)]})),
                _ if fails => rig.ask("DELETE", &format!("/servers/{server}"), &Value::Null),
                _ => rig.ask("GET", &path, &Value::Null),
            };
            prop_assert!(answer["error"]["code"] != "server_error");
            if fails {
                fail_all(&mut rig);
            }
            rig.pass(3);
            let project = &rig.engine.project;
            let firewall = project.firewalls.all().next().unwrap();
            let mut once = firewall.servers.clone();
            once.sort_unstable();
            once.dedup();
            prop_assert_eq!(once.len(), firewall.servers.len());
            prop_assert!(firewall.servers.iter().all(|id| project.servers.find(*id).is_some()));
            prop_assert!(firewall.pending.iter().all(|target| firewall.is_applied_to(target)));
        }
        rig.pass(60);
        prop_assert!(rig.engine.project.firewalls.all().all(|firewall| firewall.pending.is_empty()));
    }
}
