//! Load balancers as clients see them.

use serde_json::{Value, json};

use crate::resource::Kind;
use crate::resource::load_balancer::Algorithm;
use crate::resource::load_balancer::effect::Change;
use crate::resource::load_balancer::show::show;
use crate::resource::shelf::Shelf;
use crate::rig::Rig;

struct Bench {
    rig: Rig,
    /// The path of a balancer.
    front: String,
}

impl Bench {
    fn new(more: &Value) -> Self {
        let mut rig = Rig::new();
        let front = create(&mut rig, more);
        rig.pass(60);
        Self { rig, front }
    }

    fn shown(&mut self) -> Value {
        self.rig.get(&self.front)["load_balancer"].clone()
    }

    /// Lets something be done from beginning to end.
    fn act(&mut self, action: &str, body: &Value) -> Value {
        let path = format!("{}/actions/{action}", self.front);
        let begun = self.rig.post(&path, body)["action"].clone();
        self.rig.pass(60);
        begun
    }

    fn refused(&mut self, action: &str, body: &Value) -> (u16, String) {
        let before = self.shown();
        let refusal = self.rig.refused("POST", &format!("{}/actions/{action}", self.front), body);
        assert_eq!(self.shown(), before);
        refusal
    }

    /// A network with the server in it, and a subnet for dedicated servers.
    fn network(&mut self, servers: &[u64]) -> u64 {
        let subnets = json!([
            {"type": "cloud", "network_zone": "eu-central", "ip_range": "10.0.1.0/24"},
            {"type": "vswitch", "network_zone": "eu-central", "ip_range": "10.0.9.0/24", "vswitch_id": 1},
        ]);
        let body = json!({"name": "net", "ip_range": "10.0.0.0/16", "subnets": subnets});
        let network = self.rig.post("/networks", &body)["network"]["id"].as_u64().unwrap();
        for server in servers {
            let path = format!("/servers/{server}/actions/attach_to_network");
            self.rig.post(&path, &json!({"network": network}));
        }
        self.rig.pass(60);
        network
    }
}

fn create(rig: &mut Rig, more: &Value) -> String {
    let answer = rig.post("/load_balancers", &wish(more));
    format!("/load_balancers/{}", answer["load_balancer"]["id"])
}

