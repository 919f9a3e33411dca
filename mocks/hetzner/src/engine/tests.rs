//! What every request meets before it reaches a room, and what every reply has.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::engine::Snapshot;
use crate::rig::Rig;

fn header(reply: &Reply, name: &str) -> Option<String> {
    reply.headers.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone())
}

fn code(reply: &Reply) -> String {
    let body: Value = serde_json::from_slice(reply.body.as_ref().unwrap()).unwrap();
    body["error"]["code"].as_str().unwrap().to_owned()
}

#[test]
fn nobody_comes_in_without_a_token() {
    let mut rig = Rig::new();
    let mut ask = |request: Request| {
        let reply = rig.engine.answer(rig.now, &request);
        (reply.status, code(&reply))
    };
    let unauthorized = (401, "unauthorized".to_owned());
    assert_eq!(ask(Request::new("GET", "/v1/servers")), unauthorized);
    assert_eq!(ask(Request::new("GET", "/v1/servers").token("other")), unauthorized);
    assert_eq!(ask(Request::new("GET", "/v1/nowhere")), unauthorized, "who may not come in learns nothing");
    let basic =
        Request { authorization: Some("Basic token".to_owned()), ..Request::new("GET", "/v1/servers") };
    assert_eq!(ask(basic), unauthorized);
}

#[test]
fn a_token_may_be_for_looking_only() {
    let mut rig = Rig::new();
    rig.engine.admit(Token { secret: "eyes".to_owned(), read_only: true });
    let look = rig.engine.answer(rig.now, &Request::new("GET", "/v1/servers").token("eyes"));
    assert_eq!(look.status, 200);
    let change = rig.engine.answer(rig.now, &Request::new("POST", "/v1/servers").token("eyes"));
    assert_eq!((change.status, code(&change).as_str()), (403, "forbidden"));
}

#[test]
fn paths_that_lead_nowhere_say_so() {
    let mut rig = Rig::new();
    for path in
        ["/nowhere", "/servers/abc", "/servers/1/actions/dance", "/", "/servers/99999999999999999999999"]
    {
        assert_eq!(rig.refused("GET", path, &Value::Null), (404, "not_found".to_owned()), "{path}");
    }
    assert_eq!(rig.refused("PATCH", "/servers", &Value::Null).0, 405);
    assert_eq!(rig.refused("POST", "/server_types", &json!({})).0, 405);
    assert_eq!(rig.refused("GET", "/zones/example.com", &Value::Null), (501, "not_simulated".to_owned()));
    let outside = rig.engine.answer(rig.now, &Request::new("GET", "/v2/servers").token("token"));
    assert_eq!(outside.status, 404);
    let no_version = rig.engine.answer(rig.now, &Request::new("GET", "/v1servers").token("token"));
    assert_eq!(no_version.status, 404);
}

#[test]
fn an_endpoint_may_end_with_a_slash() {
    let mut rig = Rig::new();
    for path in ["/v1//servers", "/v1/servers/"] {
        assert_eq!(
            rig.engine.answer(rig.now, &Request::new("GET", path).token("token")).status,
            200,
            "{path}"
        );
    }
}

#[test]
fn every_reply_tells_of_the_limit_and_has_a_name_of_its_own() {
    let mut rig = Rig::new();
    let ask = |rig: &mut Rig, token: &str| {
        let request = Request::new("GET", "/v1/locations").token(token);
        rig.engine.answer(rig.now, &request)
    };
    let (first, second) = (ask(&mut rig, "token"), ask(&mut rig, "nobody"));
    assert_eq!(header(&first, "RateLimit-Limit").unwrap(), "3600");
    assert_eq!(header(&first, "RateLimit-Remaining").unwrap(), "3599");
    assert_eq!(
        header(&second, "RateLimit-Remaining").unwrap(),
        "3598",
        "those who may not come in count, too"
    );
    assert_ne!(header(&first, "X-Correlation-Id"), header(&second, "X-Correlation-Id"));
    assert_eq!(header(&first, "Date").unwrap(), "Sun, 01 Nov 2026 00:00:00 GMT");
    assert_eq!(header(&first, "Content-Type").unwrap(), "application/json");
}

