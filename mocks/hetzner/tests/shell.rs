//! The cloud over the wire: what carries it loses nothing, whoever comes and however they go.

#![expect(clippy::unwrap_used, reason = "all of this binary is a test")]

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::thread;
use std::time::Duration;

use mock_clock::{Clock as _, Time, VirtualClock};
use mock_hetzner::Cloud;
use serde_json::Value;

/// Status and body of what a connection is answered; it is closed then.
fn ask(address: SocketAddr, method: &str, path: &str, body: &str) -> (u16, Value) {
    let mut stream = TcpStream::connect(address).unwrap();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: cloud\r\nAuthorization: Bearer token\r\nConnection: close\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(body).unwrap_or(Value::Null))
}

async fn cloud() -> Cloud {
    Cloud::builder().token("token").requests_per_hour(1 << 40).start().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_request_is_answered_however_many_there_are() {
    let cloud = cloud().await;
    let address = cloud.address();
    // Several times as many as one mount carries.
    let all: Vec<_> = (0..4)
        .map(|_| {
            thread::spawn(move || {
                let mut stream = TcpStream::connect(address).unwrap();
                let request =
                    b"GET /v1/locations/1 HTTP/1.1\r\nHost: cloud\r\nAuthorization: Bearer token\r\n\r\n";
                let mut answer = [0; 4096];
                (0..2_000)
                    .filter(|_| {
                        stream.write_all(request).unwrap();
                        let length = stream.read(&mut answer).unwrap();
                        answer[..length].starts_with(b"HTTP/1.1 200 OK")
                    })
                    .count()
            })
        })
        .collect();
    let answered: usize = all.into_iter().map(|client| client.join().unwrap()).sum();
    assert_eq!(answered, 8_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_goes_away_in_the_middle_harms_nobody() {
    let cloud = cloud().await;
    let address = cloud.address();
    let body = r#"{"name": "one", "type": "spread"}"#;
    for bytes in [
        "GET /v1/serv".to_owned(),
        format!(
            "POST /v1/placement_groups HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer token\r\nContent-Length: 90\r\n\r\n{body}"
        ),
        "\u{0}\u{1}\u{2}\r\n\r\n".to_owned(),
    ] {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(bytes.as_bytes()).unwrap();
        stream.shutdown(Shutdown::Both).unwrap();
    }
    // Who sends all of it and does not wait for the answer has asked.
    let mut stream = TcpStream::connect(address).unwrap();
    let whole = format!(
        "POST /v1/placement_groups HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer token\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(whole.as_bytes()).unwrap();
    let mut first = [0; 1];
    stream.read_exact(&mut first).unwrap();
    drop(stream);
    let (status, groups) = ask(address, "GET", "/v1/placement_groups", "");
    assert_eq!((status, groups["placement_groups"].as_array().unwrap().len()), (200, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn paths_come_through_as_they_are() {
    let cloud = cloud().await;
    let ask = |method: &str, path: &str| ask(cloud.address(), method, path, "").0;
    assert_eq!(ask("GET", "/v1/servers?label_selector=a%3Db%2Cc%20in%20%28d%29&name=%C3%BC"), 200);
    assert_eq!(ask("GET", "/v1//servers"), 200);
    assert_eq!(ask("GET", "/"), 404);
    assert_eq!(ask("TRACE", "/v1/servers"), 405);
    assert_eq!(ask("GET", "http://elsewhere/v1/servers"), 200, "a proxy's way of asking");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_runs_without_being_looked_at() {
    let start: Time = "2026-11-01T00:00:00Z".parse().unwrap();
    let (clock, hand) = VirtualClock::manual(start);
    let cloud = Cloud::builder().token("token").clock(clock).start().await.unwrap();
    let body = r#"{"name": "one", "server_type": "cx23", "image": "ubuntu-24.04", "location": "fsn1"}"#;
    let (status, made) = ask(cloud.address(), "POST", "/v1/servers", body);
    assert_eq!((status, &made["server"]["status"]), (201, &Value::from("initializing")));
    let mut changes = cloud.changes();
    hand.advance(Duration::from_secs(120));
    // Nobody asks: what is to happen is on the clock.
    let status = || {
        let text = cloud.with(|engine, now| engine.snapshot(now).to_string());
        let state: Value = serde_json::from_str(&text).unwrap();
        state["project"]["servers"]["things"]["100000001"]["status"].clone()
    };
    while status() != "running" {
        changes.changed().await.unwrap();
    }
}

/// Whoever reaches its port can change everything.
#[tokio::test(flavor = "multi_thread")]
async fn nobody_administers_it_unless_that_is_asked_for() {
    let cloud = Cloud::builder().token("token").start().await.unwrap();
    assert_eq!(cloud.admin_address(), None);
    let asked =
        Cloud::builder().token("token").admin((std::net::Ipv4Addr::LOCALHOST, 0).into()).start().await;
    assert!(asked.unwrap().admin_address().is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn on_a_clock_that_skips_idle_time_an_hour_is_nothing() {
    let clock = VirtualClock::idle_skip().unwrap();
    let cloud = Cloud::builder().token("token").clock(clock.clone()).start().await.unwrap();
    let address = cloud.address();
    let body = r#"{"name": "one", "server_type": "cx23", "image": "ubuntu-24.04", "location": "fsn1"}"#;
    let made = tokio::task::spawn_blocking(move || ask(address, "POST", "/v1/servers", body)).await.unwrap();
    assert_eq!(made.0, 201);
    // Would it pass as it does elsewhere, this test would be ended before.
    clock.sleep(Duration::from_secs(3600)).await;
    let (_, shown) =
        tokio::task::spawn_blocking(move || ask(address, "GET", "/v1/servers/100000001", "")).await.unwrap();
    assert_eq!(shown["server"]["status"], "running");
    let bill = cloud.with(|engine, now| engine.ledger().bill(None, now));
    let server = bill.resources.iter().find(|line| line.name == "one").unwrap();
    assert_eq!(server.hours, 2, "the second has begun");
}
