//! Volumes as clients meet them.

use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::{Value, json};

use crate::rig::Rig;

fn server(rig: &mut Rig, name: &str, volumes: &[u64]) -> u64 {
    let (_, answer) = rig.order_with(name, &json!({"volumes": volumes}));
    rig.pass(60);
    answer["server"]["id"].as_u64().unwrap()
}

fn volume(rig: &mut Rig, name: &str, location: &str) -> u64 {
    let body = json!({"name": name, "size": 10, "location": location});
    let id = rig.post("/volumes", &body)["volume"]["id"].as_u64().unwrap();
    rig.pass(60);
    id
}

fn action(id: u64, what: &str) -> String {
    format!("/volumes/{id}/actions/{what}")
}

#[test]
fn one_is_created_and_then_available() {
    let mut rig = Rig::new();
    let body = json!({"name": "a", "size": 10, "location": "fsn1", "format": "xfs", "labels": {"k": "v"}});
    let made = rig.post("/volumes", &body);
    assert_eq!((&made["action"]["command"], &made["next_actions"]), (&json!("create_volume"), &json!([])));
    let shown = &made["volume"];
    let id = shown["id"].as_u64().unwrap();
    assert_eq!((&shown["status"], &shown["location"]["name"]), (&json!("creating"), &json!("fsn1")));
    assert_eq!((&shown["format"], &shown["size"]), (&json!("xfs"), &json!(10)));
    assert_eq!(shown["linux_device"], format!("/dev/disk/by-id/scsi-0HC_Volume_{id}"));
    let path = format!("/volumes/{id}");
    assert_eq!(rig.refused("DELETE", &path, &Value::Null), (423, "locked".to_owned()));
    assert_eq!(rig.get("/volumes?status=available")["volumes"], json!([]));
    rig.pass(60);
    assert_eq!(rig.get("/volumes?status=available&name=a")["volumes"][0]["id"], id);
    rig.done("PUT", &path, &json!({"name": "b.c_d-e"}));
    rig.post(&action(id, "change_protection"), &json!({"delete": true}));
    assert_eq!(rig.refused("DELETE", &path, &Value::Null), (423, "protected".to_owned()));
    rig.post(&action(id, "change_protection"), &json!({"delete": false}));
    assert_eq!(rig.ask("DELETE", &path, &Value::Null), (204, Value::Null));
    assert_eq!(rig.refused("GET", &path, &Value::Null).0, 404);
}

#[test]
fn what_cannot_be_is_refused() {
    let mut rig = Rig::new();
    for body in [
        json!({"name": "a", "size": 9, "location": "fsn1"}),
        json!({"name": "a", "size": 10_241, "location": "fsn1"}),
        json!({"name": "a", "size": 10}),
        json!({"name": "a", "size": 10, "location": "moon"}),
        json!({"name": "-a", "size": 10, "location": "fsn1"}),
        json!({"name": "a", "size": 10, "location": "fsn1", "format": "ntfs"}),
        json!({"name": "a", "size": 10, "location": "fsn1", "automount": true}),
    ] {
        assert_eq!(rig.refused("POST", "/volumes", &body), (422, "invalid_input".to_owned()), "{body}");
    }
    let id = volume(&mut rig, "a", "fsn1");
    let again = json!({"name": "a", "size": 10, "location": "fsn1"});
    assert_eq!(rig.refused("POST", "/volumes", &again), (409, "uniqueness_error".to_owned()));
    for size in [5, 10, 10_241] {
        assert_eq!(rig.refused("POST", &action(id, "resize"), &json!({"size": size})).1, "invalid_input");
    }
    assert_eq!(rig.refused("POST", &action(id, "detach"), &Value::Null).1, "invalid_input");
}

#[test]
fn one_comes_to_a_server_of_its_location_and_leaves_it() {
    let mut rig = Rig::new();
    let (near, far) = (volume(&mut rig, "near", "fsn1"), volume(&mut rig, "far", "hel1"));
    let (one, two) = (server(&mut rig, "one", &[near]), server(&mut rig, "two", &[]));
    let shown = |rig: &mut Rig, id: u64| rig.get(&format!("/volumes/{id}"))["volume"]["server"].clone();
    assert_eq!(shown(&mut rig, near), one);
    assert_eq!(rig.get(&format!("/servers/{one}"))["server"]["volumes"], json!([near]));
    let to = json!({"server": two, "automount": true});
    assert_eq!(rig.refused("POST", &action(near, "attach"), &to).1, "volume_already_attached");
    assert_eq!(rig.refused("POST", &action(far, "attach"), &to).1, "invalid_input");
    let gone = rig.refused("DELETE", &format!("/volumes/{near}"), &Value::Null);
    assert_eq!(gone, (422, "service_error".to_owned()));
    rig.post(&action(near, "detach"), &Value::Null);
    assert_eq!(rig.refused("POST", &action(near, "detach"), &Value::Null).1, "locked");
    assert_eq!(shown(&mut rig, near), one, "until it is detached");
    rig.pass(60);
    rig.post(&action(near, "attach"), &to);
    rig.pass(60);
    assert_eq!(shown(&mut rig, near), two);
    rig.done("DELETE", &format!("/servers/{two}"), &Value::Null);
    assert_eq!(shown(&mut rig, near), Value::Null);
}

