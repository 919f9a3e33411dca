//! Troubles of requests, tested.

use serde_json::json;

use super::told;
use crate::call::Request;
use crate::rig::Rig;

#[test]
fn an_answer_is_lost_and_the_server_is_there() {
    let mut rig = Rig::new();
    let on = json!({"method": "POST", "path": "/servers", "name": "a*"});
    let id =
        rig.inject(&json!({"kind": "error", "on": on, "when": "after", "code": "bad_gateway", "count": 1}));
    rig.ordered("b");
    assert_eq!(told(rig.order("a")), (502, "bad_gateway".into(), "bad gateway".into()));
    assert_eq!(told(rig.order("a")).1, "uniqueness_error", "it was made");
    assert_eq!(rig.bites(id), 1);
}

#[test]
fn an_answer_that_is_a_refusal_anyway_is_not_lost() {
    let mut rig = Rig::new();
    let id = rig.inject(&json!({"kind": "error", "when": "after", "code": "timeout"}));
    assert_eq!(rig.ask("GET", "/servers/1", &json!(null)).0, 404);
    assert_eq!(rig.bites(id), 0);
    assert_eq!(rig.ask("GET", "/servers", &json!(null)).0, 504);
    assert_eq!(rig.bites(id), 1);
}

#[test]
fn a_refused_call_does_nothing() {
    let mut rig = Rig::new();
    let id = rig.inject(&json!({
        "kind": "error", "on": {"method": "change"}, "code": "odd", "status": 500, "message": "no"
    }));
    assert_eq!(told(rig.order("a")), (500, "odd".into(), "no".into()));
    assert!(rig.listed().is_empty());
    rig.heal(id);
    rig.ordered("a");
    assert_eq!(rig.bites(id), 1);
}

#[test]
fn calls_are_told_apart() {
    let server = |rig: &mut Rig| rig.server("web-1", &json!({}));
    let cases = [
        (json!({"path": "/servers/*"}), true),
        (json!({"path": "/servers"}), false),
        (json!({"path": "*?a=b*"}), true),
        (json!({"path": "*?a=c"}), false),
        (json!({"name": "web-*"}), true),
        (json!({"name": "db-*"}), false),
        (json!({"agent": "hcloud-go/*"}), true),
        (json!({"agent": "hcloud-python/*"}), false),
        (json!({"method": "GET"}), true),
        (json!({"method": "change"}), false),
    ];
    for (on, bites) in cases {
        let mut rig = Rig::new();
        let id = server(&mut rig);
        let trouble = rig.inject(&json!({"kind": "error", "on": on, "code": "unavailable"}));
        let mut request = Request::new("GET", &format!("/v1/servers/{id}?a=b")).token("token");
        request.agent = "hcloud-go/2.8.0".to_owned();
        let status = rig.engine.answer(rig.now, &request).status;
        assert_eq!((status == 503, rig.bites(trouble) == 1), (bites, bites), "{on}");
    }
}

#[test]
fn a_gateway_answers_with_a_page() {
    let mut rig = Rig::new();
    rig.inject(&json!({"kind": "error", "code": "bad_gateway", "html": true}));
    let reply = rig.engine.answer(rig.now, &Request::new("GET", "/v1/servers").token("token"));
    let body = String::from_utf8(reply.body.unwrap().to_vec()).unwrap();
    assert!(body.starts_with("<html>") && body.contains("502"), "{body}");
    assert!(reply.headers.contains(&("Content-Type", "text/html".to_owned())));
}

#[test]
fn tokens_go_bad_and_good_again() {
    for (kind, look, change) in [
        ("token_rejected", (401, "unauthorized"), (401, "unauthorized")),
        ("token_read_only", (200, ""), (403, "forbidden")),
        ("maintenance", (200, ""), (403, "maintenance")),
    ] {
        let mut rig = Rig::new();
        let id = rig.inject(&json!({"kind": kind}));
        let looked = told(rig.ask("GET", "/servers", &json!(null)));
        assert_eq!((looked.0, looked.1.as_str()), look, "{kind}");
        let ordered = told(rig.order("a"));
        assert_eq!((ordered.0, ordered.1.as_str()), change, "{kind}");
        rig.heal(id);
        rig.ordered("a");
    }
}

#[test]
fn requests_are_spent_by_others() {
    let mut rig = Rig::new();
    let id = rig.inject(&json!({"kind": "rate_limit", "spent": "once"}));
    assert_eq!(rig.ask("GET", "/servers", &json!(null)).0, 429);
    assert_eq!(rig.bites(id), 1);
    rig.pass(1);
    assert_eq!(rig.ask("GET", "/servers", &json!(null)).0, 200, "they grow back");

    let always = rig.inject(&json!({"kind": "rate_limit", "spent": "always"}));
    rig.pass(100);
    let reply = rig.engine.answer(rig.now, &Request::new("GET", "/v1/servers").token("token"));
    assert_eq!(reply.status, 429);
    assert!(reply.headers.contains(&("RateLimit-Remaining", "0".to_owned())));
    rig.heal(always);
    rig.pass(1);
    assert_eq!(rig.ask("GET", "/servers", &json!(null)).0, 200);
}

#[test]
fn another_tenant_drinks_from_the_same_bucket() {
    let mut rig = Rig::new();
    let remaining = |rig: &Rig| rig.engine.project.limit.remaining(rig.now);
    rig.pass(5000);
    // 3 a second go, 1 a second comes.
    let id = rig.inject(&json!({"kind": "rate_limit", "others_per_s": 3, "for_s": 1000}));
    rig.pass(500);
    assert_eq!(rig.ask("GET", "/servers", &json!(null)).0, 200);
    assert_eq!(remaining(&rig), 2599);
    rig.pass(500);
    assert_eq!(remaining(&rig), 1599);
    rig.pass(100);
    assert_eq!(remaining(&rig), 1699, "it is over");
    assert_eq!(rig.bites(id), 0);
}

#[test]
fn the_limit_is_lowered_and_comes_back() {
    let mut rig = Rig::new();
    let id = rig.inject(&json!({"kind": "rate_limit", "per_hour": 2}));
    let statuses: Vec<u16> = (0..3).map(|_| rig.ask("GET", "/servers", &json!(null)).0).collect();
    assert_eq!((statuses, rig.bites(id)), (vec![200, 200, 429], 1));
    rig.engine.limit_requests(rig.now, 100);
    assert_eq!(rig.engine.project.limit.per_hour(), 2);
    rig.heal(id);
    assert_eq!(rig.engine.project.limit.per_hour(), 100, "what was set meanwhile");
    assert_eq!(rig.ask("GET", "/servers", &json!(null)).0, 200);
}
