//! Troubles of sight, tested.

use serde_json::json;

use crate::rig::Rig;

#[test]
fn a_new_server_is_missing_from_lists_for_a_time() {
    let mut rig = Rig::new();
    rig.ordered("old");
    let id = rig.inject(&json!({"kind": "unseen", "lag_s": 30}));
    let new = rig.ordered("new");
    assert_eq!(rig.listed(), ["old"]);
    assert_eq!(rig.get("/servers?per_page=1")["meta"]["pagination"]["total_entries"], 1);
    assert_eq!(rig.get(&format!("/servers/{new}"))["server"]["name"], "new", "only lists are behind");
    assert_eq!(
        rig.refused(
            "POST",
            "/servers",
            &json!({
                "name": "new", "server_type": "cx23", "image": "debian-12"
            })
        )
        .1,
        "uniqueness_error"
    );
    assert_eq!(rig.get("/servers?name=old")["servers"].as_array().unwrap().len(), 1);
    assert_eq!(rig.bites(id), 2, "the others would have been the same");
    rig.pass(30);
    assert_eq!(rig.listed(), ["old", "new"]);
    assert_eq!(rig.bites(id), 2);
}

#[test]
fn or_from_so_many_lists() {
    let mut rig = Rig::new();
    rig.inject(&json!({"kind": "unseen", "reads": 2, "of": {"name": "new"}}));
    rig.ordered("new");
    rig.ordered("other");
    rig.get("/servers?name=other");
    let seen: Vec<usize> = (0..3).map(|_| rig.listed().len()).collect();
    assert_eq!(seen, [1, 1, 2]);
}

#[test]
fn a_deleted_server_is_still_listed() {
    let mut rig = Rig::new();
    let server = rig.ordered("a");
    rig.pass(3600);
    let before = rig.get("/servers");
    let id = rig.inject(&json!({"kind": "lingering", "reads": 2}));
    rig.done("DELETE", &format!("/servers/{server}"), &json!(null));
    assert_eq!(rig.ask("GET", &format!("/servers/{server}"), &json!(null)).0, 404);
    assert_eq!(rig.get("/servers")["servers"][0]["public_net"], before["servers"][0]["public_net"]);
    rig.ordered("a");
    assert_eq!(rig.listed(), ["a", "a"]);
    assert_eq!(rig.listed(), ["a"]);
    assert_eq!(rig.bites(id), 2);
}

#[test]
fn a_server_seems_to_be_deleting_for_ever() {
    let mut rig = Rig::new();
    let server = rig.ordered("a");
    let id = rig.inject(&json!({"kind": "lingering", "lag_s": 1_000_000, "status": "deleting"}));
    rig.done("DELETE", &format!("/servers/{server}"), &json!(null));
    rig.pass(86_400);
    assert_eq!(rig.get("/servers?status=deleting")["servers"][0]["status"], "deleting");
    assert_eq!(rig.status_of(server), "deleting");
    assert_eq!(rig.refused("DELETE", &format!("/servers/{server}"), &json!(null)).0, 404);
    assert_eq!(rig.bites(id), 2);
    rig.heal(id);
    assert!(rig.listed().is_empty());
    assert_eq!(rig.refused("GET", &format!("/servers/{server}"), &json!(null)).0, 404);
}

#[test]
fn a_group_counts_who_is_gone() {
    let mut rig = Rig::new();
    let group =
        rig.post("/placement_groups", &json!({"name": "g", "type": "spread"}))["placement_group"]["id"]
            .as_u64()
            .unwrap();
    let within = json!({"placement_group": group});
    let id = rig.inject(&json!({"kind": "late_release", "lag_s": 60}));
    let made: Vec<u64> = (0..10)
        .map(|index| rig.order_with(&format!("s{index}"), &within).1["server"]["id"].as_u64().unwrap())
        .collect();
    rig.done("DELETE", &format!("/servers/{}", made[0]), &json!(null));
    let refused = rig.order_with("more", &within);
    assert_eq!(refused.1["error"]["code"], "placement_group_member_limit_reached");
    assert_eq!(rig.bites(id), 1);
    let members = rig.get(&format!("/placement_groups/{group}"))["placement_group"]["servers"].clone();
    assert_eq!(members.as_array().unwrap().len(), 10);
    rig.pass(60);
    assert_eq!(rig.order_with("more", &within).0, 201);
}