#[test]
fn a_server_that_is_made_gets_each_once_and_sixteen_at_most() {
    let mut rig = Rig::new();
    let all: Vec<u64> = (0..17).map(|index| volume(&mut rig, &format!("v{index}"), "fsn1")).collect();
    let mut refused = |volumes: &[u64]| {
        let (_, answer) = rig.order_with("s", &json!({"volumes": volumes}));
        answer["error"]["code"].clone()
    };
    assert_eq!(refused(&[all[0], all[1], all[0]]), "invalid_input");
    assert_eq!(refused(&all), "limit_exceeded_error");
    let server = server(&mut rig, "s", &all[..16]);
    assert_eq!(rig.get(&format!("/servers/{server}"))["server"]["volumes"], json!(all[..16]));
}

#[test]
fn one_that_is_made_for_a_server_is_attached_when_it_is_there() {
    let mut rig = Rig::new();
    let server = server(&mut rig, "s", &[]);
    let body = json!({"name": "a", "size": 10, "server": server, "location": "nbg1"});
    assert_eq!(rig.refused("POST", "/volumes", &body).1, "invalid_input");
    let made = rig.post("/volumes", &json!({"name": "a", "size": 10, "server": server, "automount": true}));
    assert_eq!(made["next_actions"][0]["command"], "attach_volume");
    assert_eq!(made["volume"]["location"]["name"], "fsn1");
    let other = json!({"name": "b", "size": 10, "server": server});
    assert_eq!(rig.refused("POST", "/volumes", &other), (423, "locked".to_owned()));
    rig.pass(60);
    for number in 1..16 {
        rig.post("/volumes", &json!({"name": format!("v{number}"), "size": 10, "server": server}));
        rig.pass(60);
    }
    assert_eq!(rig.refused("POST", "/volumes", &other).1, "limit_exceeded_error");
    assert_eq!(rig.get(&format!("/servers/{server}"))["server"]["volumes"].as_array().unwrap().len(), 16);
}

#[test]
fn a_larger_one_costs_more() {
    let mut rig = Rig::new();
    let id = volume(&mut rig, "a", "fsn1");
    rig.post(&action(id, "resize"), &json!({"size": 50}));
    assert_eq!(rig.refused("POST", &action(id, "resize"), &json!({"size": 60})).1, "locked");
    rig.pass(60);
    assert_eq!(rig.get(&format!("/volumes/{id}"))["volume"]["size"], 50);
    rig.done("DELETE", &format!("/volumes/{id}"), &Value::Null);
    let entry = rig.engine.project.ledger.entries().next().unwrap().clone();
    let phases: Vec<&str> = entry.phases.iter().map(|phase| phase.what.as_str()).collect();
    assert_eq!(phases, ["10 GB", "50 GB"]);
    assert!(entry.phases[0].price.monthly < entry.phases[1].price.monthly && entry.until.is_some());
}

#[test]
fn what_fails_leaves_nothing_attached() {
    let mut rig = Rig::new();
    let (id, server) = (volume(&mut rig, "a", "fsn1"), server(&mut rig, "s", &[]));
    let fails = |command: &str| json!({"kind": "fails", "command": command});
    let trouble = rig.inject(&fails("attach_volume"));
    rig.post(&action(id, "attach"), &json!({"server": server}));
    rig.pass(60);
    assert_eq!(rig.get(&format!("/volumes/{id}"))["volume"]["server"], Value::Null);
    rig.heal(trouble);
    rig.inject(&fails("create_volume"));
    let broken = volume(&mut rig, "b", "fsn1");
    assert_eq!(rig.get("/volumes?status=creating")["volumes"][0]["id"], broken);
    rig.done("DELETE", &format!("/volumes/{broken}"), &Value::Null);
    rig.inject(&json!({"kind": "no_volume_space", "location": "fsn1"}));
    let more = json!({"name": "c", "size": 10, "location": "fsn1"});
    assert_eq!(rig.refused("POST", "/volumes", &more), (422, "no_space_left_in_location".to_owned()));
}

proptest! {
    #![proptest_config(Config { failure_persistence: None, cases: 32, ..Config::default() })]

    /// Whatever is asked for and whenever: no volume is at a server that is not there, or of another location.
    #[test]
    fn volumes_are_at_servers_that_are_there(
        steps in prop::collection::vec((0..7u8, any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..40),
    ) {
        let mut rig = Rig::new();
        for (number, (step, which, other)) in steps.into_iter().enumerate() {
            let volumes: Vec<u64> = rig.engine.project.volumes.all().map(|it| it.head.id).collect();
            let servers: Vec<u64> = rig.engine.project.servers.all().map(|it| it.head.id).collect();
            let pick = |all: &[u64], at: prop::sample::Index| if all.is_empty() { 1 } else { all[at.index(all.len())] };
            let (volume, server) = (pick(&volumes, which), pick(&servers, other));
            let location = ["fsn1", "nbg1"][other.index(2)];
            let made = json!({"name": format!("v{number}"), "size": 10, "location": location});
            let body = json!({"name": format!("s{number}"), "server_type": "cx23", "image": "debian-12",
                "location": location, "volumes": [volume]});
            let _ = match step {
                0 => rig.ask("POST", "/volumes", &made),
                1 => rig.ask("POST", &action(volume, "attach"), &json!({"server": server})),
                2 => rig.ask("POST", &action(volume, "detach"), &Value::Null),
                3 => rig.ask("DELETE", &format!("/volumes/{volume}"), &Value::Null),
                4 => rig.ask("POST", "/servers", &body),
                5 => rig.ask("DELETE", &format!("/servers/{server}"), &Value::Null),
                _ => {
                    rig.pass(60);
                    (0, Value::Null)
                }
            };
            let project = &rig.engine.project;
            for volume in project.volumes.all() {
                if let Some(server) = volume.server {
                    let server = project.servers.find(server);
                    prop_assert_eq!(server.map(|it| &it.location), Some(&volume.location));
                }
            }
        }
    }
}
