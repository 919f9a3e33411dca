//! Troubles of work, tested.

use serde_json::{Value, json};

use crate::rig::Rig;

/// The newest action of a server with this command.
fn action(rig: &mut Rig, server: u64, command: &str) -> Value {
    let all = rig.get(&format!("/servers/{server}/actions?sort=id:desc"));
    let found = all["actions"].as_array().unwrap().iter().find(|it| it["command"] == command);
    found.unwrap().clone()
}

#[test]
fn a_start_that_fails_leaves_the_server_off() {
    let mut rig = Rig::new();
    let id = rig.inject(&json!({
        "kind": "fails", "command": "start_server", "of": {"name": "a", "server_type": "cx*", "location": "fsn1"},
        "code": "locked", "message": "server is locked"
    }));
    let (a, b) = (rig.ordered("a"), rig.ordered("b"));
    rig.pass(3600);
    assert_eq!((rig.status_of(a), rig.status_of(b)), ("off".into(), "running".into()));
    let failed = action(&mut rig, a, "start_server");
    assert_eq!(failed["status"], "error");
    assert_eq!(failed["error"], json!({"code": "locked", "message": "server is locked"}));
    assert_eq!(rig.bites(id), 1);
    rig.heal(id);
    rig.post(&format!("/servers/{a}/actions/poweron"), &json!(null));
    rig.pass(3600);
    assert_eq!(rig.status_of(a), "running");
}

#[test]
fn slow_work_takes_its_time() {
    let mut plain = Rig::new();
    let server = plain.ordered("a");
    let mut rig = Rig::new();
    let id = rig.inject(&json!({"kind": "slow", "command": "create_server", "times": 2, "by_s": 1000}));
    assert_eq!(rig.ordered("a"), server);
    let ends = |rig: &Rig| rig.engine.next().unwrap() - rig.now;
    assert_eq!(ends(&rig).as_nanos(), ends(&plain).as_nanos() * 2 + 1_000_000_000_000);
    assert_eq!(rig.bites(id), 1);
}

#[test]
fn what_is_stuck_goes_on_after_healing() {
    let mut rig = Rig::new();
    let id = rig.inject(&json!({"kind": "stuck", "command": "create_server", "count": 1}));
    let (a, b) = (rig.ordered("a"), rig.ordered("b"));
    rig.pass(86_400);
    assert_eq!((rig.status_of(a), rig.status_of(b)), ("initializing".into(), "running".into()));
    assert_eq!(action(&mut rig, a, "create_server")["status"], "running");
    assert_eq!(rig.refused("POST", &format!("/servers/{a}/actions/poweroff"), &json!(null)).1, "locked");
    rig.heal(id);
    rig.pass(0);
    assert_eq!(action(&mut rig, a, "create_server")["status"], "success", "its time was over");
    assert_eq!(rig.status_of(a), "starting");
    rig.pass(3600);
    assert_eq!(rig.status_of(a), "running", "what waited for it came after it");
    assert_eq!(rig.bites(id), 1);
}

#[test]
fn a_window_that_closes_lets_go_by_itself() {
    let mut rig = Rig::new();
    rig.inject(&json!({"kind": "stuck", "command": "start_server", "for_s": 7200}));
    let a = rig.ordered("a");
    rig.pass(7199);
    assert_eq!(rig.status_of(a), "starting");
    rig.pass(1);
    assert_eq!(rig.status_of(a), "running");
}

#[test]
fn a_server_stays_in_a_status() {
    for status in ["initializing", "starting", "running"] {
        let mut rig = Rig::new();
        let id = rig.inject(&json!({"kind": "status_stuck", "status": status, "of": {"labels": "stuck"}}));
        let (_, made) = rig.order_with("a", &json!({"labels": {"stuck": "yes"}}));
        let (a, b) = (made["server"]["id"].as_u64().unwrap(), rig.ordered("b"));
        rig.pass(3600);
        for server in [a, b] {
            rig.post(&format!("/servers/{server}/actions/poweroff"), &json!(null));
        }
        rig.pass(3600);
        assert_eq!((rig.status_of(a), rig.status_of(b)), (status.into(), "off".into()));
        assert_eq!(rig.bites(id), 1, "{status}");
        rig.heal(id);
        assert_eq!(rig.status_of(a), "off", "{status}");
    }
}

