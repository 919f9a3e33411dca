//! Anything that can be done to a cloud, in any order: requests to all routes, troubles that come and go, deeds, looks,
//! time that jumps, a state that is written down and read again.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::invariants::Witness;
use super::wild::Whim;
use super::{config, left_behind, profiles, written};
use crate::admin;
use crate::call::Request;
use crate::engine::Engine;
use crate::engine::Snapshot;
use crate::profile::Profile;
use crate::rig::Rig;
use crate::trouble::Trouble;

/// Answers that troubles make up.
const MADE_UP: [&str; 2] = ["bad_gateway", "maintenance"];

pub(super) fn whim(rig: &Rig, seed: u64) -> Whim<'_> {
    Whim::new(seed, &rig.engine.project)
}

pub(super) fn ask(rig: &mut Rig, method: &str, path: &str, body: &Value) -> (u16, String) {
    let mut request = Request::new(method, &format!("/v1{path}")).token("token");
    if !body.is_null() {
        request = request.body(body.to_string());
    }
    let reply = rig.engine.answer(rig.now, &request);
    let body = reply.body.map(|bytes| String::from_utf8(bytes.to_vec()).unwrap()).unwrap_or_default();
    (reply.status, body)
}

fn request(rig: &mut Rig, seed: u64) {
    let (method, path, body) = whim(rig, seed).request();
    let before = rig.engine.project.clone();
    let (status, answer) = ask(rig, method, &path, &body);
    let said: Value = serde_json::from_str(&answer).unwrap_or_default();
    let code = said["error"]["code"].as_str().unwrap_or("bad_gateway");
    let made_up = MADE_UP.contains(&code);
    assert!(status < 500 || made_up, "{method} {path} {body}: {status} {answer}");
    if status >= 400 && !made_up {
        let mut before = before;
        before.troubles = rig.engine.project.troubles.clone();
        let left = left_behind(before, &rig.engine.project);
        assert!(left.is_empty(), "{method} {path} {body} was refused with {answer} and changed {left:?}");
    }
}

fn look(rig: &mut Rig, seed: u64) {
    let path = whim(rig, seed).look();
    let (status, answer) = ask(rig, "GET", &path, &Value::Null);
    assert!(status < 500 || status == 502, "{path}: {status} {answer}");
}

fn administration(rig: &mut Rig, seed: u64) {
    let (method, path, body) = match whim(rig, seed).roll(9) {
        0 => ("GET", "/ledger?format=text", Value::Null),
        1 => ("GET", "/ledger?after=2026-11-01T00:30:00Z&until=1970-01-01T00:00:00Z", Value::Null),
        2 => ("GET", "/journal?format=text", Value::Null),
        3 => ("GET", "/troubles", Value::Null),
        4 => ("DELETE", "/troubles", Value::Null),
        5 => ("PUT", "/limit", json!({"per_hour": 1_000_000})),
        6 => ("GET", "/servers?format=text", Value::Null),
        7 => ("PUT", "/limit", json!({"per_hour": u64::MAX})),
        _ => ("POST", "/deeds", whim(rig, seed).deed()),
    };
    let request = Request::new(method, path).body(body.to_string());
    let before = rig.engine.project.clone();
    let reply = admin::answer(&mut rig.engine, rig.now, &request);
    assert!(reply.status < 500);
    if reply.status >= 400 {
        let left = left_behind(before, &rig.engine.project);
        assert!(left.is_empty(), "{method} {path} {body} was refused and changed {left:?}");
    }
}

fn trouble(rig: &mut Rig, seed: u64) {
    let text = whim(rig, seed).trouble().to_string();
    let trouble: Trouble = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
    let again: Trouble = serde_json::to_string(&trouble).unwrap().parse().unwrap();
    assert_eq!(again, trouble);
    // It may be about something that is not there.
    let _ = rig.engine.inject(rig.now, trouble);
}

/// Writes everything down and goes on from that.
fn resume(rig: &mut Rig) {
    let text = rig.engine.snapshot(rig.now).to_string();
    let snapshot = Snapshot::parse(&text).unwrap();
    let catalogue = Arc::clone(&rig.engine.project.catalogue);
    let again = Engine::resume(snapshot, catalogue, rig.now).unwrap();
    if again.project != rig.engine.project {
        let left = super::changed(&written(&again.project), &written(&rig.engine.project));
        panic!("not the same: {left:?}");
    }
    rig.engine.project = again.project;
    rig.engine.touched();
}

pub(super) fn step(rig: &mut Rig, seed: u64) {
    const JUMPS_MS: [u64; 12] =
        [0, 0, 0, 0, 500, 2_000, 2_000, 30_000, 30_000, 30_000, 4_000_000, 90_000_000];
    let jump = whim(rig, seed ^ 0xabc).of(&JUMPS_MS);
    rig.now += Duration::from_millis(if seed.is_multiple_of(64) { 40_000_000_000 } else { jump });
    if seed.is_multiple_of(9) {
        let back = whim(rig, !seed).of(&[10, 5_000, 100_000, 100_000_000, 1_000_000_000_000]);
        rig.now = rig.now - Duration::from_millis(back);
    }
    rig.engine.advance(rig.now);
    match whim(rig, !seed).roll(24) {
        0 | 1 => look(rig, seed),
        2 => trouble(rig, seed),
        3 => drop(rig.engine.heal_all(rig.now)),
        4 | 5 => administration(rig, seed),
        6 => resume(rig),
        _ => request(rig, seed),
    }
}

