//! What the door survives: callers that go away, do not read or talk nonsense, an API that is not there, many callers.

use std::time::Duration;

use mock_clock::Clock as _;
use scaleproof::door::{CallMatch, Fate, Injury, Upstream, Way};
use scaleproof::history::{Recorder, What, file};
use scaleproof::terms::Api;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::stage::{Origin, Stage, ask, get, request};

#[tokio::test]
async fn an_api_that_is_not_there_is_the_harness_s_fault_and_said_once() {
    let stage = Stage::new();
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let upstream = Upstream::new(&format!("http://{nobody}"), None).unwrap();
    let door = stage.door.plain(Way::new(0, Api::Kubernetes, &upstream)).await.unwrap();
    for _ in 0..2 {
        let response = ask(door, request("PATCH", "/api/v1/nodes/n", "{}")).await.unwrap();
        assert_eq!(response.status(), 502);
        assert!(String::from_utf8_lossy(response.body()).contains("scaleproof's door"), "{response:?}");
    }
    assert_eq!(stage.troubles(), 1);
    assert!(stage.calls().iter().all(|call| call.status == 502 && !call.done));
}

/// A subject could make everything unknown so.
#[tokio::test]
async fn nonsense_in_place_of_tls_is_the_caller_s_fault_and_said_once() {
    let (stage, origin) = (Stage::new(), Origin::answering("x").await);
    let upstream = Upstream::new(&format!("http://{}", origin.address), None).unwrap();
    let door = stage.door.encrypted(Way::new(2, Api::Kubernetes, &upstream)).await.unwrap();
    for _ in 0..3 {
        let mut stream = TcpStream::connect(door).await.unwrap();
        stream.write_all(b"\x16\x03\x01\x00\x05hello").await.unwrap();
        // Until the door has had enough of it.
        let _ = stream.read_to_end(&mut Vec::new()).await;
    }
    let told = stage.misspoken();
    assert!(matches!(told.as_slice(), [(2, why)] if !why.is_empty()), "{told:?}");
    assert_eq!(stage.troubles(), 0);
}