#[test]
fn a_server_that_is_back_where_it_stayed_remains_there() {
    let mut rig = Rig::new();
    let a = rig.ordered("a");
    rig.pass(3600);
    rig.post(&format!("/servers/{a}/actions/poweroff"), &json!(null));
    rig.pass(3600);
    let id = rig.inject(&json!({"kind": "status_stuck", "status": "off"}));
    let failing = rig.inject(&json!({"kind": "fails", "command": "rebuild_server"}));
    rig.post(&format!("/servers/{a}/actions/rebuild"), &json!({"image": "debian-12"}));
    rig.pass(3600);
    rig.heal(id);
    rig.heal(failing);
    assert_eq!(rig.status_of(a), "off", "the rebuilding is over");
}

#[test]
fn what_is_over_is_over_though_the_clock_goes_back() {
    for over in [json!({"kind": "stuck", "for_s": 1800}), json!({"kind": "stuck"})] {
        let mut rig = Rig::new();
        let begun = rig.now;
        let id = rig.inject(&over);
        rig.pass(3600);
        rig.engine.heal(rig.now, id);
        rig.now = begun;
        let a = rig.ordered("a");
        rig.pass(7200);
        assert_eq!((rig.status_of(a), rig.bites(id)), ("running".into(), 0), "{over}");
    }
}

#[test]
fn work_that_is_slow_beyond_measure_ends_nevertheless() {
    let mut rig = Rig::new();
    rig.inject(&json!({"kind": "slow", "times": u32::MAX, "by_s": u64::MAX}));
    let a = rig.ordered("a");
    rig.pass(3 * 365 * 24 * 3600);
    assert_eq!(action(&mut rig, a, "create_server")["status"], "success");
}

#[test]
fn a_server_is_deleted_while_it_is_stuck() {
    let mut rig = Rig::new();
    let id = rig.inject(&json!({"kind": "stuck", "command": "*_server"}));
    let a = rig.ordered("a");
    rig.done("DELETE", &format!("/servers/{a}"), &json!(null));
    rig.pass(3600);
    rig.heal(id);
    rig.pass(3600);
    assert_eq!(rig.bites(id), 3);
    assert!(rig.listed().is_empty());
}

#[test]
fn a_clock_is_wrong() {
    let mut rig = Rig::new();
    let id = rig.inject(&json!({"kind": "clock_skew", "by_s": -90, "of": {"name": "a"}}));
    let (a, b) = (rig.ordered("a"), rig.ordered("b"));
    let mut created = |id| rig.get(&format!("/servers/{id}"))["server"]["created"].clone();
    assert_eq!((created(a), created(b)), (json!("2026-10-31T23:58:30Z"), json!("2026-11-01T00:00:00Z")));
    assert_eq!(rig.bites(id), 1);
}

#[test]
fn a_server_that_was_held_is_not_left_halfway() {
    let mut rig = Rig::new();
    let id = rig.inject(&json!({"kind": "status_stuck", "status": "running"}));
    let a = rig.ordered("a");
    rig.pass(3600);
    rig.post(&format!("/servers/{a}/actions/rebuild"), &json!({"image": "debian-12"}));
    rig.pass(3600);
    rig.heal(id);
    assert_eq!(rig.status_of(a), "running", "it was rebuilt meanwhile");
}

#[test]
fn what_is_stuck_twice_is_let_go_in_its_order() {
    let mut rig = Rig::new();
    let create = rig.inject(&json!({"kind": "stuck", "command": "create_server"}));
    let start = rig.inject(&json!({"kind": "stuck", "command": "start_server"}));
    let a = rig.ordered("a");
    rig.heal(start);
    rig.pass(3600);
    assert_eq!(rig.status_of(a), "initializing");
    rig.heal(create);
    rig.pass(3600);
    assert_eq!(rig.status_of(a), "running");
}