fn wish(more: &Value) -> Value {
    let mut body = json!({"name": "front", "load_balancer_type": "lb11", "location": "fsn1"});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

fn tcp(port: u16) -> Value {
    json!({"protocol": "tcp", "listen_port": port, "destination_port": port})
}

fn server(id: u64, private: bool) -> Value {
    json!({"type": "server", "server": {"id": id}, "use_private_ip": private})
}

fn selector(text: &str, private: bool) -> Value {
    json!({"type": "label_selector", "label_selector": {"selector": text}, "use_private_ip": private})
}

fn ip(text: &str) -> Value {
    json!({"type": "ip", "ip": {"ip": text}})
}

fn code(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}

#[test]
fn what_nobody_says_is_as_usual() {
    let mut bench = Bench::new(&json!({"services": [{"protocol": "http"}, tcp(22)]}));
    let shown = bench.shown();
    let http = json!({
        "cookie_name": "HCLBSTICKY", "cookie_lifetime": 300, "timeout_idle": 50, "certificates": [],
        "redirect_http": false, "sticky_sessions": false,
    });
    let page =
        json!({"domain": null, "path": "/", "response": "", "status_codes": ["2??", "3??"], "tls": false});
    let check = |protocol: &str, port: u16| json!({"protocol": protocol, "port": port, "interval": 15, "timeout": 10, "retries": 3});
    let mut http_check = check("http", 80);
    http_check["http"] = page;
    let port =
        |number: u16| json!({"listen_port": number, "destination_port": number, "proxyprotocol": false});
    let mut first = port(80);
    (first["protocol"], first["http"], first["health_check"]) = (json!("http"), http, http_check);
    let mut second = port(22);
    (second["protocol"], second["health_check"]) = (json!("tcp"), check("tcp", 22));
    assert_eq!(shown["services"], json!([first, second]));
    assert_eq!(shown["algorithm"], json!({"type": "round_robin"}));
    assert_eq!(shown["public_net"]["enabled"], true);
    assert_eq!(shown["public_net"]["ipv4"]["dns_ptr"], "static.1.0.18.198.clients.your-server.de");
    let ipv6 = json!({"id": 80_000_002, "ip": "2001:db8:0:1::1", "blocked": false, "dns_ptr": null});
    assert_eq!(shown["public_net"]["ipv6"], ipv6);
    assert_eq!(shown["location"]["name"], "fsn1");
}

#[test]
fn it_can_be_made_in_a_network_zone() {
    let mut rig = Rig::new();
    let body = json!({"name": "far", "load_balancer_type": 1, "network_zone": "us-west"});
    let answer = rig.post("/load_balancers", &body);
    assert_eq!(answer["load_balancer"]["location"]["name"], "hil");
    assert_eq!(answer["action"]["command"], "create_load_balancer");
}

#[test]
fn what_cannot_be_made_is_not() {
    let mut rig = Rig::new();
    let one = rig.server("one", &json!({}));
    let invalid = code(422, "invalid_input");
    let many: Vec<Value> = (1..=6).map(tcp).collect();
    for (more, refusal) in [
        (json!({"location": null}), invalid.clone()),
        (json!({"network_zone": "eu-central"}), invalid.clone()),
        (json!({"location": "moon"}), invalid.clone()),
        (json!({"load_balancer_type": "lb99"}), invalid.clone()),
        (json!({"name": " front"}), invalid.clone()),
        (json!({"algorithm": {"type": "random"}}), invalid.clone()),
        (json!({"services": [{"protocol": "tcp"}]}), invalid.clone()),
        (json!({"services": [{"protocol": "http", "http": {"certificates": [1]}}]}), invalid.clone()),
        (json!({"services": [{"protocol": "https", "http": {"certificates": [1]}}]}), code(404, "not_found")),
        (json!({"services": [tcp(80), tcp(80)]}), code(412, "source_port_already_used")),
        (
            json!({"services": [{"protocol": "https", "http": {"redirect_http": true}}, tcp(80)]}),
            code(412, "source_port_already_used"),
        ),
        (json!({"services": many}), code(403, "resource_limit_exceeded")),
        (json!({"targets": [server(1, false)]}), code(404, "not_found")),
        (json!({"targets": [{"type": "server"}]}), invalid.clone()),
        (json!({"targets": [server(one, false), server(one, false)]}), code(422, "target_already_defined")),
        (json!({"targets": [server(one, true)]}), code(422, "load_balancer_not_attached_to_network")),
        (
            json!({"targets": [server(one, false)], "public_interface": false}),
            code(422, "load_balancer_public_interface_disabled"),
        ),
        (json!({"network": 1}), code(404, "not_found")),
        (json!({"public_net": {"ipv4": 1}}), code(404, "not_found")),
        (json!({"public_net": {"enable_ipv4": true}}), invalid.clone()),
    ] {
        assert_eq!(rig.refused("POST", "/load_balancers", &wish(&more)), refusal, "{more}");
    }
    assert_eq!(rig.engine.project.load_balancers, Shelf::default(), "not even an id is spent");
    // No address was spent either.
    let front = create(&mut rig, &json!({}));
    assert_eq!(rig.get(&front)["load_balancer"]["public_net"]["ipv4"]["ip"], "198.18.0.1");
    assert_eq!(rig.refused("POST", "/load_balancers", &wish(&json!({}))), code(409, "uniqueness_error"));
}

#[test]
fn services_are_added_changed_and_deleted() {
    let mut bench = Bench::new(&json!({}));
    bench.act("add_service", &tcp(22));
    assert_eq!(bench.refused("add_service", &tcp(22)), code(412, "source_port_already_used"));
    bench.act(
        "update_service",
        &json!({"listen_port": 22, "destination_port": 2222, "health_check": {"interval": 5}}),
    );
    let service = bench.shown()["services"][0].clone();
    assert_eq!((&service["destination_port"], &service["protocol"]), (&json!(2222), &json!("tcp")));
    let check = json!({"protocol": "tcp", "port": 22, "interval": 5, "timeout": 10, "retries": 3});
    assert_eq!(service["health_check"], check);
    assert_eq!(bench.refused("update_service", &json!({"listen_port": 23})), code(404, "not_found"));
    assert_eq!(bench.refused("update_service", &json!({"listen_port": 0})), code(422, "invalid_input"));
    let slow = json!({"listen_port": 22, "health_check": {"interval": 61}});
    assert_eq!(bench.refused("update_service", &slow), code(422, "invalid_input"));
    assert_eq!(bench.refused("delete_service", &json!({"listen_port": 23})), code(404, "not_found"));
    bench.act("delete_service", &json!({"listen_port": 22}));
    assert_eq!(bench.shown()["services"], json!([]));
}

#[test]
fn one_thing_at_a_time() {
    let mut bench = Bench::new(&json!({}));
    bench.rig.post(&format!("{}/actions/add_service", bench.front), &tcp(22));
    assert_eq!(bench.shown()["services"], json!([]), "it is there at the end");
    for (action, body) in [
        ("add_service", tcp(23)),
        ("change_algorithm", json!({"type": "least_connections"})),
        ("change_type", json!({"load_balancer_type": "lb21"})),
        ("add_target", selector("a=b", false)),
        ("enable_public_interface", Value::Null),
    ] {
        assert_eq!(bench.refused(action, &body), code(409, "conflict"), "{action}");
    }
    bench.rig.pass(60);
    assert_eq!(bench.shown()["services"][0]["listen_port"], 22);
}

#[test]
fn a_target_is_as_well_as_its_server() {
    let mut bench = Bench::new(&json!({"services": [tcp(22)]}));
    let one = bench.rig.server("one", &json!({"role": "web"}));
    bench.act("add_target", &server(one, false));
    bench.act("add_target", &selector("role=web", false));
    bench.act("add_target", &ip("192.0.2.1"));
    let well = json!([{"listen_port": 22, "status": "healthy"}]);
    let targets = bench.shown()["targets"].clone();
    assert_eq!(targets[0]["health_status"], well);
    assert_eq!(targets[1]["targets"][0]["health_status"], well);
    assert_eq!(targets[2]["health_status"][0]["status"], "unknown");
    assert_eq!(
        bench.rig.get(&format!("/servers/{one}"))["server"]["load_balancers"].as_array().unwrap().len(),
        1
    );
    bench.rig.post(&format!("/servers/{one}/actions/poweroff"), &Value::Null);
    bench.rig.pass(60);
    let ill = json!([{"listen_port": 22, "status": "unhealthy", "detail": "layer4_timeout"}]);
    assert_eq!(bench.shown()["targets"][0]["health_status"], ill);
    let two = bench.rig.server("two", &json!({"role": "web"}));
    // What is put past the API is seen when something else has happened.
    bench.act("change_protection", &json!({"delete": false}));
    assert_eq!(bench.shown()["targets"][1]["targets"][1]["server"]["id"], two);
    bench.rig.done("DELETE", &format!("/servers/{one}"), &Value::Null);
    let targets = bench.shown()["targets"].clone();
    assert_eq!(targets.as_array().unwrap().len(), 2, "the server took its target with it");
    assert_eq!(targets[0]["targets"].as_array().unwrap().len(), 1);
    bench.act("remove_target", &json!({"type": "ip", "ip": {"ip": "192.0.2.1"}}));
    let (status, answer) =
        bench.rig.ask("POST", &format!("{}/actions/remove_target", bench.front), &ip("192.0.2.1"));
    assert_eq!((status, &answer["error"]["code"]), (404, &json!("not_found")));
    assert!(answer["error"]["message"].as_str().unwrap().contains("target not found"));
}

#[test]
fn a_target_that_goes_while_it_is_added_is_none() {
    let mut bench = Bench::new(&json!({}));
    let one = bench.rig.server("one", &json!({}));
    bench.rig.post(&format!("{}/actions/add_target", bench.front), &server(one, false));
    bench.rig.done("DELETE", &format!("/servers/{one}"), &Value::Null);
    bench.rig.pass(60);
    assert_eq!(bench.shown()["targets"], json!([]));
}

#[test]
fn targets_inside_a_network() {
    let mut bench = Bench::new(&json!({"services": [tcp(22)]}));
    let [one, two] = ["one", "two"].map(|name| bench.rig.server(name, &json!({"role": "web"})));
    let net = bench.network(&[one]);
    assert_eq!(
        bench.refused("add_target", &ip("10.0.9.5")),
        code(422, "load_balancer_not_attached_to_network")
    );
    let wrong = bench.refused("attach_to_network", &json!({"network": net, "ip": "10.0.1.1"}));
    assert_eq!(wrong, code(422, "ip_not_available"));
    bench.act("attach_to_network", &json!({"network": net, "ip": "10.0.1.9"}));
    assert_eq!(bench.shown()["private_net"], json!([{"network": net, "ip": "10.0.1.9"}]));
    assert_eq!(
        bench.refused("attach_to_network", &json!({"network": net})),
        code(422, "load_balancer_already_attached")
    );
    bench.act("add_target", &server(one, true));
    bench.act("add_target", &selector("role=web", true));
    bench.act("add_target", &ip("10.0.9.5"));
    for (target, refusal) in [
        (server(two, true), "resolve_cloud_private_targets_error"),
        (ip("10.0.1.5"), "ip_not_in_vswitch_subnet"),
        (ip("198.18.0.1"), "cloud_resource_ip_not_allowed"),
        (server(one, false), "target_already_defined"),
    ] {
        assert_eq!(bench.refused("add_target", &target), code(422, refusal), "{target}");
    }
    let selected = bench.shown()["targets"][1]["targets"].clone();
    assert_eq!(selected.as_array().unwrap().len(), 1, "the other server is not in the network");
    assert_eq!(selected[0]["health_status"][0]["status"], "healthy");
    bench.act("disable_public_interface", &Value::Null);
    assert_eq!(bench.shown()["public_net"]["enabled"], false);
    assert_eq!(
        bench.refused("add_target", &server(two, false)),
        code(422, "load_balancer_public_interface_disabled")
    );
    bench.act("detach_from_network", &json!({"network": net}));
    assert_eq!(bench.shown()["private_net"], json!([]));
    assert_eq!(bench.shown()["targets"], json!([]), "nothing of it can be reached any more");
    assert_eq!(
        bench.refused("detach_from_network", &json!({"network": net})),
        code(422, "load_balancer_not_attached_to_network")
    );
    bench.act("enable_public_interface", &Value::Null);
    assert_eq!(
        bench.refused("disable_public_interface", &Value::Null),
        code(422, "load_balancer_not_attached_to_network")
    );
}

#[test]
fn made_in_a_network_it_has_one_action() {
    let mut bench = Bench::new(&json!({}));
    let one = bench.rig.server("one", &json!({}));
    let net = bench.network(&[one]);
    let more =
        json!({"name": "inner", "network": net, "public_interface": false, "targets": [server(one, true)]});
    let inner = create(&mut bench.rig, &more);
    assert_eq!(bench.rig.get(&inner)["load_balancer"]["private_net"], json!([]));
    bench.rig.pass(60);
    assert_eq!(bench.rig.get(&inner)["load_balancer"]["private_net"][0]["ip"], "10.0.1.2");
    let network = bench.rig.get(&format!("/networks/{net}"))["network"].clone();
    assert_eq!(network["load_balancers"].as_array().unwrap().len(), 1);
    bench.rig.done("DELETE", &format!("/networks/{net}"), &Value::Null);
    let inner = bench.rig.get(&inner)["load_balancer"].clone();
    assert_eq!((&inner["private_net"], &inner["targets"]), (&json!([]), &json!([])));
}

#[test]
fn a_smaller_type_does_not_hold_more() {
    let services: Vec<Value> = (1..=6).map(tcp).collect();
    let mut bench = Bench::new(&json!({"load_balancer_type": "lb21", "services": services}));
    let smaller = json!({"load_balancer_type": "lb11"});
    assert_eq!(bench.refused("change_type", &smaller), code(422, "invalid_load_balancer_type"));
    bench.act("delete_service", &json!({"listen_port": 6}));
    assert_eq!(bench.act("change_type", &smaller)["command"], "change_load_balancer_type");
    assert_eq!(bench.shown()["load_balancer_type"]["name"], "lb11");
    assert_eq!(bench.refused("add_service", &tcp(7)), code(403, "resource_limit_exceeded"));
}

#[test]
fn names_addresses_protection_and_the_end() {
    let mut bench = Bench::new(&json!({}));
    let shown = bench.shown();
    for version in ["ipv4", "ipv6"] {
        let ip = shown["public_net"][version]["ip"].clone();
        bench.act("change_dns_ptr", &json!({"ip": ip, "dns_ptr": "front.example.com"}));
        assert_eq!(bench.shown()["public_net"][version]["dns_ptr"], "front.example.com");
        bench.act("change_dns_ptr", &json!({"ip": ip, "dns_ptr": null}));
    }
    assert_eq!(bench.shown(), shown);
    let foreign = json!({"ip": "198.18.0.7", "dns_ptr": "x"});
    assert_eq!(bench.refused("change_dns_ptr", &foreign), code(422, "invalid_input"));
    bench.act("change_protection", &json!({"delete": true}));
    let front = bench.front.clone();
    assert_eq!(bench.rig.refused("DELETE", &front, &Value::Null), code(423, "protected"));
    bench.act("change_protection", &json!({"delete": false}));
    bench.rig.done("PUT", &front, &json!({"name": "back", "labels": {"a": "b"}}));
    let gone = bench.rig.done("DELETE", &front, &Value::Null);
    assert_eq!(gone["action"]["command"], "delete_load_balancer");
    assert_eq!(bench.rig.refused("GET", &front, &Value::Null), code(404, "not_found"));
    assert_eq!(
        bench.rig.refused("GET", &format!("{front}/metrics"), &Value::Null),
        code(501, "not_simulated")
    );
}

#[test]
fn what_fails_changes_nothing() {
    let mut bench = Bench::new(&json!({}));
    let id = bench.shown()["id"].as_u64().unwrap();
    let before = bench.shown();
    for change in [Change::Algorithm(Algorithm::LeastConnections), Change::PublicInterface(false)] {
        change.of(id).settle(&mut bench.rig.engine.project, bench.rig.now, false);
    }
    let project = &bench.rig.engine.project;
    assert_eq!(show(project, project.load_balancers.get(id).unwrap()), before);
}

#[test]
fn it_costs_what_its_type_costs_as_long_as_it_is_there() {
    let mut bench = Bench::new(&json!({}));
    bench.act("change_type", &json!({"load_balancer_type": "lb21"}));
    let ledger = &bench.rig.engine.project.ledger;
    let entry = ledger.entries().find(|it| it.kind == Kind::LoadBalancer).unwrap();
    let types: Vec<&str> = entry.phases.iter().map(|phase| phase.what.as_str()).collect();
    assert_eq!(types, ["lb11", "lb21"]);
    let front = bench.front.clone();
    bench.rig.done("DELETE", &front, &Value::Null);
    let project = &mut bench.rig.engine.project;
    assert_eq!(project.ledger.left_over().count(), 0);
    for address in ["198.18.0.1", "2001:db8:0:1::"] {
        assert!(!project.pools.give_back(address.parse().unwrap()), "{address} is nobody's");
    }
}

#[test]
fn there_are_only_so_many() {
    let mut rig = Rig::new();
    for number in 0..50 {
        create(&mut rig, &json!({"name": format!("n{number}")}));
    }
    assert_eq!(
        rig.refused("POST", "/load_balancers", &wish(&json!({}))),
        code(403, "resource_limit_exceeded")
    );
}

#[test]
fn a_health_check_is_a_possible_request() {
    let mut rig = Rig::new();
    for (http, wrong) in [
        (json!({"domain": "a b"}), "domain"),
        (json!({"domain": "x".repeat(129)}), "domain"),
        (json!({"path": "/a b"}), "path"),
        (json!({"path": ""}), "path"),
        (json!({"response": "x".repeat(257)}), "response"),
        (json!({"status_codes": vec!["2??"; 21]}), "status_codes"),
        (json!({"tls": 1}), "tls"),
        (json!({"color": "red"}), "color"),
    ] {
        let service = json!({"protocol": "http", "health_check": {"protocol": "http", "http": http}});
        let (status, answer) = rig.ask("POST", "/load_balancers", &wish(&json!({"services": [service]})));
        let field = &answer["error"]["details"]["fields"][0]["name"];
        assert_eq!((status, field), (422, &json!(format!("services.0.health_check.http.{wrong}"))));
    }
}
