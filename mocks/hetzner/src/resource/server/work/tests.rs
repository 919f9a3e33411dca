//! What is done with servers, as clients see it.

use std::net::IpAddr;

use serde_json::{Value, json};

use crate::resource::primary_ip::{Assignee, PrimaryIp};
use crate::resource::server::{Effect, Status};
use crate::rig::Rig;

/// Every action, with a body that it accepts.
fn actions() -> Vec<(&'static str, Value)> {
    let nothing = || json!({});
    vec![
        ("poweron", nothing()),
        ("poweroff", nothing()),
        ("shutdown", nothing()),
        ("reboot", nothing()),
        ("reset", nothing()),
        ("change_type", json!({"server_type": "cx33", "upgrade_disk": true})),
        ("rebuild", json!({"image": "debian-12", "user_data": "#!/bin/sh"})),
        ("enable_backup", json!({"backup_window": "22-02"})),
        ("disable_backup", nothing()),
        ("create_image", json!({"type": "snapshot", "description": null, "labels": {"a": "b"}})),
        ("enable_rescue", json!({"type": "linux64", "ssh_keys": []})),
        ("disable_rescue", nothing()),
        ("reset_password", nothing()),
        ("request_console", nothing()),
        ("attach_iso", json!({"iso": "x"})),
        ("detach_iso", nothing()),
        ("attach_to_network", json!({"network": 1, "alias_ips": ["10.0.0.9"]})),
        ("detach_from_network", json!({"network": 1})),
        ("change_alias_ips", json!({"network": 1, "alias_ips": []})),
        ("add_to_placement_group", json!({"placement_group": 1})),
        ("remove_from_placement_group", nothing()),
        ("change_dns_ptr", json!({"ip": "1.2.3.4", "dns_ptr": null})),
    ]
}

struct Bench {
    rig: Rig,
    server: u64,
}

impl Bench {
    fn new() -> Self {
        let mut rig = Rig::new();
        let server = rig.server("one", &json!({}));
        Self { rig, server }
    }

    fn path(&self, action: &str) -> String {
        format!("/servers/{}/actions/{action}", self.server)
    }

    /// Begins something that has to be possible.
    fn begin(&mut self, action: &str, body: &Value) -> Value {
        self.rig.post(&self.path(action), body)
    }

    /// Does something to its end, and shows the server afterwards.
    fn act(&mut self, action: &str, body: &Value) -> Value {
        self.begin(action, body);
        self.rig.pass(3600 / 2);
        self.server()
    }

    fn server(&mut self) -> Value {
        self.rig.get(&format!("/servers/{}", self.server))["server"].clone()
    }

    /// The code of what has to be refused, and has to change nothing.
    fn refused(&mut self, action: &str, body: &Value) -> String {
        let before = self.rig.engine.project.servers.clone();
        let (_, code) = self.rig.refused("POST", &self.path(action), body);
        assert_eq!(self.rig.engine.project.servers, before);
        code
    }

    /// As if the action that was begun last had failed, now.
    fn fail(&mut self, effect: Effect) {
        let now = self.rig.now;
        effect.settle(&mut self.rig.engine.project, now, false);
    }

    fn made(&mut self, path: &str, key: &str, body: &Value) -> Value {
        self.rig.post(path, body)[key]["id"].clone()
    }

    fn network(&mut self, name: &str, range: &str) -> Value {
        let subnet = json!({"type": "cloud", "network_zone": "eu-central", "ip_range": range});
        self.made("/networks", "network", &json!({"name": name, "ip_range": range, "subnets": [subnet]}))
    }
}

#[test]
fn nobody_works_on_what_is_not_there() {
    let mut bench = Bench::new();
    bench.server += 1;
    for (action, _) in actions() {
        let body = json!({"nonsense": 1});
        assert_eq!(bench.rig.refused("POST", &bench.path(action), &body).0, 404, "{action}");
    }
}

#[test]
fn nobody_works_on_what_somebody_works_on() {
    let mut bench = Bench::new();
    bench.begin("reset", &json!({}));
    // Names are kept elsewhere.
    for (action, body) in actions().into_iter().filter(|(action, _)| *action != "change_dns_ptr") {
        assert_eq!(bench.refused(action, &body), "locked", "{action}");
    }
}

