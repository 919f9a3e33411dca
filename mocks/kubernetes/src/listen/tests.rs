//! The door as a client meets it, with a handler that knows nothing of Kubernetes.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty};
use hyper::client::conn::http2::{self, SendRequest};
use hyper::header::AUTHORIZATION;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use mock_clock::{Clock as _, Time, VirtualClock};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::certificates::Credentials;
use super::*;

static PIECE: [u8; 65536] = [b'x'; 65536];

/// Answers by path.
struct Oracle {
    clock: VirtualClock,
}

impl Handler for Oracle {
    async fn handle(&self, request: Request<Bytes>, user: &User) -> Response<Body> {
        let body = match request.uri().path() {
            "/who" => Body::from(Bytes::from(user.name.clone())),
            "/size" => Body::from(Bytes::from(request.body().len().to_string())),
            "/long" => Body::pieces(std::iter::repeat_n(Bytes::from_static(&PIECE), 512)),
            "/watch" => Body::stream(Ticks { clock: self.clock.clone(), count: 0 }),
            "/flood" => Body::stream(Flood),
            "/panic" => panic!("as asked"),
            "/break" => Body::stream(Broken),
            _ => Body::empty(),
        };
        Response::new(body)
    }
}

/// A line a minute.
struct Ticks {
    clock: VirtualClock,
    count: u32,
}

impl Source for Ticks {
    async fn next(&mut self) -> Option<Bytes> {
        if self.count > 0 {
            self.clock.sleep(Duration::from_secs(60)).await;
        }
        self.count += 1;
        Some(Bytes::from(format!("tick {}\n", self.count)))
    }
}

/// As much as the client takes.
struct Flood;

impl Source for Flood {
    async fn next(&mut self) -> Option<Bytes> {
        Some(Bytes::from_static(&PIECE))
    }
}

struct Broken;

impl Source for Broken {
    async fn next(&mut self) -> Option<Bytes> {
        panic!("as asked, later")
    }
}

/// A listener with its clock, and how to reach it.
struct Door {
    listener: Listener,
    certificates: Certificates,
    clock: VirtualClock,
}

async fn door() -> Door {
    door_on(VirtualClock::idle_skip().unwrap()).await
}

async fn door_on(clock: VirtualClock) -> Door {
    let certificates = Certificates::new(&[]).unwrap();
    let tokens = Arc::new(Tokens::default());
    tokens.allow("secret", User::new("jane", []));
    let address = "127.0.0.1:0".parse().unwrap();
    let settings = Settings { address, certificates: &certificates, tokens, clock: clock.clone(), seed: 1 };
    let listener = Listener::start(settings, Arc::new(Oracle { clock: clock.clone() })).await.unwrap();
    Door { listener, certificates, clock }
}

impl Door {
    async fn tcp(&self) -> TcpStream {
        TcpStream::connect(self.listener.address()).await.unwrap()
    }

    async fn tls(&self, credentials: Option<&Credentials>) -> TlsStream<TcpStream> {
        self.tls_by(credentials, b"http/1.1").await
    }

    async fn tls_by(&self, credentials: Option<&Credentials>, protocol: &[u8]) -> TlsStream<TcpStream> {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificates.authority.clone()).unwrap();
        let builder = ClientConfig::builder().with_root_certificates(roots);
        let mut config = match credentials {
            None => builder.with_no_client_auth(),
            Some(Credentials { certificate_pem, key_pem }) => {
                let certificate = CertificateDer::from_pem_slice(certificate_pem.as_bytes()).unwrap();
                let key = PrivateKeyDer::from_pem_slice(key_pem.as_bytes()).unwrap();
                builder.with_client_auth_cert(vec![certificate], key).unwrap()
            }
        };
        config.alpn_protocols = vec![protocol.to_vec()];
        let name = ServerName::try_from("localhost").unwrap();
        TlsConnector::from(Arc::new(config)).connect(name, self.tcp().await).await.unwrap()
    }

    /// A connection that carries many requests at once.
    async fn multiplexed(&self) -> SendRequest<Empty<Bytes>> {
        let stream = TokioIo::new(self.tls_by(None, b"h2").await);
        let (sender, connection) = http2::handshake(TokioExecutor::new(), stream).await.unwrap();
        tokio::spawn(connection);
        sender
    }

    /// One request over a connection of its own, and all that comes back.
    async fn ask(&self, text: &str) -> String {
        let mut stream = self.tls(None).await;
        stream.write_all(text.as_bytes()).await.unwrap();
        rest(&mut stream).await
    }

    async fn get(&self, path: &str) -> String {
        self.ask(&format!(
            "GET {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer secret\r\nConnection: close\r\n\r\n"
        ))
        .await
    }
}