/// A cloud in which most things can be done.
pub(super) fn furnished(profile: Profile) -> Rig {
    let mut rig = Rig::of(profile);
    rig.engine.limit_requests(rig.now, 1_000_000);
    let subnets = json!([{"type": "cloud", "network_zone": "eu-central", "ip_range": "10.0.1.0/29"}]);
    let network =
        rig.post("/networks", &json!({"name": "net", "ip_range": "10.0.0.0/16", "subnets": subnets}));
    let network = &network["network"]["id"];
    let group = rig.post("/placement_groups", &json!({"name": "group", "type": "spread"}));
    let group = &group["placement_group"]["id"];
    let server = |name: &str, more: Value| {
        let mut body = json!({"name": name, "server_type": "cx23", "image": "debian-12", "location": "fsn1"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let first = rig.post("/servers", &server("a", json!({"networks": [network], "placement_group": group})));
    rig.post("/servers", &server("b", json!({"start_after_create": false, "labels": {"group": "a"}})));
    let first = &first["server"]["id"];
    rig.pass(120);
    rig.post("/volumes", &json!({"name": "vol", "size": 10, "server": first}));
    rig.post("/floating_ips", &json!({"name": "float", "type": "ipv4", "home_location": "fsn1"}));
    rig.post(
        "/primary_ips",
        &json!({"name": "ip", "type": "ipv4", "location": "fsn1", "assignee_type": "server"}),
    );
    rig.post("/firewalls", &json!({"name": "wall"}));
    rig.post(
        "/load_balancers",
        &json!({
            "name": "lb", "load_balancer_type": "lb11", "location": "fsn1", "network": network,
            "targets": [{"type": "server", "server": {"id": first}, "use_private_ip": true}],
            "services": [{"protocol": "tcp", "listen_port": 80, "destination_port": 80}],
        }),
    );
    rig.pass(120);
    rig.post(&format!("/servers/{first}/actions/create_image"), &json!({"description": "snapshot"}));
    rig.pass(600);
    rig
}

/// Everything can be deleted, and nothing costs anything then.
fn tidy_up(rig: &mut Rig) {
    let firewalls = rig.engine.project.firewalls.all();
    let used: Vec<_> = firewalls.map(|it| (it.head.id, it.selectors.clone())).collect();
    for (id, selectors) in used {
        for selector in selectors {
            let target = json!({"type": "label_selector", "label_selector": {"selector": selector}});
            let path = format!("/firewalls/{id}/actions/remove_from_resources");
            ask(rig, "POST", &path, &json!({"remove_from": [target]}));
        }
    }
    for _ in 0..3 {
        for (root, kind) in crate::resource::Kind::PATHS {
            for id in rig.engine.project.ids(kind) {
                ask(
                    rig,
                    "POST",
                    &format!("/{root}/{id}/actions/change_protection"),
                    &json!({"delete": false}),
                );
                ask(
                    rig,
                    "POST",
                    &format!("/{root}/{id}/actions/change_protection"),
                    &json!({"delete": false, "rebuild": false}),
                );
                ask(rig, "POST", &format!("/{root}/{id}/actions/detach"), &Value::Null);
                ask(rig, "POST", &format!("/{root}/{id}/actions/unassign"), &Value::Null);
                rig.pass(120);
                ask(rig, "DELETE", &format!("/{root}/{id}"), &Value::Null);
                rig.pass(120);
            }
        }
    }
    let left: Vec<_> = rig.engine.project.ledger.left_over().collect();
    assert!(left.is_empty(), "these are left: {left:?}");
    let project = &rig.engine.project;
    let others = project.networks.len()
        + project.firewalls.len()
        + project.ssh_keys.len()
        + project.placement_groups.len()
        + project.certificates.len();
    assert_eq!(others, 0, "something cannot be deleted");
    assert_eq!(project.pools.given(), 0, "addresses are lost");
    assert!(project.images.all().all(|image| !image.kind.is_own()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..config() })]

    #[test]
    fn whatever_is_done_the_invariants_hold(
        seeds in prop::collection::vec(any::<u64>(), 1..90),
        profile in profiles(),
    ) {
        let mut rig = furnished(profile);
        let mut witness = Witness::default();
        for seed in seeds {
            step(&mut rig, seed);
            witness.look(&rig.engine.project);
        }
        rig.now = rig.now.max(rig.engine.project.now);
        rig.engine.heal_all(rig.now);
        rig.engine.limit_requests(rig.now, 1_000_000_000);
        rig.pass(10 * 365 * 24 * 3600);
        witness.look(&rig.engine.project);
        Witness::nothing_runs(&rig.engine.project);
        tidy_up(&mut rig);
        witness.look(&rig.engine.project);
    }
}