#[test]
fn a_type_is_retired() {
    let mut rig = Rig::new();
    let from = rig.now + std::time::Duration::from_secs(100);
    rig.ordered("old");
    let listed = |rig: &mut Rig| rig.get("/server_types?name=cx23")["server_types"].as_array().unwrap().len();
    let id = rig.inject(&json!({"kind": "retired", "server_type": "cx23", "from": from}));
    assert_eq!((listed(&mut rig), rig.bites(id)), (1, 0));
    rig.pass(100);
    assert_eq!((listed(&mut rig), rig.bites(id)), (0, 1));
    assert_eq!(rig.order("a").0, 422);
    assert_eq!(rig.bites(id), 2);
    assert_eq!(rig.order_with("a", &json!({"server_type": "nonsense"})).0, 422);
    assert_eq!(rig.bites(id), 2, "it would have been refused anyway");
    assert_eq!(rig.get("/servers")["servers"][0]["server_type"]["name"], "cx23");
    rig.heal(id);
    assert_eq!(listed(&mut rig), 1);
    rig.ordered("a");
}

#[test]
fn an_image_that_vanishes_while_it_is_written_is_written() {
    let mut rig = Rig::new();
    let server = rig.ordered("a");
    rig.pass(60);
    let made = rig.post(&format!("/servers/{server}/actions/create_image"), &json!({"type": "snapshot"}));
    let image = made["image"]["id"].as_u64().unwrap();
    let path = format!("/images/{image}");
    let id = rig.inject(&json!({"kind": "vanished", "image": image.to_string()}));
    assert_eq!(rig.refused("DELETE", &path, &json!(null)).0, 404);
    assert_eq!(rig.order("b").0, 201);
    rig.pass(600);
    assert_eq!(rig.order_with("c", &json!({"image": image})).0, 422);
    rig.heal(id);
    assert_eq!(rig.get(&path)["image"]["status"], "available");
    assert_eq!(rig.order_with("c", &json!({"image": image})).0, 201);
}

#[test]
fn an_image_vanishes() {
    let mut rig = Rig::new();
    let id = rig.inject(&json!({"kind": "vanished", "image": "debian-12"}));
    assert_eq!(rig.order("a").0, 422);
    assert_eq!(rig.bites(id), 1);
    assert!(rig.get("/images?name=debian-12")["images"].as_array().unwrap().is_empty());
    assert_eq!(rig.bites(id), 2);
    assert_eq!(rig.order_with("a", &json!({"image": "ubuntu-24.04"})).0, 201);
    assert_eq!(rig.bites(id), 2);
    rig.heal(id);
    rig.ordered("b");
}

#[test]
fn a_page_is_torn() {
    let page = |tear: &str| {
        let mut rig = Rig::new();
        for name in ["a", "b", "c", "d"] {
            rig.server(name, &json!({}));
        }
        let on = json!({"path": "/servers?*page=2*"});
        let id = rig.inject(&json!({"kind": "torn_list", "on": on, "tear": tear}));
        rig.get("/servers?per_page=3&page=1");
        assert_eq!(rig.bites(id), 0);
        let torn = rig.get("/servers?per_page=2&page=2");
        let names: String =
            torn["servers"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
        (names, rig.bites(id))
    };
    assert_eq!(page("empty_page"), (String::new(), 1));
    assert_eq!(page("missing_item"), ("c".into(), 1));
    assert_eq!(page("repeated_item"), ("ccd".into(), 1));
    assert_eq!(page("no_next_page"), ("cd".into(), 0), "there is none anyway");
    let mut rig = Rig::new();
    for name in ["a", "b"] {
        rig.server(name, &json!({}));
    }
    rig.inject(&json!({"kind": "torn_list", "tear": "no_next_page"}));
    assert_eq!(rig.get("/servers?per_page=1")["meta"]["pagination"]["next_page"], json!(null));
}

#[test]
fn nothing_stays_bent() {
    let mut rig = Rig::new();
    let a = rig.ordered("a");
    for trouble in [
        json!({"kind": "vanished", "image": "debian-12"}),
        json!({"kind": "unseen", "lag_s": 100}),
        json!({"kind": "lingering", "lag_s": 100}),
        json!({"kind": "late_release", "lag_s": 100}),
        json!({"kind": "retired", "server_type": "cx23"}),
    ] {
        rig.inject(&trouble);
    }
    rig.done("DELETE", &format!("/servers/{a}"), &json!(null));
    rig.order_with("b", &json!({"server_type": "cx33", "image": "ubuntu-24.04"}));
    let plain = |rig: &Rig| {
        let project = &rig.engine.project;
        (
            project.servers.clone(),
            project.images.clone(),
            project.primary_ips.clone(),
            project.placement_groups.clone(),
        )
    };
    let before = plain(&rig);
    for path in ["/servers", "/images", "/server_types", "/placement_groups", "/pricing"] {
        rig.get(path);
    }
    rig.order("c");
    assert_eq!(plain(&rig), before);
}