/// What comes until the server closes, however it closes.
async fn rest(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes).await;
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What comes until `end` has come.
async fn until(stream: &mut (impl AsyncRead + Unpin), end: &str) -> String {
    let mut text = String::new();
    while !text.contains(end) {
        let mut piece = [0; 4096];
        let count = stream.read(&mut piece).await.unwrap();
        assert!(count > 0, "{end:?} is not in {text:?}");
        text.push_str(&String::from_utf8_lossy(&piece[..count]));
    }
    text
}

const KEEP: &str = "Host: a\r\nAuthorization: Bearer secret\r\n\r\n";

async fn asked_on(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), path: &str, end: &str) -> String {
    stream.write_all(format!("GET {path} HTTP/1.1\r\n{KEEP}").as_bytes()).await.unwrap();
    until(stream, end).await
}

#[tokio::test]
async fn who_asks_is_told_by_certificate_or_token() {
    let (door, other) = (door().await, door().await);
    let text = "GET /who HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    for (credentials, expected) in [
        (Some(&door.certificates.admin), "kubernetes-admin"),
        (Some(&other.certificates.admin), "401 Unauthorized"),
        (None, "system:anonymous"),
    ] {
        let mut stream = door.tls(credentials).await;
        stream.write_all(text.as_bytes()).await.unwrap();
        let answer = rest(&mut stream).await;
        assert!(answer.contains(expected), "{answer}");
    }
    assert!(door.get("/who").await.ends_with("jane"));
    let wrong = door.ask("GET /who HTTP/1.1\r\nAuthorization: Bearer x\r\nConnection: close\r\n\r\n").await;
    assert!(wrong.starts_with("HTTP/1.1 401"), "{wrong}");
    assert!(wrong.contains("\"message\":\"Unauthorized\""), "{wrong}");
}

#[tokio::test]
async fn answers_have_the_headers_of_a_real_server() {
    let date = "2038-01-19T03:14:07Z".parse::<Time>().unwrap();
    let (clock, _hand) = VirtualClock::manual(date);
    let door = door_on(clock).await;
    let answer = door.get("/who").await.to_lowercase();
    for header in
        ["date: tue, 19 jan 2038 03:14:07 gmt", "content-length: 4", "cache-control: no-cache, private"]
    {
        assert!(answer.contains(header), "{answer}");
    }
    assert!(answer.contains("audit-id: "), "{answer}");
    let named = door.ask("GET / HTTP/1.1\r\naudit-ID: mine\r\nConnection: close\r\n\r\n").await;
    assert!(named.contains("audit-id: mine"), "{named}");
    let head = door.ask("HEAD /who HTTP/1.1\r\nConnection: close\r\n\r\n").await;
    assert!(head.ends_with("\r\n\r\n") && head.contains("content-length: 16"), "{head}");
}

#[tokio::test]
async fn who_speaks_plaintext_is_told_so() {
    let door = door().await;
    let mut stream = door.tcp().await;
    stream.write_all(b"GET /api HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    let answer = rest(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.0 400 Bad Request\r\n"), "{answer}");
    assert!(answer.ends_with("Client sent an HTTP request to an HTTPS server.\n"), "{answer}");
}

