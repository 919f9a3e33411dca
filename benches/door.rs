//! What the door adds to a call: each row is the same call without it and with it, in turns, in one run.
//!
//! `cargo bench --bench door` prints the table. Caller, door and API share this process and its processors, so what is
//! added is all the work of the door, not only its delay.

#![expect(clippy::unwrap_used, reason = "a bench that cannot set its stage has nothing to tell")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::{http1, http2};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use mock_clock::{Clock as _, Mode, Time, VirtualClock};
use mock_hetzner::Cloud;
use mock_kubernetes::ControlPlane;
use scaleproof::door::{CallMatch, Door, Fate, Injury, Upstream, Way};
use scaleproof::history::Recorder;
use scaleproof::terms::Api;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto::ring};

const TOKEN: &str = "a-token-of-the-bench";
/// Calls of each kind and way.
const CALLS: usize = 2_000;
/// Before anything is counted.
const WARM_UP: usize = 200;
/// Rules that look at every call and let it pass.
const RULES: usize = 8;
/// What the door may add to the median.
const LIMIT: Duration = Duration::from_micros(300);

/// A connection of a caller.
enum Line {
    One(http1::SendRequest<Full<Bytes>>),
    Two(http2::SendRequest<Full<Bytes>>),
}

impl Line {
    async fn call(&mut self, request: Request<Full<Bytes>>) {
        let response: Response<_> = match self {
            Line::One(line) => {
                line.ready().await.unwrap();
                line.send_request(request).await.unwrap()
            }
            Line::Two(line) => line.send_request(request).await.unwrap(),
        };
        assert!(response.status().is_success(), "{response:?}");
        response.into_body().collect().await.unwrap();
    }
}

/// A row: what is called, without the door and with it.
struct Row {
    name: &'static str,
    method: &'static str,
    path: &'static str,
    body: &'static str,
    direct: Line,
    behind: Line,
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(run());
}

async fn run() {
    let clock = VirtualClock::idle_skip().unwrap();
    let times = clock.clone();
    let recorder = Recorder::in_memory(move || (times.now(), 0));
    let door = Door::new(&clock, &recorder).unwrap();
    for number in 0..RULES {
        let elsewhere = CallMatch { path: Some(format!("*/elsewhere-{number}/*")), ..CallMatch::default() };
        door.rules().install(&number.to_string(), Injury::new(elsewhere, Fate::Cut, None), |_| {});
    }
    let cloud = Cloud::builder().clock(clock.clone()).token(TOKEN).requests_per_hour(1_000_000).start();
    let cloud = cloud.await.unwrap();
    let control_plane = ControlPlane::builder().bare().clock(clock.clone());
    let control_plane = control_plane.token(TOKEN, "a", &["system:masters"]).start().await.unwrap();
    println!("| call | without | with the door | added | ratio |\n|---|--:|--:|--:|--:|");
    let mut slow = false;
    for row in rows(&door, &cloud, &control_plane).await {
        slow |= measure(row).await > LIMIT;
    }
    assert!(!slow, "the door adds more than {LIMIT:?} to the median of a call");
}

async fn rows(door: &Door, cloud: &Cloud, control_plane: &ControlPlane) -> Vec<Row> {
    let to_cloud = Upstream::new(&format!("http://{}", cloud.address()), None).unwrap();
    let plain = door.plain(Way::new(0, Api::Cloud, &to_cloud)).await.unwrap();
    let to_cluster = Upstream::new(&control_plane.url(), Some(control_plane.ca_pem())).unwrap();
    let encrypted = door.encrypted(Way::new(0, Api::Kubernetes, &to_cluster)).await.unwrap();
    let mut rows = vec![Row {
        name: "cloud: list servers",
        method: "GET",
        path: "/v1/servers",
        body: "",
        direct: one(TcpStream::connect(cloud.address()).await.unwrap()).await,
        behind: one(TcpStream::connect(plain).await.unwrap()).await,
    }];
    let address: SocketAddr = control_plane.url().trim_start_matches("https://").parse().unwrap();
    let ends = [(address, control_plane.ca_pem()), (encrypted, door.authority_pem())];
    for (name, method, path, body) in [
        ("Kubernetes: list nodes", "GET", "/api/v1/nodes", ""),
        (
            "Kubernetes: patch a namespace",
            "PATCH",
            "/api/v1/namespaces/default",
            r#"{"metadata":{"labels":{"a":"b"}}}"#,
        ),
    ] {
        let [direct, behind] = [one_at(ends[0]).await, one_at(ends[1]).await];
        rows.push(Row { name, method, path, body, direct, behind });
    }
    let [direct, behind] = [two_at(ends[0]).await, two_at(ends[1]).await];
    rows.push(Row {
        name: "the same over HTTP/2",
        direct,
        behind,
        body: "",
        method: "GET",
        path: "/api/v1/nodes",
    });
    rows
}

/// What the door adds to the median.
async fn measure(mut row: Row) -> Duration {
    let clock = VirtualClock::start(Mode::Real, None).unwrap();
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for number in 0..WARM_UP + CALLS {
        for (line, took) in [(&mut row.direct, &mut without), (&mut row.behind, &mut with)] {
            let host = if matches!(line, Line::Two(_)) { "https://localhost" } else { "" };
            let request = Request::builder()
                .method(row.method)
                .uri(format!("{host}{}", row.path))
                .header("host", "localhost")
                .header("authorization", format!("Bearer {TOKEN}"))
                .header("content-type", "application/merge-patch+json")
                .body(Full::from(row.body))
                .unwrap();
            let began: Time = clock.now();
            line.call(request).await;
            if number >= WARM_UP {
                took.push(clock.now() - began);
            }
        }
    }
    without.sort_unstable();
    with.sort_unstable();
    let (without, with) = (without[CALLS / 2], with[CALLS / 2]);
    let added = with.saturating_sub(without);
    let ratio = with.as_secs_f64() / without.as_secs_f64();
    println!("| {} | {without:.1?} | {with:.1?} | {added:.1?} | {ratio:.2} |", row.name);
    added
}

async fn one(stream: impl tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static) -> Line {
    let (line, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    Line::One(line)
}

async fn one_at(end: (SocketAddr, &str)) -> Line {
    one(opened(end, "http/1.1").await).await
}

async fn two_at(end: (SocketAddr, &str)) -> Line {
    let stream = TokioIo::new(opened(end, "h2").await);
    let (line, connection) = http2::handshake(TokioExecutor::new(), stream).await.unwrap();
    tokio::spawn(connection);
    Line::Two(line)
}

async fn opened((address, authority): (SocketAddr, &str), alpn: &str) -> TlsStream<TcpStream> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(authority.as_bytes()) {
        roots.add(certificate.unwrap()).unwrap();
    }
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![alpn.as_bytes().to_vec()];
    let stream = TcpStream::connect(address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    TlsConnector::from(Arc::new(config))
        .connect(ServerName::try_from("localhost").unwrap(), stream)
        .await
        .unwrap()
}
