//! Lives of placement groups, and who has room in one.

use serde_json::{Value, json};

use crate::resource::placement_group::has_room;
use crate::rig::Rig;

/// A group with so many servers in it: its id, and theirs.
fn group(rig: &mut Rig, size: usize) -> (u64, Vec<u64>) {
    let made = rig.post("/placement_groups", &json!({"name": "spread", "type": "spread"}));
    let id = made["placement_group"]["id"].as_u64().unwrap();
    let servers: Vec<u64> = (0..size).map(|index| rig.server(&format!("s{index}"), &json!({}))).collect();
    let project = &mut rig.engine.project;
    for server in &servers {
        project.servers.find_mut(*server).unwrap().placement_group = Some(id);
        project.placement_groups.find_mut(id).unwrap().members.insert(*server);
    }
    (id, servers)
}

#[test]
fn a_life() {
    let mut rig = Rig::new();
    let body = json!({"name": "mine", "type": "spread", "labels": {"a": "b"}});
    let made = rig.post("/placement_groups", &body);
    assert_eq!(made["action"], Value::Null);
    let made = made["placement_group"].clone();
    assert_eq!((&made["type"], &made["servers"]), (&json!("spread"), &json!([])));
    for (filter, count) in [("name=mine", 1), ("type=spread", 1), ("name=x", 0), ("type=partition", 0)] {
        let all = rig.get(&format!("/placement_groups?{filter}"));
        assert_eq!(all["meta"]["pagination"]["total_entries"], count, "{filter}");
    }
    let path = format!("/placement_groups/{}", made["id"]);
    let renamed = rig.done("PUT", &path, &json!({"name": "ours"}));
    assert_eq!(renamed["placement_group"]["name"], "ours");
    assert_eq!(renamed["placement_group"]["labels"], json!({"a": "b"}));
    assert_eq!(rig.ask("DELETE", &path, &Value::Null), (204, Value::Null));
    assert_eq!(rig.refused("GET", &path, &Value::Null), (404, "not_found".to_owned()));
}

#[test]
fn what_cannot_be_made_is_refused() {
    let mut rig = Rig::new();
    rig.post("/placement_groups", &json!({"name": "mine", "type": "spread"}));
    for (body, expected) in [
        (json!({"name": "mine", "type": "spread"}), (409, "uniqueness_error")),
        (json!({"name": "other"}), (422, "invalid_input")),
        (json!({"name": "other", "type": "partition"}), (422, "invalid_input")),
        (json!({"type": "spread"}), (422, "invalid_input")),
        (json!({"name": "other", "type": "spread", "servers": []}), (422, "invalid_input")),
    ] {
        let (status, code) = rig.refused("POST", "/placement_groups", &body);
        assert_eq!((status, code.as_str()), expected, "{body}");
    }
}

#[test]
fn ten_have_room() {
    let mut rig = Rig::new();
    let (id, servers) = group(&mut rig, 9);
    assert_eq!(has_room(&rig.engine.project, id), Ok(()));
    let tenth = rig.server("tenth", &json!({}));
    rig.engine.project.placement_groups.find_mut(id).unwrap().members.insert(tenth);
    let wrong = has_room(&rig.engine.project, id).unwrap_err();
    assert_eq!((wrong.status(), wrong.code()), (422, "placement_group_member_limit_reached"));
    rig.done("DELETE", &format!("/servers/{}", servers[0]), &Value::Null);
    assert_eq!(has_room(&rig.engine.project, id), Ok(()));
}

#[test]
fn servers_survive_their_group() {
    let mut rig = Rig::new();
    let (id, servers) = group(&mut rig, 2);
    let path = format!("/placement_groups/{id}");
    assert_eq!(rig.get(&path)["placement_group"]["servers"], json!(servers));
    rig.done("DELETE", &path, &Value::Null);
    for server in servers {
        assert_eq!(rig.get(&format!("/servers/{server}"))["server"]["placement_group"], Value::Null);
    }
}