#[test]
fn what_nobody_reads_is_refused() {
    let mut bench = Bench::new();
    for (action, mut body) in actions() {
        body["nonsense"] = json!(1);
        let (status, answer) = bench.rig.ask("POST", &bench.path(action), &body);
        assert_eq!(
            (status, answer["error"]["details"]["fields"][0]["name"].as_str()),
            (422, Some("nonsense"))
        );
    }
}

#[test]
fn a_server_gets_another_type_when_it_is_off() {
    let mut bench = Bench::new();
    let to = |name: &str, disk: bool| json!({"server_type": name, "upgrade_disk": disk});
    assert_eq!(bench.refused("change_type", &to("cx33", true)), "server_not_stopped");
    bench.act("poweroff", &json!({}));
    for other in ["cx23", "cax21", "cx22"] {
        assert_eq!(bench.refused("change_type", &to(other, true)), "invalid_server_type", "{other}");
    }
    for other in ["cx0", "cpx11"] {
        assert_eq!(bench.refused("change_type", &to(other, true)), "invalid_input", "{other}");
    }
    assert_eq!(bench.begin("change_type", &to("cx33", false))["action"]["command"], "change_server_type");
    let meanwhile = bench.server();
    assert_eq!(
        (&meanwhile["status"], &meanwhile["server_type"]["name"]),
        (&json!("migrating"), &json!("cx23"))
    );
    bench.rig.pass(1800);
    let after = bench.server();
    assert_eq!((&after["status"], &after["server_type"]["name"]), (&json!("running"), &json!("cx33")));
    assert_eq!(after["primary_disk_size"], 40);
    bench.act("poweroff", &json!({}));
    assert_eq!(bench.begin("change_type", &to("cx43", true))["action"]["status"], "running");
    bench.rig.pass(1800);
    assert_eq!(bench.server()["primary_disk_size"], 160);
    bench.act("poweroff", &json!({}));
    assert_eq!(bench.refused("change_type", &to("cx33", false)), "invalid_server_type");
}

#[test]
fn a_type_that_it_did_not_get_is_not_kept() {
    let mut bench = Bench::new();
    bench.act("poweroff", &json!({}));
    bench.begin("change_type", &json!({"server_type": "cx33", "upgrade_disk": true}));
    bench.fail(Effect::Resized { server: bench.server, upgrade_disk: true });
    let after = bench.server();
    assert_eq!((&after["status"], &after["server_type"]["name"]), (&json!("off"), &json!("cx23")));
    assert_eq!(bench.rig.engine.project.servers.find(bench.server).unwrap().becoming, None);
}

#[test]
fn cores_that_are_promised_are_taken() {
    let mut bench = Bench::new();
    let second = bench.rig.server("two", &json!({}));
    let mut catalogue = (*bench.rig.engine.project.catalogue).clone();
    catalogue.limits.cores = 7;
    bench.rig.engine.project.catalogue = catalogue.into();
    for server in [bench.server, second] {
        bench.rig.post(&format!("/servers/{server}/actions/poweroff"), &Value::Null);
    }
    bench.rig.pass(1800);
    let body = json!({"server_type": "cx33", "upgrade_disk": false});
    bench.begin("change_type", &body);
    bench.server = second;
    assert_eq!(bench.refused("change_type", &body), "resource_limit_exceeded");
}

#[test]
fn what_a_server_costs_changes_with_it() {
    let mut bench = Bench::new();
    let body =
        json!({"name": "two", "server_type": "cx23", "image": "debian-12", "start_after_create": false});
    bench.server = bench.rig.post("/servers", &body)["server"]["id"].as_u64().unwrap();
    bench.rig.pass(600);
    let phases = |bench: &Bench| {
        let mut entries = bench.rig.engine.project.ledger.entries();
        let entry = entries.find(|entry| entry.id == bench.server).unwrap();
        entry.phases.iter().map(|phase| phase.what.clone()).collect::<Vec<_>>()
    };
    for action in ["enable_backup", "enable_backup", "disable_backup", "disable_backup"] {
        bench.act(action, &json!({}));
    }
    bench.act("change_type", &json!({"server_type": "cx33", "upgrade_disk": false}));
    assert_eq!(phases(&bench), ["cx23", "cx23 with backups", "cx23", "cx33"]);
}

