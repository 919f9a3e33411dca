//! Images as clients see them.

use serde_json::{Value, json};

use crate::profile::Profile;
use crate::resource::image::{Effect, ImageKind};
use crate::rig::Rig;

fn ids(rig: &mut Rig, query: &str) -> Vec<u64> {
    let answer = rig.get(&format!("/images?per_page=50&{query}"));
    answer["images"].as_array().unwrap().iter().map(|image| image["id"].as_u64().unwrap()).collect()
}

/// Makes an image of a server, and waits until it is there.
fn make(rig: &mut Rig, server: u64, body: &Value) -> u64 {
    let answer = rig.post(&format!("/servers/{server}/actions/create_image"), body);
    rig.pass(7200);
    answer["image"]["id"].as_u64().unwrap()
}

fn with_backups(rig: &mut Rig, name: &str) -> u64 {
    let server = rig.server(name, &json!({}));
    rig.post(&format!("/servers/{server}/actions/enable_backup"), &Value::Null);
    rig.pass(600);
    server
}

#[test]
fn everybody_has_those_of_the_catalogue() {
    let mut rig = Rig::new();
    let both = ids(&mut rig, "name=ubuntu-24.04");
    assert_eq!(both.len(), 2);
    assert_eq!(ids(&mut rig, "name=ubuntu-24.04&architecture=arm"), both[1..]);
    let image = rig.get(&format!("/images/{}", both[0]))["image"].clone();
    for (field, value) in [
        ("type", json!("system")),
        ("status", json!("available")),
        ("name", json!("ubuntu-24.04")),
        ("image_size", Value::Null),
        ("created_from", Value::Null),
        ("bound_to", Value::Null),
        ("architecture", json!("x86")),
        ("deprecated", Value::Null),
        ("deprecation", Value::Null),
        ("deleted", Value::Null),
        ("protection", json!({"delete": false})),
        ("labels", json!({})),
    ] {
        assert_eq!(image[field], value, "{field}");
    }
    assert!(ids(&mut rig, "type=snapshot&type=backup").is_empty());
    assert!(!ids(&mut rig, "type=system&status=available").is_empty());
    assert!(ids(&mut rig, "status=creating").is_empty());
}

#[test]
fn one_that_will_go_is_shown_to_who_asks_for_it_and_then_to_nobody() {
    let mut rig = Rig::new();
    assert!(ids(&mut rig, "name=debian-11").is_empty());
    let old = ids(&mut rig, "name=debian-11&include_deprecated=true");
    assert_eq!(old.len(), 2);
    assert_eq!(ids(&mut rig, "name=debian-11&include_deprecated=True"), old);
    let image = rig.get(&format!("/images/{}", old[0]))["image"].clone();
    assert_eq!(image["deprecated"], image["deprecation"]["announced"]);
    assert!(ids(&mut rig, "name=ubuntu-20.04&include_deprecated=true").is_empty());
    // The same is asked again after the day on which it goes.
    rig.pass(31 * 24 * 3600);
    assert!(ids(&mut rig, "name=debian-11&include_deprecated=true").is_empty());
    let earlier = Rig::of(Profile::June2026).get(&format!("/images/{}", old[0]))["image"].clone();
    assert!(earlier.get("deprecation").is_none() && earlier["deprecated"].is_string());
}

#[test]
fn a_snapshot_outlives_its_server() {
    let mut rig = Rig::new();
    let server = rig.server("web", &json!({}));
    let body = json!({"description": "before", "labels": {"a": "b"}});
    let answer = rig.post(&format!("/servers/{server}/actions/create_image"), &body);
    let image = &answer["image"];
    assert_eq!((&image["status"], &image["type"]), (&json!("creating"), &json!("snapshot")));
    assert_eq!((&image["image_size"], &image["name"]), (&Value::Null, &Value::Null));
    assert_eq!(image["created_from"], json!({"id": server, "name": "web"}));
    let path = format!("/images/{}", image["id"]);
    assert_eq!(rig.refused("DELETE", &path, &Value::Null), (423, "locked".to_owned()));
    assert_eq!(rig.get(&format!("{path}/actions"))["actions"][0]["command"], "create_image");
    rig.pass(7200);
    let image = rig.get(&path)["image"].clone();
    assert!(image["status"] == "available" && image["image_size"].as_f64().unwrap() >= 1.0);
    assert_eq!((&image["disk_size"], &image["bound_to"]), (&json!(40.0), &Value::Null));
    rig.done("DELETE", &format!("/servers/{server}"), &Value::Null);
    assert_eq!(ids(&mut rig, "label_selector=a%3Db&type=snapshot"), [image["id"].as_u64().unwrap()]);
    assert_eq!(rig.ask("DELETE", &path, &Value::Null), (204, Value::Null));
    assert_eq!(rig.refused("GET", &path, &Value::Null).0, 404);
    let ledger = &rig.engine.project.ledger;
    let entry = ledger.entries().find(|entry| path.ends_with(&entry.id.to_string())).unwrap();
    let costs = entry.phases.iter().map(|phase| phase.price.monthly > crate::money::Money::ZERO);
    assert_eq!(costs.collect::<Vec<_>>(), [false, true]);
    assert!(entry.until.is_some());
}

#[test]
fn servers_are_made_from_a_snapshot_and_lose_it() {
    let mut rig = Rig::new();
    let server = rig.server("web", &json!({}));
    let image = make(&mut rig, server, &json!({}));
    let mut body = json!({"name": "two", "server_type": "cx23", "image": image, "location": "fsn1",
        "ssh_keys": [], "public_net": {"enable_ipv4": true, "enable_ipv6": false}});
    let made = rig.post("/servers", &body)["server"].clone();
    assert_eq!(made["image"]["id"], image);
    body["name"] = json!("three");
    body["server_type"] = json!("cax11");
    assert_eq!(rig.refused("POST", "/servers", &body).1, "invalid_input");
    rig.done("DELETE", &format!("/images/{image}"), &Value::Null);
    assert_eq!(rig.get(&format!("/servers/{}", made["id"]))["server"]["image"], Value::Null);
}