#[tokio::test]
async fn garbage_closes_its_own_connection_only() {
    let door = door().await;
    let mut standing = door.tls(None).await;
    for garbage in [
        &b"\x00\x01\x02\x03\x04\x05"[..],
        b"\x16\x03\x01\xff\xff",
        b"\x16\x03\x01\x00\x05abcde",
        b"SSH-2.0-x\r\n",
    ] {
        let mut stream = door.tcp().await;
        stream.write_all(garbage).await.unwrap();
        stream.shutdown().await.unwrap();
        rest(&mut stream).await;
    }
    drop(door.tcp().await);
    assert!(door.ask("\x01\x02 garbage\r\n\r\n").await.starts_with("HTTP/1.1 400"));
    assert!(asked_on(&mut standing, "/who", "jane").await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn a_panic_costs_one_answer() {
    let door = door().await;
    let mut stream = door.tls(None).await;
    let broken = asked_on(&mut stream, "/panic", "}").await;
    assert!(broken.starts_with("HTTP/1.1 500") && broken.contains("InternalError"), "{broken}");
    assert!(asked_on(&mut stream, "/who", "jane").await.starts_with("HTTP/1.1 200"));
    let cut = door.get("/break").await;
    assert!(!cut.ends_with("0\r\n\r\n"), "an answer cut short does not end as others do: {cut}");
}

#[tokio::test]
async fn a_body_has_a_limit_and_who_exceeds_it_learns_that() {
    let door = door().await;
    for (size, expected) in [(3 * 1024 * 1024, "3145728"), (3 * 1024 * 1024 + 1, "413"), (20_000_000, "413")]
    {
        let mut stream = door.tls(None).await;
        let head = format!("POST /size HTTP/1.1\r\nContent-Length: {size}\r\nConnection: close\r\n{KEEP}");
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(&vec![b'x'; size]).await.unwrap();
        let answer = rest(&mut stream).await;
        assert!(answer.contains(expected), "{answer}");
        if size > 3 * 1024 * 1024 {
            assert!(answer.contains("Request entity too large: limit is 3145728"), "{answer}");
        }
    }
    let head = "POST /size HTTP/1.1\r\nContent-Length: 9000000000\r\nConnection: close\r\n";
    let refused = door.ask(&format!("{head}{KEEP}")).await;
    assert!(refused.starts_with("HTTP/1.1 413"), "{refused}");
}

#[tokio::test]
async fn a_client_that_falls_silent_is_cut_and_time_jumps_over_it() {
    let door = door().await;
    let start = door.clock.now();
    let mut jumps = 0;
    let mut jumped = || {
        let before = std::mem::replace(&mut jumps, door.clock.status().jumps());
        assert!(jumps > before, "{}", door.clock.status());
    };
    let connected = door.tcp().await;
    let mut half_handshake = door.tcp().await;
    half_handshake.write_all(b"\x16\x03\x01").await.unwrap();
    let unasked = door.tls(None).await;
    let mut half_said = door.tls(None).await;
    half_said.write_all(b"GET /wh").await.unwrap();
    for mut stream in [
        Box::new(connected) as Box<dyn Line>,
        Box::new(half_handshake),
        Box::new(unasked),
        Box::new(half_said),
    ] {
        assert_eq!(rest(&mut stream).await, "");
    }
    jumped();
    let mut half_again = door.tls(None).await;
    asked_on(&mut half_again, "/who", "jane").await;
    let mut rests = door.tls(None).await;
    asked_on(&mut rests, "/who", "jane").await;
    half_again.write_all(b"GET /wh").await.unwrap();
    assert_eq!(rest(&mut half_again).await, "");
    jumped();
    let mut half_body = door.tls(None).await;
    half_body
        .write_all(format!("POST / HTTP/1.1\r\nContent-Length: 9\r\n{KEEP}half").as_bytes())
        .await
        .unwrap();
    assert!(rest(&mut half_body).await.starts_with("HTTP/1.1 504"));
    jumped();
    assert!(door.clock.now() - start >= Duration::from_secs(32 + 32 + 60));
    asked_on(&mut rests, "/who", "jane").await;
}

trait Line: AsyncRead + Unpin + Send {}
impl<T: AsyncRead + Unpin + Send> Line for T {}

#[tokio::test]
async fn who_does_not_read_delays_nobody() {
    let door = door().await;
    let mut deaf = Vec::new();
    for path in ["/flood", "/long", "/watch"] {
        let mut stream = door.tls(None).await;
        stream.write_all(format!("GET {path} HTTP/1.1\r\n{KEEP}").as_bytes()).await.unwrap();
        deaf.push(stream);
    }
    assert!(door.get("/who").await.ends_with("jane"));
    door.clock.sleep(Duration::from_secs(3600)).await;
    assert!(door.clock.status().jumps() > 0, "{}", door.clock.status());
    assert!(door.get("/who").await.ends_with("jane"));
}

#[tokio::test]
async fn a_watch_waits_without_holding_the_clock() {
    let door = door().await;
    let mut stream = door.tls(None).await;
    let text = asked_on(&mut stream, "/watch", "tick 30\n").await;
    assert!(text.contains("transfer-encoding: chunked"), "{text}");
    assert!(door.clock.status().jumps() > 0, "{}", door.clock.status());
}

fn asking(path: &str) -> Request<Empty<Bytes>> {
    let request = Request::get(format!("https://localhost{path}")).header(AUTHORIZATION, "Bearer secret");
    request.body(Empty::new()).unwrap()
}

#[tokio::test]
async fn one_connection_carries_a_thousand_watches() {
    let door = door().await;
    let mut sender = door.multiplexed().await;
    let mut watches = Vec::new();
    for _ in 0..1000 {
        let mut response = sender.send_request(asking("/watch")).await.unwrap();
        let line = response.frame().await.unwrap().unwrap().into_data().unwrap();
        assert_eq!(line, "tick 1\n");
        watches.push(response);
    }
    drop(watches);
    let who = sender.send_request(asking("/who")).await.unwrap();
    assert_eq!(who.collect().await.unwrap().to_bytes(), "jane");
}

#[tokio::test]
async fn a_reader_that_stalls_one_stream_stalls_only_that() {
    let door = door().await;
    let mut sender = door.multiplexed().await;
    let unread = sender.send_request(asking("/long")).await.unwrap();
    let who = sender.send_request(asking("/who")).await.unwrap();
    assert_eq!(who.collect().await.unwrap().to_bytes(), "jane");
    door.clock.sleep(Duration::from_secs(3600)).await;
    assert!(door.clock.status().jumps() > 0, "{}", door.clock.status());
    assert_eq!(unread.collect().await.unwrap().to_bytes().len(), 512 * 65536);
}

#[tokio::test]
async fn a_panic_costs_one_stream() {
    let door = door().await;
    let mut sender = door.multiplexed().await;
    assert_eq!(sender.send_request(asking("/panic")).await.unwrap().status(), 500);
    let whole = match sender.send_request(asking("/break")).await {
        Ok(response) => response.collect().await.is_ok(),
        Err(_) => false,
    };
    assert!(!whole);
    assert_eq!(sender.send_request(asking("/who")).await.unwrap().status(), 200);
    let mut head = asking("/who");
    *head.method_mut() = hyper::Method::HEAD;
    let head = sender.send_request(head).await.unwrap();
    assert_eq!(head.headers()["content-length"], "4");
    assert!(head.collect().await.unwrap().to_bytes().is_empty());
}

#[tokio::test]
async fn a_stop_ends_multiplexed_watches_too() {
    let door = door().await;
    let mut sender = door.multiplexed().await;
    let watch = sender.send_request(asking("/watch")).await.unwrap();
    let (ended, ()) = tokio::join!(watch.collect(), door.listener.stop());
    assert_eq!(ended.unwrap().to_bytes(), "tick 1\n");
}

#[tokio::test]
async fn a_stop_ends_watches_and_lets_requests_finish() {
    let door = door().await;
    let mut watch = door.tls(None).await;
    asked_on(&mut watch, "/watch", "tick 1\n").await;
    let mut slow = door.tls(None).await;
    slow.write_all(format!("POST /size HTTP/1.1\r\nContent-Length: 4\r\n{KEEP}ab").as_bytes()).await.unwrap();
    let address = door.listener.address();
    let (mut quiet, unopened) = (door.tls(None).await, door.tcp().await);
    asked_on(&mut quiet, "/who", "jane").await;
    let finish = async {
        tokio::task::yield_now().await;
        slow.write_all(b"cd").await.unwrap();
        rest(&mut slow).await
    };
    let ((), slow) = tokio::join!(door.listener.stop(), finish);
    assert!(slow.ends_with('4'), "{slow}");
    assert!(rest(&mut watch).await.ends_with("0\r\n\r\n"), "the watch has ended as answers end");
    assert_eq!(rest(&mut quiet).await, "");
    assert!(TcpStream::connect(address).await.is_err());
    drop(unopened);
}

#[tokio::test]
async fn nothing_is_left_of_a_listener_that_is_dropped() {
    let door = door().await;
    let mut watch = door.tls(None).await;
    asked_on(&mut watch, "/watch", "tick 1\n").await;
    let mut half_asked = door.tls(None).await;
    let head = format!("POST / HTTP/1.1\r\nContent-Length: 9\r\nExpect: 100-continue\r\n{KEEP}");
    half_asked.write_all(head.as_bytes()).await.unwrap();
    until(&mut half_asked, "100 Continue").await;
    let address = door.listener.address();
    drop(door.listener);
    assert_eq!(rest(&mut watch).await, "", "not even the next tick");
    assert_eq!(rest(&mut half_asked).await, "", "not even that it took too long");
    assert!(TcpStream::connect(address).await.is_err());
    let alive = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    assert_eq!(alive, 0);
}

#[tokio::test]
async fn a_taken_port_is_an_error_that_names_it() {
    let door = door().await;
    let address = door.listener.address();
    let certificates = Certificates::new(&[]).unwrap();
    let tokens = Arc::new(Tokens::default());
    let settings =
        Settings { address, certificates: &certificates, tokens, clock: door.clock.clone(), seed: 1 };
    let second = Listener::start(settings, Arc::new(Oracle { clock: door.clock.clone() })).await;
    let error = second.err().unwrap().to_string();
    assert!(error.starts_with(&format!("listen on {address}: ")), "{error}");
}