#[test]
fn a_disk_is_written_anew() {
    let mut bench = Bench::new();
    let images = bench.rig.get("/images?name=debian-12&architecture=x86");
    let image = images["images"][0]["id"].clone();
    let answer = bench.begin("rebuild", &json!({"image": "debian-12"}));
    assert_eq!(
        (&answer["action"]["command"], &answer["root_password"]),
        (&json!("rebuild_server"), &Value::Null)
    );
    assert_eq!(bench.server()["status"], "rebuilding");
    bench.rig.pass(1800);
    let after = bench.server();
    assert_eq!((&after["status"], &after["image"]["id"]), (&json!("running"), &image));
    bench.rig.engine.project.servers.find_mut(bench.server).unwrap().has_key = false;
    assert!(bench.begin("rebuild", &json!({"image": image}))["root_password"].is_string());
    bench.fail(Effect::Rebuilt { server: bench.server, image: image.as_u64().unwrap() });
    assert_eq!(bench.server()["status"], "off");
    bench.rig.pass(1800);
    bench.act("change_protection", &json!({"delete": true, "rebuild": true}));
    assert_eq!(bench.refused("rebuild", &json!({"image": image})), "protected");
}

#[test]
fn what_does_not_boot_is_refused() {
    let mut bench = Bench::new();
    let arm = bench.rig.get("/images?name=debian-12&architecture=arm")["images"][0]["id"].clone();
    for image in [json!("ubuntu-20.04"), json!("moonix"), json!(7), arm] {
        assert_eq!(bench.refused("rebuild", &json!({"image": image})), "invalid_input", "{image}");
    }
    let long = "x".repeat((32 << 10) + 1);
    assert_eq!(bench.refused("rebuild", &json!({"image": "debian-12", "user_data": long})), "invalid_input");
    assert_eq!(bench.begin("rebuild", &json!({"image": "debian-11"}))["action"]["status"], "running");
}

#[test]
fn the_rescue_system_waits_for_one_boot() {
    let mut bench = Bench::new();
    assert!(bench.begin("enable_rescue", &json!({"type": "linux64"}))["root_password"].is_string());
    assert_eq!(bench.server()["rescue_enabled"], false);
    bench.rig.pass(60);
    assert_eq!(bench.server()["rescue_enabled"], true);
    assert_eq!(bench.act("reset", &json!({}))["rescue_enabled"], false);
    // Enabled anew, it waits for an hour from then on.
    assert_eq!(bench.act("enable_rescue", &json!({}))["rescue_enabled"], true);
    assert_eq!(bench.act("enable_rescue", &json!({}))["rescue_enabled"], true);
    bench.rig.pass(1700);
    assert_eq!(bench.server()["rescue_enabled"], true);
    bench.rig.pass(200);
    assert_eq!(bench.server()["rescue_enabled"], false);
    bench.act("enable_rescue", &json!({}));
    assert_eq!(bench.act("disable_rescue", &json!({}))["rescue_enabled"], false);
    assert_eq!(bench.refused("enable_rescue", &json!({"type": "freebsd64"})), "invalid_input");
    assert_eq!(bench.refused("enable_rescue", &json!({"ssh_keys": [7]})), "not_found");
}

#[test]
fn passwords_and_consoles() {
    let mut bench = Bench::new();
    let first = bench.begin("reset_password", &json!({}))["root_password"].clone();
    bench.rig.pass(60);
    assert_ne!(bench.begin("reset_password", &json!({}))["root_password"], first);
    bench.rig.pass(60);
    let console = bench.begin("request_console", &json!({}));
    assert!(console["wss_url"].as_str().unwrap().starts_with("wss://") && console["password"].is_string());
    // It holds nothing.
    bench.act("poweroff", &json!({}));
    assert_eq!(bench.refused("reset_password", &json!({})), "invalid_input");
}

#[test]
fn one_disc_at_a_time() {
    let mut bench = Bench::new();
    let empty = bench.begin("detach_iso", &json!({}))["action"].clone();
    assert_eq!((&empty["status"], &empty["progress"]), (&json!("success"), &json!(100)));
    bench.rig.pass(600);
    assert_eq!(bench.rig.get(&format!("/actions/{}", empty["id"]))["action"], empty);
    let name = "ubuntu-24.04.3-live-server-amd64.iso";
    assert_eq!(bench.act("attach_iso", &json!({"iso": name}))["iso"]["id"], 11020);
    assert_eq!(bench.act("attach_iso", &json!({"iso": 11200}))["iso"]["id"], 11200);
    for iso in [json!("debian-12.11.0-arm64-netinst.iso"), json!("moonix.iso")] {
        assert_eq!(bench.refused("attach_iso", &json!({"iso": iso})), "invalid_input");
    }
    assert_eq!(bench.begin("detach_iso", &json!({}))["action"]["status"], "running");
    bench.rig.pass(600);
    assert_eq!(bench.server()["iso"], Value::Null);
}