#[tokio::test]
async fn a_caller_that_goes_away_is_recorded_and_hurts_nobody() {
    let (stage, origin) = (Stage::new(), Origin::answering(vec![b'x'; 64 << 20]).await);
    let door = stage.to_origin(&origin).await;
    let mut stream = TcpStream::connect(door).await.unwrap();
    stream.write_all(b"GET /big HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    stream.read_exact(&mut [0; 10_000]).await.unwrap();
    drop(stream);
    let calls = stage.recorded(1).await;
    assert!(calls[0].bytes.1 < 64 << 20, "{:?}", calls[0].bytes);
    let mut stream = TcpStream::connect(door).await.unwrap();
    stream.write_all(b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nhalf").await.unwrap();
    drop(stream);
    stage.recorded(2).await;
    assert_eq!(ask(door, request("POST", "/", "{}")).await.unwrap().status(), 200);
    assert_eq!(stage.troubles(), 0, "the API was there all the time");
}

#[tokio::test]
async fn a_caller_that_does_not_read_does_not_hold_up_time() {
    let (stage, origin) = (Stage::new(), Origin::answering(vec![b'x'; 64 << 20]).await);
    let door = stage.to_origin(&origin).await;
    let mut stream = TcpStream::connect(door).await.unwrap();
    stream.write_all(b"GET /big HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").await.unwrap();
    let before = stage.clock.now();
    stage.clock.sleep(Duration::from_secs(3600)).await;
    assert!(stage.clock.now() - before < Duration::from_secs(3700));
    let mut heard = Vec::new();
    stream.read_to_end(&mut heard).await.unwrap();
    assert!(heard.len() > 64 << 20, "and it gets all of it when it reads");
}

#[tokio::test]
async fn nonsense_is_answered_or_cut_and_the_next_caller_served() {
    let (stage, origin) = (Stage::new(), Origin::answering("{}").await);
    let door = stage.to_origin(&origin).await;
    for nonsense in [
        &b"\x16\x03\x01\x00\xff\x01\x00\x00"[..],
        b"GET\r\n\r\n",
        b"GET / HTTP/1.1\r\ncontent-length: x\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nnonsense follows here",
        &vec![b'a'; 100_000],
    ] {
        let mut stream = TcpStream::connect(door).await.unwrap();
        let _ = stream.write_all(nonsense).await;
        let _ = stream.shutdown().await;
        let _ = stream.read_to_end(&mut Vec::new()).await;
    }
    assert_eq!(ask(door, get("/")).await.unwrap().status(), 200);
    assert_eq!(origin.asked(), 1);
}

#[tokio::test]
async fn connections_that_become_something_else_are_refused() {
    let (stage, origin) = (Stage::new(), Origin::answering("{}").await);
    let door = stage.to_origin(&origin).await;
    let mut exec = request("POST", "/api/v1/namespaces/a/pods/p/exec", "");
    exec.headers_mut().insert("connection", "upgrade".parse().unwrap());
    exec.headers_mut().insert("upgrade", "SPDY/3.1".parse().unwrap());
    assert_eq!(ask(door, exec).await.unwrap().status(), 501);
    assert_eq!((origin.asked(), stage.calls()[0].status), (0, 501));
}

#[tokio::test]
async fn three_thousand_idle_callers_are_no_burden() {
    let (stage, origin) = (Stage::new(), Origin::answering("{}").await);
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let raised = rustix::process::Rlimit { current: limit.maximum, ..limit };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, raised).unwrap();
    let door = stage.to_origin(&origin).await;
    let mut callers = Vec::new();
    for _ in 0..3000 {
        callers.push(TcpStream::connect(door).await.unwrap());
    }
    stage.clock.sleep(Duration::from_secs(600)).await;
    assert_eq!(ask(door, get("/")).await.unwrap().status(), 200);
    let last = callers.pop().unwrap();
    assert_eq!(super::stage::ask_on(last, get("/")).await.unwrap().status(), 200);
}

#[tokio::test]
async fn a_caller_that_gives_up_a_call_that_hangs_is_recorded() {
    let (stage, origin) = (Stage::new(), Origin::answering("{}").await);
    let door = stage.to_origin(&origin).await;
    stage.door.rules().install("x", Injury::new(CallMatch::default(), Fate::Hang, None), |_| {});
    let mut stream = TcpStream::connect(door).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    stage.clock.sleep(Duration::from_secs(30)).await;
    assert!(stage.calls().is_empty());
    drop(stream);
    let calls = stage.recorded(1).await;
    assert_eq!((calls[0].status, calls[0].done, calls[0].fate.as_deref()), (0, false, Some("x")));
}

#[tokio::test]
async fn a_door_that_is_closed_has_told_everything() {
    let (stage, origin) = (Stage::new(), Origin::answering("{}").await);
    let door = stage.to_origin(&origin).await;
    stage.door.rules().install("x", Injury::new(CallMatch::default(), Fate::Hang, None), |_| {});
    let one = tokio::spawn(ask(door, get("/one")));
    let stream = hyper_util::rt::TokioIo::new(TcpStream::connect(door).await.unwrap());
    let executor = hyper_util::rt::TokioExecutor::new();
    let (mut two, connection) = hyper::client::conn::http2::handshake(executor, stream).await.unwrap();
    tokio::spawn(connection);
    let two = tokio::spawn(async move { two.send_request(get("http://origin/two")).await });
    stage.clock.sleep(Duration::from_secs(30)).await;
    assert_eq!(stage.door.rules().bites("x"), Some(2));
    let Stage { door, recorder, .. } = stage;
    door.close().await;
    assert_eq!(recorder.events().len(), 2);
    assert!(one.await.unwrap().is_err() && two.await.unwrap().is_err());
}

#[tokio::test]
async fn what_is_recorded_is_in_the_file_at_once() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("at-once.jsonl");
    let header = serde_json::from_str(include_str!("header.json")).unwrap();
    let recorder = Recorder::to_file(&path, &header, || (mock_clock::Time::EPOCH, 0)).unwrap();
    recorder.hide("a-secret-token");
    recorder.record(What::Trouble("a-secret-token was there".to_owned()));
    let read = file::open(&path).unwrap();
    assert_eq!(read, recorder.history(header));
    assert!(read.cut_short.is_some() && !format!("{read:?}").contains("a-secret-token"));
    recorder.record(What::End);
    assert_eq!(file::open(&path).unwrap().cut_short, None);
    assert!(Recorder::to_file(&path.join("x"), &read.header, || (mock_clock::Time::EPOCH, 0)).is_err());
}
