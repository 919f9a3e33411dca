//! Networks as clients see them.

use serde_json::{Value, json};

use crate::resource::shelf::Shelf;
use crate::rig::Rig;

fn network(rig: &mut Rig, body: &Value) -> String {
    let answer = rig.post("/networks", body);
    format!("/networks/{}", answer["network"]["id"])
}

fn usual(rig: &mut Rig) -> String {
    let subnet = json!({"type": "cloud", "network_zone": "eu-central", "ip_range": "10.0.1.0/24"});
    network(rig, &json!({"name": "net", "ip_range": "10.0.0.0/16", "subnets": [subnet]}))
}

fn fields(rig: &mut Rig, body: &Value) -> Vec<String> {
    let (status, answer) = rig.ask("POST", "/networks", body);
    assert_eq!(status, 422, "{answer}");
    let fields = answer["error"]["details"]["fields"].as_array().unwrap();
    fields.iter().map(|field| field["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_network_is_shown_whole() {
    let mut rig = Rig::new();
    let subnets = json!([
        {"type": "cloud", "network_zone": "eu-central", "gateway": ""},
        {"type": "vswitch", "network_zone": "eu-central", "ip_range": "10.0.9.0/24", "vswitch_id": 7},
        {"type": "server", "network_zone": "us-east"},
    ]);
    let routes = json!([{"destination": "10.100.1.0/24", "gateway": "10.0.1.1"}]);
    let body = json!({
        "name": "net", "ip_range": "10.0.0.0/16", "subnets": subnets, "routes": routes, "labels": {"a": "b"},
        "expose_routes_to_vswitch": true,
    });
    let id = network(&mut rig, &body);
    let shown = rig.get(&id)["network"].clone();
    let subnet = |kind: &str, range: &str, zone: &str, gateway: &str, vswitch: Value| json!({"type": kind, "ip_range": range, "network_zone": zone, "gateway": gateway, "vswitch_id": vswitch});
    assert_eq!(
        shown["subnets"],
        json!([
            subnet("cloud", "10.0.0.0/24", "eu-central", "10.0.0.1", Value::Null),
            subnet("vswitch", "10.0.9.0/24", "eu-central", "10.0.9.1", json!(7)),
            subnet("server", "10.0.1.0/24", "us-east", "10.0.0.1", Value::Null),
        ])
    );
    assert_eq!(shown["routes"], routes);
    assert_eq!(shown["expose_routes_to_vswitch"], true);
    assert_eq!(shown["protection"], json!({"delete": false}));
    assert_eq!((&shown["servers"], &shown["load_balancers"]), (&json!([]), &json!([])));
}

#[test]
fn what_does_not_fit_is_refused_where_it_stands() {
    let mut rig = Rig::new();
    let cloud = |range: &str| json!({"type": "cloud", "network_zone": "eu-central", "ip_range": range});
    for (body, wrong) in [
        (json!({}), vec!["name", "ip_range"]),
        (json!({"name": "n", "ip_range": "8.8.0.0/16"}), vec!["ip_range"]),
        (json!({"name": "n", "ip_range": "10.0.0.0/25"}), vec!["ip_range"]),
        (
            json!({"name": "n", "ip_range": "10.0.0.0/16", "subnets": [cloud("10.0.1.0/24"), cloud("10.1.0.0/24")]}),
            vec!["subnets.1.ip_range"],
        ),
        (
            json!({"name": "n", "ip_range": "10.0.0.0/16", "subnets": [cloud("10.0.1.0/24"), cloud("10.0.1.0/25")]}),
            vec!["subnets.1.ip_range"],
        ),
        (
            json!({"name": "n", "ip_range": "10.0.0.0/16", "subnets": [{"type": "x", "vswitch_id": 3}]}),
            vec!["subnets.0.type", "subnets.0.network_zone", "subnets.0.vswitch_id"],
        ),
        (
            json!({"name": "n", "ip_range": "10.0.0.0/16", "subnets": [{"type": "cloud", "network_zone": "moon"}]}),
            vec!["subnets.0.network_zone"],
        ),
        (
            json!({"name": "n", "ip_range": "10.0.0.0/16", "subnets": [{"type": "vswitch", "network_zone": "eu-central"}]}),
            vec!["subnets.0.vswitch_id"],
        ),
        (
            json!({"name": "n", "ip_range": "10.0.0.0/16", "routes": [{"destination": "10.1.0.0/24"}]}),
            vec!["routes.0.gateway"],
        ),
    ] {
        assert_eq!(fields(&mut rig, &body), wrong, "{body}");
    }
    assert_eq!(rig.engine.project.networks, Shelf::default(), "not even an id is spent");
}

#[test]
fn a_second_change_is_told_to_come_again() {
    let mut rig = Rig::new();
    let id = usual(&mut rig);
    let route = json!({"destination": "10.7.0.0/24", "gateway": "10.0.1.2"});
    let action = rig.post(&format!("{id}/actions/add_route"), &route)["action"].clone();
    assert_eq!((&action["command"], &action["status"]), (&json!("add_route"), &json!("running")));
    let conflict = (409, "conflict".to_owned());
    let subnet = json!({"type": "cloud", "network_zone": "eu-central"});
    for (method, path, body) in [
        ("POST", "/actions/add_subnet", subnet),
        ("POST", "/actions/delete_route", route.clone()),
        ("POST", "/actions/delete_subnet", json!({"ip_range": "10.0.1.0/24"})),
        ("POST", "/actions/change_ip_range", json!({"ip_range": "10.0.0.0/8"})),
        ("POST", "/actions/change_protection", json!({"delete": true})),
        ("PUT", "", json!({"name": "other"})),
        ("DELETE", "", Value::Null),
    ] {
        assert_eq!(rig.refused(method, &format!("{id}{path}"), &body), conflict, "{path}");
    }
    assert_eq!(rig.get(&id)["network"]["routes"], json!([]));
    rig.pass(60);
    assert_eq!(rig.get(&id)["network"]["routes"], json!([route]));
}

#[test]
fn what_a_change_brings_is_there_at_its_end() {
    let mut rig = Rig::new();
    let id = usual(&mut rig);
    for (action, body) in [
        ("change_ip_range", json!({"ip_range": "10.0.0.0/8"})),
        ("add_subnet", json!({"type": "cloud", "network_zone": "us-east"})),
        ("add_route", json!({"destination": "0.0.0.0/0", "gateway": "10.0.1.2"})),
        ("delete_subnet", json!({"ip_range": "10.0.1.0/24"})),
        ("delete_route", json!({"destination": "0.0.0.0/0", "gateway": "10.0.1.2"})),
    ] {
        rig.post(&format!("{id}/actions/{action}"), &body);
        rig.pass(60);
    }
    let shown = rig.get(&id)["network"].clone();
    assert_eq!(shown["ip_range"], "10.0.0.0/8");
    assert_eq!(shown["subnets"][0]["ip_range"], "10.0.0.0/24");
    assert_eq!(shown["subnets"].as_array().unwrap().len(), 1);
    assert_eq!(shown["routes"], json!([]));
    assert_eq!(rig.get(&format!("{id}/actions"))["actions"].as_array().unwrap().len(), 5);
}

#[test]
fn a_change_that_cannot_be_is_refused() {
    let mut rig = Rig::new();
    let id = usual(&mut rig);
    let invalid = (422, "invalid_input".to_owned());
    let missing = (404, "not_found".to_owned());
    let route = |destination: &str, gateway: &str| json!({"destination": destination, "gateway": gateway});
    for (action, body, refusal) in [
        ("change_ip_range", json!({"ip_range": "10.0.0.0/17"}), &invalid),
        ("change_ip_range", json!({"ip_range": "192.168.0.0/16"}), &invalid),
        ("delete_subnet", json!({"ip_range": "10.0.2.0/24"}), &missing),
        ("delete_route", route("10.0.2.0/24", "10.0.1.2"), &missing),
        ("add_route", route("10.0.1.128/25", "10.0.1.2"), &invalid),
        ("add_route", route("1.2.3.0/24", "10.0.1.2"), &invalid),
        ("add_route", route("172.16.0.0/12", "10.0.1.2"), &invalid),
        ("add_route", route("10.9.0.0/24", "10.0.0.1"), &invalid),
        ("add_route", route("10.9.0.0/24", "172.31.1.1"), &invalid),
        (
            "add_subnet",
            json!({"type": "cloud", "network_zone": "eu-central", "ip_range": "10.0.1.0/30"}),
            &invalid,
        ),
        ("add_subnet", json!({"type": "cloud", "network_zone": "eu-central", "color": 1}), &invalid),
    ] {
        assert_eq!(
            rig.refused("POST", &format!("{id}/actions/{action}"), &body),
            *refusal,
            "{action} {body}"
        );
        assert_eq!(rig.refused("POST", &format!("/networks/1/actions/{action}"), &body), missing);
    }
}

#[test]
fn no_route_leads_through_a_vswitch() {
    let mut rig = Rig::new();
    let subnet =
        json!({"type": "vswitch", "network_zone": "eu-central", "ip_range": "10.0.9.0/24", "vswitch_id": 7});
    let id = network(&mut rig, &json!({"name": "net", "ip_range": "10.0.0.0/16", "subnets": [subnet]}));
    let mut through = |gateway: &str| {
        let route = json!({"destination": "10.200.0.0/16", "gateway": gateway});
        rig.ask("POST", &format!("{id}/actions/add_route"), &route).0
    };
    assert_eq!((through("10.0.9.7"), through("10.0.8.7")), (422, 201));
}

#[test]
fn there_are_only_so_many() {
    let mut rig = Rig::new();
    let body = |number: u64| json!({"name": format!("n{number}"), "ip_range": "10.0.0.0/16"});
    for number in 0..50 {
        network(&mut rig, &body(number));
    }
    assert_eq!(rig.refused("POST", "/networks", &body(50)), (403, "resource_limit_exceeded".to_owned()));
}

#[test]
fn protection_and_names() {
    let mut rig = Rig::new();
    let id = usual(&mut rig);
    assert_eq!(
        rig.refused("POST", "/networks", &json!({"name": "net", "ip_range": "10.0.0.0/16"})),
        (409, "uniqueness_error".to_owned())
    );
    rig.post(&format!("{id}/actions/change_protection"), &json!({"delete": true}));
    assert_eq!(rig.refused("DELETE", &id, &Value::Null), (423, "protected".to_owned()));
    rig.post(&format!("{id}/actions/change_protection"), &json!({"delete": false}));
    let renamed =
        rig.done("PUT", &id, &json!({"name": "new", "labels": {"x": "y"}, "expose_routes_to_vswitch": true}));
    assert_eq!(renamed["network"]["name"], "new");
    assert_eq!(renamed["network"]["expose_routes_to_vswitch"], true);
    assert_eq!(rig.get("/networks?name=new&label_selector=x%3Dy")["networks"].as_array().unwrap().len(), 1);
    assert_eq!(rig.ask("DELETE", &id, &Value::Null), (204, Value::Null));
    assert_eq!(rig.refused("GET", &id, &Value::Null), (404, "not_found".to_owned()));
}