#[test]
fn a_place_in_a_network() {
    let mut bench = Bench::new();
    let net = bench.network("a", "10.0.0.0/24");
    let same = bench.network("b", "10.0.0.0/16");
    let other = bench.network("c", "10.9.0.0/24");
    assert_eq!(bench.refused("attach_to_network", &json!({"network": 7})), "not_found");
    assert_eq!(bench.refused("detach_from_network", &json!({"network": net})), "not_found");
    let out = json!({"network": net, "ip": "10.0.1.1"});
    assert_eq!(bench.refused("attach_to_network", &out), "ip_not_available");
    let body = json!({"network": net, "ip_range": "10.0.0.0/24", "alias_ips": ["10.0.0.9"]});
    bench.begin("attach_to_network", &body);
    assert_eq!(bench.server()["private_net"], json!([]));
    bench.rig.pass(600);
    let place = bench.server()["private_net"][0].clone();
    assert_eq!((&place["network"], &place["alias_ips"]), (&net, &json!(["10.0.0.9"])));
    assert_eq!(bench.refused("attach_to_network", &json!({"network": net})), "server_already_attached");
    assert_eq!(bench.refused("attach_to_network", &json!({"network": same})), "networks_overlap");
    let both = bench.act("attach_to_network", &json!({"network": other, "ip": "10.9.0.7"}));
    assert_eq!(both["private_net"][1]["ip"], "10.9.0.7");
    let after = bench.act("detach_from_network", &json!({"network": net}));
    assert_eq!(after["private_net"].as_array().unwrap().len(), 1);
}

#[test]
fn further_addresses_come_and_go_whole() {
    let mut bench = Bench::new();
    let net = bench.network("a", "10.0.0.0/24");
    bench.act("attach_to_network", &json!({"network": net, "ip": "10.0.0.5", "alias_ips": ["10.0.0.8"]}));
    let aliases = |ips: &[&str]| json!({"network": net, "alias_ips": ips});
    assert_eq!(bench.refused("change_alias_ips", &aliases(&["10.0.0.5"])), "ip_not_available");
    assert_eq!(bench.refused("change_alias_ips", &aliases(&["x"])), "invalid_input");
    assert_eq!(bench.refused("change_alias_ips", &json!({"network": net})), "invalid_input");
    let after = bench.act("change_alias_ips", &aliases(&["10.0.0.8", "10.0.0.9"]));
    assert_eq!(after["private_net"][0]["alias_ips"], json!(["10.0.0.8", "10.0.0.9"]));
    // While nobody knows how it ends, neither the old nor the new ones are free.
    bench.begin("change_alias_ips", &aliases(&["10.0.0.10"]));
    let first = bench.server;
    bench.server = bench.rig.server("two", &json!({}));
    for ip in ["10.0.0.8", "10.0.0.10"] {
        assert_eq!(
            bench.refused("attach_to_network", &json!({"network": net, "ip": ip})),
            "ip_not_available"
        );
    }
    bench.rig.pass(600);
    bench.act("attach_to_network", &json!({"network": net, "ip": "10.0.0.8"}));
    bench.server = first;
    assert_eq!(bench.server()["private_net"][0]["alias_ips"], json!(["10.0.0.10"]));
    assert_eq!(bench.act("change_alias_ips", &aliases(&[]))["private_net"][0]["alias_ips"], json!([]));
}