#[test]
fn beyond_the_limit_nothing_is_done() {
    let mut rig = Rig::new();
    rig.engine.limit_requests(rig.now, 2);
    let body = json!({"name": "one", "type": "spread"});
    rig.post("/placement_groups", &body);
    rig.get("/placement_groups");
    let request = Request::new("POST", "/v1/placement_groups").token("token").body(r#"{"name": "two"}"#);
    let reply = rig.engine.answer(rig.now, &request);
    assert_eq!((reply.status, code(&reply).as_str()), (429, "rate_limit_exceeded"));
    assert_eq!(header(&reply, "RateLimit-Remaining").unwrap(), "0");
    rig.now += Duration::from_secs(1800);
    assert_eq!(rig.get("/placement_groups")["placement_groups"].as_array().unwrap().len(), 1);
}

#[test]
fn an_empty_answer_has_no_type() {
    let mut rig = Rig::new();
    let id =
        rig.post("/placement_groups", &json!({"name": "one", "type": "spread"}))["placement_group"]["id"]
            .clone();
    let reply = rig
        .engine
        .answer(rig.now, &Request::new("DELETE", &format!("/v1/placement_groups/{id}")).token("token"));
    assert_eq!((reply.status, reply.body.clone(), header(&reply, "Content-Type")), (204, None, None));
}

#[test]
fn lists_lead_on() {
    let mut rig = Rig::new();
    rig.engine.reached_at("http://cloud");
    let reply = rig
        .engine
        .answer(rig.now, &Request::new("GET", "/v1/locations?per_page=2&page=2&sort=id").token("token"));
    let link = header(&reply, "Link").unwrap();
    assert!(link.contains("<http://cloud/v1/locations?page=1&per_page=2&sort=id>; rel=prev"), "{link}");
    assert!(link.contains("<http://cloud/v1/locations?page=3&per_page=2&sort=id>; rel=next"), "{link}");
}

#[test]
fn what_was_answered_once_is_forgotten_when_something_changes() {
    let mut rig = Rig::new();
    let count = |rig: &mut Rig| rig.get("/placement_groups")["placement_groups"].as_array().unwrap().len();
    assert_eq!((count(&mut rig), count(&mut rig)), (0, 0));
    let before = rig.engine.revision();
    rig.post("/placement_groups", &json!({"name": "one", "type": "spread"}));
    assert_ne!(rig.engine.revision(), before);
    assert_eq!(count(&mut rig), 1);
}

#[test]
fn bodies_that_are_no_objects_are_refused() {
    let mut rig = Rig::new();
    for body in ["{", "[]", "1", "\"x\"", "{\"name\": }", "\u{0}", "{\"a\":1}{"] {
        let request = Request::new("POST", "/v1/placement_groups").token("token").body(body);
        let reply = rig.engine.answer(rig.now, &request);
        assert_eq!((reply.status, code(&reply).as_str()), (400, "json_error"), "{body}");
    }
    let deep = "[".repeat(100_000);
    let request = Request::new("POST", "/v1/placement_groups").token("token").body(deep);
    assert_eq!(rig.engine.answer(rig.now, &request).status, 400);
    let long = Request::new("POST", "/v1/placement_groups").token("token").body(vec![b' '; 2 << 20]);
    assert_eq!(code(&rig.engine.answer(rig.now, &long)), "invalid_input");
}

#[test]
fn a_snapshot_goes_on_where_it_was_taken() {
    let mut rig = Rig::new();
    rig.post("/placement_groups", &json!({"name": "one", "type": "spread"}));
    let text = rig.engine.snapshot(rig.now).to_string();
    let snapshot = Snapshot::parse(&text).unwrap();
    let mut engine = Engine::resume(snapshot, Arc::new(Catalogue::builtin()), rig.now).unwrap();
    assert_eq!(engine.snapshot(rig.now).to_string(), text);
    engine.admit(Token { secret: "token".to_owned(), read_only: false });
    rig.engine = engine;
    assert_eq!(rig.get("/placement_groups")["placement_groups"][0]["name"], "one");
}

#[test]
fn what_is_no_snapshot_is_refused_with_a_sentence() {
    let cases = [
        ("", "EOF"),
        ("{}", "missing field `version`"),
        (r#"{"version": 7}"#, "version 7"),
        (r#"{"version": 1, "taken": "2026-01-01T00:00:00Z", "project": {"servers": 3}}"#, "column 72"),
    ];
    for (text, expected) in cases {
        let error = Snapshot::parse(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}
