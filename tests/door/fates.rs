//! Each fate, as a client meets it.

use std::collections::BTreeMap;
use std::sync::mpsc;
use std::time::Duration;

use mock_clock::Clock as _;
use scaleproof::door::{Answer, Call, CallMatch, Fate, Injury};
use serde_json::{Value, json};

use super::stage::{Origin, Stage, ask, get, request};

fn all(fate: Fate) -> Injury {
    Injury::new(CallMatch::default(), fate, None)
}

#[tokio::test]
async fn a_call_passes_untouched_and_is_recorded() {
    let (stage, origin) = (Stage::new(), Origin::answering(r#"{"ok":true}"#).await);
    let door = stage.to_origin(&origin).await;
    let mut post = request("POST", "/v1/servers?a=b", r#"{"name":"n"}"#);
    post.headers_mut().insert("x-seen", "x".parse().unwrap());
    let response = ask(door, post).await.unwrap();
    assert_eq!(
        (response.body().as_ref(), &response.headers()["x-seen"]),
        (&br#"{"name":"n"}"#[..], &"x".parse().unwrap())
    );
    let call = stage.calls().pop().unwrap();
    assert_eq!(
        (call.method.as_str(), call.path.as_str(), call.query.as_str()),
        ("POST", "/v1/servers", "a=b")
    );
    assert_eq!((call.agent.as_str(), call.status, call.bytes, call.done), ("test", 200, (12, 12), true));
    assert_eq!((call.request, call.answer), (Some(json!({"name": "n"})), Some(json!({"name": "n"}))));
    assert_eq!((call.fate, call.open), (None, false));
}

#[tokio::test]
async fn what_concerns_one_connection_is_not_passed_on() {
    let (stage, origin) = (Stage::new(), Origin::answering("{}").await);
    let door = stage.to_origin(&origin).await;
    let mut hop = get("/");
    hop.headers_mut().insert("x-seen", "x".parse().unwrap());
    hop.headers_mut().insert("connection", "keep-alive, x-seen".parse().unwrap());
    assert!(!ask(door, hop).await.unwrap().headers().contains_key("x-seen"));
}

#[tokio::test]
async fn the_first_rule_decides_and_counts() {
    let (stage, origin) = (Stage::new(), Origin::answering("{}").await);
    let door = stage.to_origin(&origin).await;
    let (told, heard) = mpsc::channel();
    let first_two = Injury::new(CallMatch::default(), Fate::Answer(Answer::of(429)), Some(2));
    stage.door.rules().install("a", first_two, move |call| told.send(call.path.clone()).unwrap());
    stage.door.rules().install("b", |_: &Call| Fate::Answer(Answer::of(503)), |_| {});
    let mut statuses = Vec::new();
    for path in ["/1", "/2", "/3"] {
        statuses.push(ask(door, get(path)).await.unwrap().status().as_u16());
    }
    assert_eq!(statuses, [429, 429, 503]);
    assert_eq!(heard.try_iter().collect::<Vec<_>>(), ["/1"]);
    assert_eq!((stage.door.rules().remove("a"), stage.door.rules().bites("b")), (Some(2), Some(1)));
    assert_eq!(stage.door.rules().remove("b"), Some(1));
    assert_eq!(ask(door, get("/4")).await.unwrap().status(), 200);
    assert_eq!(origin.asked(), 1);
    let fates: Vec<_> = stage.calls().into_iter().map(|call| (call.fate, call.done)).collect();
    let a = (Some("a".to_owned()), false);
    assert_eq!(fates, [a.clone(), a, (Some("b".to_owned()), false), (None, true)]);
}

#[tokio::test]
async fn an_answer_has_its_headers_and_the_words_of_the_api() {
    let (stage, origin) = (Stage::new(), Origin::answering("{}").await);
    let door = stage.to_origin(&origin).await;
    let headers = BTreeMap::from([("Retry-After".to_owned(), "5".to_owned())]);
    stage.door.rules().install("x", all(Fate::Answer(Answer { headers, ..Answer::of(412) })), |_| {});
    let response = ask(door, request("POST", "/v1/servers", "{}")).await.unwrap();
    assert_eq!((response.status().as_u16(), response.headers()["retry-after"].to_str().unwrap()), (412, "5"));
    let body: Value = serde_json::from_slice(response.body()).unwrap();
    assert_eq!(body["error"]["code"], "resource_unavailable");
}

#[tokio::test]
async fn a_delay_is_of_virtual_time() {
    let (stage, origin) = (Stage::new(), Origin::answering("{}").await);
    let door = stage.to_origin(&origin).await;
    stage.door.rules().install("x", all(Fate::Delay(Duration::from_secs(3600))), |_| {});
    let before = stage.clock.now();
    assert_eq!(ask(door, get("/")).await.unwrap().status(), 200);
    assert!(stage.clock.now() - before >= Duration::from_secs(3600));
}

#[tokio::test]
async fn what_is_answered_late_is_done_at_once() {
    let (stage, origin) = (Stage::new(), Origin::answering("{}").await);
    let door = stage.to_origin(&origin).await;
    stage.door.rules().install("x", all(Fate::DelayAnswer(Duration::from_secs(3600))), |_| {});
    let before = stage.clock.now();
    let (status, ()) =
        tokio::join!(async { ask(door, request("POST", "/", "{}")).await.unwrap().status() }, async {
            stage.clock.sleep(Duration::from_secs(60)).await;
            assert_eq!(origin.asked(), 1, "it is done while the caller waits");
        });
    assert_eq!(status, 200);
    assert!(stage.clock.now() - before >= Duration::from_secs(3600));
    assert_eq!(stage.door.rules().remove("x"), Some(1));
}

#[tokio::test]
async fn what_is_cut_is_not_done_and_what_loses_its_answer_is() {
    let (stage, origin) = (Stage::new(), Origin::answering("{}").await);
    let door = stage.to_origin(&origin).await;
    for (fate, asked) in [(Fate::Cut, 0), (Fate::LoseAnswer, 1)] {
        stage.door.rules().install("x", all(fate), |_| {});
        assert!(ask(door, request("POST", "/", "{}")).await.is_err());
        assert_eq!(origin.asked(), asked);
        let call = stage.calls().pop().unwrap();
        assert_eq!((call.status, call.done), (0, asked == 1));
        assert_eq!(stage.door.rules().remove("x"), Some(1));
    }
}

#[tokio::test]
async fn what_hangs_is_cut_when_it_is_healed() {
    let (stage, origin) = (Stage::new(), Origin::answering("{}").await);
    let door = stage.to_origin(&origin).await;
    stage.door.rules().install("x", all(Fate::Hang), |_| {});
    let (hung, ()) = tokio::join!(ask(door, get("/")), async {
        stage.clock.sleep(Duration::from_secs(600)).await;
        assert_eq!(stage.door.rules().remove("x"), Some(1));
    });
    assert!(hung.is_err());
    assert_eq!((origin.asked(), stage.calls()[0].status), (0, 0));
}

#[tokio::test]
async fn an_answer_is_cut_after_so_many_bytes_or_not_hurt() {
    let (stage, origin) = (Stage::new(), Origin::answering(vec![b'x'; 100]).await);
    let door = stage.to_origin(&origin).await;
    for (limit, bites) in [(0, 1), (30, 1), (100, 0), (200, 0)] {
        stage.door.rules().install("x", all(Fate::Truncate(limit)), |_| {});
        let mut stream = tokio::net::TcpStream::connect(door).await.unwrap();
        tokio::io::AsyncWriteExt::write_all(
            &mut stream,
            b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n",
        )
        .await
        .unwrap();
        let mut heard = Vec::new();
        let _ = tokio::io::AsyncReadExt::read_to_end(&mut stream, &mut heard).await;
        let body = heard.windows(4).position(|end| end == b"\r\n\r\n").unwrap() + 4;
        let got = heard.len() - body;
        assert!(heard.starts_with(b"HTTP/1.1 200"), "{limit}: {heard:?}");
        assert_eq!(stage.calls().pop().unwrap().bytes.1, got as u64);
        assert_eq!(got as u64, limit.min(100), "{}", String::from_utf8_lossy(&heard));
        assert_eq!(stage.door.rules().remove("x"), Some(bites), "{limit}");
    }
}

#[tokio::test]
async fn a_slow_body_takes_its_seconds() {
    let (stage, origin) = (Stage::new(), Origin::answering(vec![b'x'; 1000]).await);
    let door = stage.to_origin(&origin).await;
    stage.door.rules().install("x", all(Fate::SlowBody(10)), |_| {});
    let before = stage.clock.now();
    assert_eq!(ask(door, get("/")).await.unwrap().body().len(), 1000);
    let took = stage.clock.now() - before;
    assert!((99..130).contains(&took.as_secs()), "{took:?}");
    let told = stage.recorder.events()[0].at - before;
    assert!(told.as_secs() >= 99, "recorded when it is over: {told:?}");
    assert_eq!(stage.door.rules().remove("x"), Some(1));
}