#[test]
fn a_place_in_a_group() {
    let mut bench = Bench::new();
    let group = bench.made("/placement_groups", "placement_group", &json!({"name": "g", "type": "spread"}));
    let path = format!("/placement_groups/{group}");
    let body = json!({"placement_group": group});
    assert_eq!(bench.refused("add_to_placement_group", &body), "server_not_stopped");
    assert_eq!(bench.refused("remove_from_placement_group", &json!({})), "invalid_input");
    bench.act("poweroff", &json!({}));
    assert_eq!(bench.refused("add_to_placement_group", &json!({"placement_group": 7})), "not_found");
    bench.begin("add_to_placement_group", &body);
    assert_eq!(bench.server()["placement_group"], Value::Null);
    bench.fail(Effect::Grouped { server: bench.server, group: group.as_u64().unwrap() });
    assert_eq!(bench.rig.get(&path)["placement_group"]["servers"], json!([]));
    bench.rig.pass(600);
    let after = bench.act("remove_from_placement_group", &json!({}));
    assert_eq!(after["placement_group"], Value::Null);
    assert_eq!(bench.act("add_to_placement_group", &body)["placement_group"]["id"], group);
    assert_eq!(bench.refused("add_to_placement_group", &body), "already_in_placement_group");
    bench.act("remove_from_placement_group", &json!({}));
    assert_eq!(bench.rig.get(&path)["placement_group"]["servers"], json!([]));
}

#[test]
fn a_full_group_takes_nobody() {
    let mut bench = Bench::new();
    let group = bench.made("/placement_groups", "placement_group", &json!({"name": "g", "type": "spread"}));
    for number in 0..10 {
        bench.server = bench.rig.server(&format!("s{number}"), &json!({}));
        bench.rig.engine.project.servers.find_mut(bench.server).unwrap().status = Status::Off;
        bench.begin("add_to_placement_group", &json!({"placement_group": group}));
    }
    bench.server = bench.rig.server("last", &json!({}));
    bench.rig.engine.project.servers.find_mut(bench.server).unwrap().status = Status::Off;
    let code = bench.refused("add_to_placement_group", &json!({"placement_group": group}));
    assert_eq!(code, "placement_group_member_limit_reached");
}

#[test]
fn a_group_that_goes_meanwhile_is_joined_by_nobody() {
    let mut bench = Bench::new();
    let group = bench.made("/placement_groups", "placement_group", &json!({"name": "g", "type": "spread"}));
    bench.act("poweroff", &json!({}));
    bench.begin("add_to_placement_group", &json!({"placement_group": group}));
    bench.rig.engine.project.placement_groups.take(group.as_u64().unwrap());
    bench.rig.pass(600);
    assert_eq!(bench.rig.engine.project.servers.find(bench.server).unwrap().placement_group, None);
}

#[test]
fn a_public_address_has_a_name() {
    let mut bench = Bench::new();
    let (now, server) = (bench.rig.now, bench.server);
    let project = &mut bench.rig.engine.project;
    let head = project.primary_ips.head(now, "ip".to_owned(), std::collections::BTreeMap::new());
    let ip: IpAddr = "2001:db8:0:1::".parse().unwrap();
    let id = project.primary_ips.put(PrimaryIp {
        head,
        v4: false,
        ip,
        location: "fsn1".to_owned(),
        assignee: Some(Assignee::Server(server)),
        auto_delete: true,
        dns_ptr: std::collections::BTreeMap::new(),
    });
    project.servers.find_mut(server).unwrap().ipv6 = Some(id);
    let names = |bench: &Bench| bench.rig.engine.project.primary_ips.find(id).unwrap().dns_ptr.clone();
    let body = |ip: &str, name: Value| json!({"ip": ip, "dns_ptr": name});
    for (ip, name) in
        [("2001:db8:0:2::1", "a.b"), ("1.2.3.4", "a.b"), ("x", "a.b"), ("2001:db8:0:1::1", "a b")]
    {
        assert_eq!(bench.refused("change_dns_ptr", &body(ip, json!(name))), "invalid_input", "{ip} {name}");
    }
    bench.act("change_dns_ptr", &body("2001:db8:0:1::1", json!("a.example.com")));
    assert_eq!(names(&bench).into_values().collect::<Vec<_>>(), ["a.example.com"]);
    bench.act("change_dns_ptr", &body("2001:db8:0:1::1", Value::Null));
    assert!(names(&bench).is_empty());
}

#[test]
fn metrics_are_not_simulated() {
    let mut bench = Bench::new();
    let path = format!("/servers/{}/metrics", bench.server);
    assert_eq!(bench.rig.refused("GET", &path, &Value::Null), (501, "not_simulated".to_owned()));
}
