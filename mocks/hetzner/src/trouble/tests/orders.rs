//! Troubles of orders, tested.

use serde_json::json;

use super::told;
use crate::rig::Rig;

#[test]
fn a_type_is_sold_out_where_it_was_said_and_nowhere_else() {
    let mut rig = Rig::new();
    let id = rig.inject(&json!({"kind": "sold_out", "server_type": "cx2*", "location": "fsn1", "for_s": 60}));
    let refused = told(rig.order("a"));
    assert_eq!(refused, (412, "resource_unavailable".into(), "error during placement".into()));
    assert_eq!(rig.order_with("b", &json!({"location": "nbg1"})).0, 201);
    assert_eq!(rig.order_with("c", &json!({"server_type": "cx33"})).0, 201);
    assert_eq!(rig.bites(id), 1);
    rig.pass(60);
    rig.ordered("a");
}

#[test]
fn a_shortage_has_several_faces() {
    for (refused_as, status) in
        [("resource_unavailable", 412), ("invalid_input", 422), ("placement_error", 422)]
    {
        let mut rig = Rig::new();
        let id = rig.inject(&json!({"kind": "sold_out", "refused_as": refused_as, "message": "so sorry"}));
        assert_eq!(told(rig.order("a")), (status, refused_as.into(), "so sorry".into()));
        rig.heal(id);
        rig.ordered("a");
    }
}

#[test]
fn a_resize_finds_the_shelf_empty_too() {
    let mut rig = Rig::new();
    let server = rig.ordered("a");
    rig.pass(600);
    rig.post(&format!("/servers/{server}/actions/poweroff"), &json!(null));
    rig.pass(600);
    let id = rig.inject(&json!({"kind": "sold_out", "server_type": "cx33"}));
    let body = json!({"server_type": "cx33", "upgrade_disk": false});
    let refused = rig.refused("POST", &format!("/servers/{server}/actions/change_type"), &body);
    assert_eq!((refused.0, rig.bites(id)), (412, 1));
}

#[test]
fn less_is_allowed() {
    for (quota, message) in [
        (json!({"servers": 1}), "server limit exceeded"),
        (json!({"cores": 3}), "core limit exceeded"),
        (json!({"primary_ips": 0}), "Primary IP limit exceeded"),
    ] {
        let mut rig = Rig::new();
        rig.server("first", &json!({}));
        let mut trouble = json!({"kind": "quota"});
        trouble.as_object_mut().unwrap().extend(quota.as_object().unwrap().clone());
        let id = rig.inject(&trouble);
        let refused = told(rig.order("a"));
        assert_eq!(refused, (403, "resource_limit_exceeded".into(), message.into()));
        assert_eq!(rig.bites(id), 1);
        rig.heal(id);
        rig.ordered("a");
    }
}

#[test]
fn no_address_is_left_for_who_wants_one() {
    let mut rig = Rig::new();
    let id = rig.inject(&json!({"kind": "no_addresses", "location": "fsn1", "count": 1}));
    assert_eq!(rig.order("a").0, 412);
    assert_eq!(rig.bites(id), 1);
    rig.ordered("a");
    let id = rig.inject(&json!({"kind": "no_addresses", "location": "nbg1"}));
    let address =
        |location| json!({"name": location, "type": "ipv4", "assignee_type": "server", "location": location});
    assert_eq!(rig.refused("POST", "/primary_ips", &address("nbg1")).1, "resource_unavailable");
    rig.post("/primary_ips", &address("fsn1"));
    assert_eq!(rig.bites(id), 1);
}

#[test]
fn there_is_no_room_for_a_volume() {
    let mut rig = Rig::new();
    let id = rig.inject(&json!({"kind": "no_volume_space", "location": "fsn1"}));
    let volume = |location| json!({"name": location, "size": 10, "location": location});
    assert_eq!(
        rig.refused("POST", "/volumes", &volume("fsn1")),
        (422, "no_space_left_in_location".to_owned())
    );
    rig.post("/volumes", &volume("nbg1"));
    assert_eq!(rig.bites(id), 1);
    rig.heal(id);
    rig.post("/volumes", &volume("fsn1"));
}

#[test]
fn what_the_catalogue_has_not_is_refused() {
    let mut rig = Rig::new();
    for (trouble, why) in [
        (json!({"kind": "sold_out", "server_type": "cx2"}), "'server_type' \"cx2\" is none of "),
        (json!({"kind": "sold_out", "location": "fsn"}), "'location' \"fsn\" is none of fsn1, "),
        (json!({"kind": "stuck", "of": {"location": "x*"}}), "'of.location' \"x*\" is none of "),
        (json!({"kind": "retired", "server_type": "cx*"}), "'server_type' "),
        (json!({"kind": "vanished", "image": "debian"}), "there is no image \"debian\""),
    ] {
        let trouble: crate::Trouble = trouble.to_string().parse().unwrap();
        let error = rig.engine.inject(rig.now, trouble).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
    assert!(rig.engine.troubles(rig.now).is_empty());
}