#[test]
fn a_disk_that_does_not_fit_is_refused() {
    let mut rig = Rig::new();
    let server = rig.server("web", &json!({}));
    rig.engine.project.servers.find_mut(server).unwrap().disk_gb = 80;
    let large = make(&mut rig, server, &json!({}));
    let small = rig.server("small", &json!({}));
    let rebuild = json!({"image": large});
    assert_eq!(
        rig.refused("POST", &format!("/servers/{small}/actions/rebuild"), &rebuild).1,
        "invalid_input"
    );
    // What counts is the disk that it has, not that of its type.
    rig.post(&format!("/servers/{server}/actions/rebuild"), &rebuild);
}

#[test]
fn backups_go_with_their_server_and_snapshots_do_not() {
    let mut rig = Rig::new();
    let server = rig.server("web", &json!({}));
    let path = format!("/servers/{server}/actions/create_image");
    assert_eq!(rig.refused("POST", &path, &json!({"type": "backup"})).1, "invalid_input");
    let server = with_backups(&mut rig, "db");
    let shown = rig.get(&format!("/servers/{server}"))["server"]["backup_window"].clone();
    assert!(shown.is_string());
    let (first, second) = (
        make(&mut rig, server, &json!({"type": "backup"})),
        make(&mut rig, server, &json!({"type": "backup"})),
    );
    assert_eq!(ids(&mut rig, &format!("bound_to={server}")), [first, second]);
    let kept = rig.done("PUT", &format!("/images/{first}"), &json!({"type": "snapshot", "description": "d"}));
    assert_eq!((&kept["image"]["bound_to"], &kept["image"]["type"]), (&Value::Null, &json!("snapshot")));
    rig.done("DELETE", &format!("/servers/{server}"), &Value::Null);
    assert_eq!(ids(&mut rig, "type=backup&type=snapshot"), [first]);
}

#[test]
fn backups_go_when_nobody_wants_them() {
    let mut rig = Rig::new();
    let server = with_backups(&mut rig, "db");
    make(&mut rig, server, &json!({"type": "backup"}));
    rig.post(&format!("/servers/{server}/actions/disable_backup"), &Value::Null);
    assert!(ids(&mut rig, "type=backup").is_empty());
    rig.pass(600);
    assert_eq!(rig.get(&format!("/servers/{server}"))["server"]["backup_window"], Value::Null);
}

#[test]
fn the_oldest_backup_makes_room_for_the_eighth() {
    let mut rig = Rig::new();
    let server = with_backups(&mut rig, "db");
    let all: Vec<u64> = (0..8).map(|_| make(&mut rig, server, &json!({"type": "backup"}))).collect();
    assert_eq!(ids(&mut rig, "type=backup"), all[1..]);
}

#[test]
fn one_that_could_not_be_written_is_gone() {
    let mut rig = Rig::new();
    let server = rig.server("web", &json!({}));
    let answer = rig.post(&format!("/servers/{server}/actions/create_image"), &Value::Null);
    let image = answer["image"]["id"].as_u64().unwrap();
    let now = rig.now;
    Effect::Written { image }.settle(&mut rig.engine.project, now, false);
    assert_eq!(rig.refused("GET", &format!("/images/{image}"), &Value::Null).0, 404);
    rig.pass(7200);
    assert!(ids(&mut rig, "type=snapshot").is_empty());
}

#[test]
fn what_everybody_has_nobody_changes() {
    let mut rig = Rig::new();
    let id = ids(&mut rig, "name=debian-12")[0];
    let path = format!("/images/{id}");
    let protect = format!("{path}/actions/change_protection");
    for (method, path, body) in [
        ("PUT", &path, json!({"description": "mine"})),
        ("DELETE", &path, Value::Null),
        ("POST", &protect, json!({"delete": true})),
    ] {
        assert_eq!(
            rig.refused(method, path, &body),
            (422, "unsupported_error".to_owned()),
            "{method} {path}"
        );
    }
    assert_eq!(rig.refused("PUT", "/images/7", &json!({"nonsense": 1})).0, 404);
}

#[test]
fn a_protected_snapshot_stays() {
    let mut rig = Rig::new();
    let server = rig.server("web", &json!({}));
    let id = make(&mut rig, server, &json!({}));
    let path = format!("/images/{id}");
    rig.post(&format!("{path}/actions/change_protection"), &json!({"delete": true}));
    assert_eq!(rig.refused("DELETE", &path, &Value::Null), (423, "protected".to_owned()));
    rig.post(&format!("{path}/actions/change_protection"), &json!({"delete": false}));
    rig.done("DELETE", &path, &Value::Null);
}

#[test]
fn there_are_only_so_many_snapshots() {
    let mut rig = Rig::new();
    let server = with_backups(&mut rig, "web");
    let mut catalogue = (*rig.engine.project.catalogue).clone();
    catalogue.limits.snapshots = 1;
    rig.engine.project.catalogue = catalogue.into();
    make(&mut rig, server, &json!({}));
    let path = format!("/servers/{server}/actions/create_image");
    assert_eq!(rig.refused("POST", &path, &json!({})), (403, "resource_limit_exceeded".to_owned()));
    let backup = make(&mut rig, server, &json!({"type": "backup"}));
    assert_eq!(rig.engine.project.images.find(backup).unwrap().kind, ImageKind::Backup);
}
