//! The administration as its callers meet it.

use serde_json::{Value, json};

use crate::call::Request;
use crate::rig::Rig;

impl Rig {
    /// Status and text of an answer of the administration.
    fn admin(&mut self, method: &str, target: &str, body: &Value) -> (u16, String) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let reply = super::answer(&mut self.engine, self.now, &Request::new(method, target).body(body));
        assert!(reply.headers.iter().any(|(name, _)| *name == "Content-Type"));
        let text = String::from_utf8(reply.body.unwrap().to_vec()).unwrap();
        assert!(text.ends_with('\n'), "{target}");
        (reply.status, text)
    }

    fn admin_json(&mut self, method: &str, target: &str, body: &Value) -> Value {
        let (status, text) = self.admin(method, target, body);
        assert!(status < 300, "{method} {target}: {text}");
        serde_json::from_str(&text).unwrap()
    }

    fn admin_refused(&mut self, method: &str, target: &str, body: &Value) -> (u16, String) {
        let (status, text) = self.admin(method, target, body);
        assert!(status >= 400, "{method} {target}: {text}");
        let error: Value = serde_json::from_str(&text).unwrap();
        (status, error["error"].as_str().unwrap().to_owned())
    }
}

#[test]
fn the_front_page_tells_what_there_is_and_all_of_it_is_there() {
    let mut rig = Rig::new();
    let (status, text) = rig.admin("GET", "/", &json!(null));
    assert_eq!(status, 200);
    for (method, path, ..) in super::ROOMS {
        assert!(text.contains(path), "{path}");
        let (status, text) = rig.admin(method, &path.replace("{id}", "1"), &json!(null));
        assert_ne!(status, 405, "{text}");
        assert!(status != 404 || path.contains("{id}"), "{method} {path}: {text}");
    }
    assert_eq!(rig.admin("GET", "/healthz", &json!(null)), (200, "ok\n".to_owned()));
}

#[test]
fn a_trouble_lives_and_heals() {
    let mut rig = Rig::new();
    let made = rig.admin_json("POST", "/troubles", &json!({"kind": "sold_out", "location": "fsn1"}));
    assert_eq!((&made["id"], &made["in_force"], &made["bites"]), (&json!(1), &json!(true), &json!(0)));
    assert_eq!(rig.order("a").0, 412);
    let all = rig.admin_json("GET", "/troubles", &json!(null));
    assert_eq!(
        (&all["troubles"][0]["bites"], &all["troubles"][0]["first_bite"]),
        (&json!(1), &json!(rig.now))
    );
    assert_eq!(
        all["troubles"][0]["trouble"],
        json!({
            "kind": "sold_out", "location": "fsn1", "refused_as": "resource_unavailable"
        })
    );
    assert_eq!(rig.admin_json("DELETE", "/troubles/1", &json!(null))["in_force"], false);
    let again = rig.admin_refused("DELETE", "/troubles/1", &json!(null));
    assert_eq!(again, (409, "trouble 1 is over already".to_owned()));
    assert_eq!(rig.admin_refused("GET", "/troubles/2", &json!(null)).0, 404);
    rig.ordered("a");
    rig.admin_json("POST", "/troubles", &json!({"kind": "stuck"}));
    rig.admin_json("POST", "/troubles", &json!({"kind": "maintenance"}));
    assert_eq!(rig.admin_json("DELETE", "/troubles", &json!(null))["healed"], 2);
}

#[test]
fn what_is_wrong_is_told_in_a_sentence() {
    let mut rig = Rig::new();
    let cases = [
        ("POST", "/troubles", json!({"kind": "stuck", "command": 1}), 400, "'command': invalid type"),
        (
            "POST",
            "/troubles",
            json!({"kind": "sold_out", "location": "x"}),
            400,
            "'location' \"x\" is none of",
        ),
        ("POST", "/deeds", json!({"deed": "explode"}), 400, "unknown variant `explode`"),
        ("POST", "/deeds", json!({"deed": "power_off", "server": 1.5}), 400, "'server': invalid type"),
        (
            "POST",
            "/deeds",
            json!({"deed": "power_off", "server": "x"}),
            409,
            "find server 'x': there is none",
        ),
        ("PUT", "/limit", json!({"per_hour": "many"}), 400, "'per_hour': invalid type"),
        ("PUT", "/limit", json!([]), 400, "must be a JSON object"),
        ("PUT", "/state", json!({"version": 99}), 400, "version 99"),
        ("GET", "/ledger?format=pdf", json!(null), 400, "'format' must be json or text"),
        ("GET", "/ledger?after=noon", json!(null), 400, "'after': "),
        ("GET", "/nothing", json!(null), 404, "there is no /nothing; see /"),
        ("POST", "/servers", json!(null), 405, "/servers knows GET, not POST"),
    ];
    let before = rig.engine.snapshot(rig.now).to_string();
    for (method, target, body, status, why) in cases {
        let (told, sentence) = rig.admin_refused(method, target, &body);
        assert!(told == status && sentence.contains(why), "{target} {body}: {told} {sentence}");
    }
    assert_eq!(rig.engine.snapshot(rig.now).to_string(), before);
}

#[test]
fn the_state_comes_and_goes() {
    let mut rig = Rig::new();
    rig.ordered("a");
    rig.admin_json("POST", "/troubles", &json!({"kind": "stuck"}));
    let (_, state) = rig.admin("GET", "/state", &json!(null));
    rig.admin_json("PUT", "/limit", &json!({"per_hour": 100}));
    rig.admin_json("POST", "/reset", &json!(null));
    assert!(rig.listed().is_empty(), "and the token still opens");
    assert!(rig.engine.troubles(rig.now).is_empty());
    assert_eq!(rig.admin_json("GET", "/limit", &json!(null))["per_hour"], 100);
    rig.admin_json("PUT", "/state", &serde_json::from_str(&state).unwrap());
    assert_eq!(rig.admin("GET", "/state", &json!(null)).1, state);
    assert_eq!(rig.listed(), ["a"]);
}

#[test]
fn overviews_tell_of_servers() {
    let mut rig = Rig::new();
    let id = rig.ordered("web-1");
    let glance = rig.admin_json("GET", "/servers", &json!(null))["servers"][0].clone();
    assert_eq!((&glance["id"], &glance["since"]), (&json!(id), &json!(rig.now)));
    assert!(rig.admin("GET", "/servers?format=text", &json!(null)).1.contains("web-1"));
    rig.pass(60);
    rig.admin_json("POST", "/deeds", &json!({"deed": "delete", "which": "web-1"}));
    let journal = rig.admin_json("GET", "/journal", &json!(null));
    let events = journal["journal"].as_array().unwrap();
    let server = |what: &str| events.iter().find(|it| it["kind"] == "server" && it["what"] == what).unwrap();
    assert_eq!((&server("deleted")["by"], &server("created")["name"]), (&json!("by hand"), &json!("web-1")));
    assert!(rig.admin("GET", "/journal?format=text", &json!(null)).1.contains("(by hand)"));
    assert!(rig.admin("GET", "/ledger?format=text", &json!(null)).1.contains("web-1"));
    assert_eq!(rig.admin_json("GET", "/ledger", &json!(null))["resources"][0]["name"], "web-1");
}
