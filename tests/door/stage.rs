//! What the tests of the door share: a door on a clock, clients that say exactly what they are told, an origin.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use mock_clock::{Clock as _, VirtualClock};
use scaleproof::door::{Door, Upstream, Way};
use scaleproof::history::{CallEvent, Recorder, SubjectChange, SubjectEvent, What};
use scaleproof::terms::Api;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto::ring};

/// A door on a clock, and what it has recorded.
pub(crate) struct Stage {
    pub(crate) clock: VirtualClock,
    pub(crate) recorder: Recorder,
    pub(crate) door: Door,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let clock = VirtualClock::idle_skip().unwrap();
        let times = clock.clone();
        let recorder = Recorder::in_memory(move || (times.now(), 0));
        let door = Door::new(&clock, &recorder).unwrap();
        Self { clock, recorder, door }
    }

    /// An entrance to an origin.
    pub(crate) async fn to_origin(&self, origin: &Origin) -> SocketAddr {
        let upstream = Upstream::new(&format!("http://{}", origin.address), None).unwrap();
        self.door.plain(Way::new(0, Api::Cloud, &upstream)).await.unwrap()
    }

    pub(crate) fn calls(&self) -> Vec<CallEvent> {
        let calls = self.recorder.events();
        let call = |what: &What| if let What::Call(call) = what { Some(call.clone()) } else { None };
        calls.iter().filter_map(|event| call(&event.what)).collect()
    }

    pub(crate) fn troubles(&self) -> usize {
        self.recorder.events().iter().filter(|event| matches!(event.what, What::Trouble(_))).count()
    }

    /// What callers said that was no TLS, or did not trust: of whom, and why.
    pub(crate) fn misspoken(&self) -> Vec<(u32, String)> {
        let told = |what: &What| match what {
            What::Subject(SubjectEvent { replica, change: SubjectChange::Misspoke { why } }) => {
                Some((*replica, why.clone()))
            }
            _ => None,
        };
        self.recorder.events().iter().filter_map(|event| told(&event.what)).collect()
    }

    /// Waits until the history has so many calls.
    pub(crate) async fn recorded(&self, calls: usize) -> Vec<CallEvent> {
        let mut follower = self.recorder.follow();
        while self.calls().len() < calls {
            follower.next().await.unwrap();
        }
        self.calls()
    }
}

/// A server that answers each call with the same body.
pub(crate) struct Origin {
    pub(crate) address: SocketAddr,
    pub(crate) asked: Arc<AtomicUsize>,
}

impl Origin {
    pub(crate) async fn answering(body: impl Into<Bytes>) -> Self {
        let body = body.into();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (body, count) = (body.clone(), Arc::clone(&count));
                tokio::spawn(http1_origin(stream, body, count));
            }
        });
        Self { address, asked }
    }

    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

async fn http1_origin(stream: TcpStream, body: Bytes, count: Arc<AtomicUsize>) {
    let service = service_fn(|request: Request<Incoming>| {
        let body = body.clone();
        count.fetch_add(1, Ordering::SeqCst);
        async move {
            // Whoever posts gets his own words back, and everybody the header he sent.
            let seen = request.headers().get("x-seen").cloned();
            let sent = request.into_body().collect().await?.to_bytes();
            let mut response = Response::new(Full::new(if sent.is_empty() { body } else { sent }));
            response.headers_mut().insert("content-type", "application/json".parse().unwrap());
            if let Some(seen) = seen {
                response.headers_mut().insert("x-seen", seen);
            }
            Ok::<_, hyper::Error>(response)
        }
    });
    let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

/// A request of a test.
pub(crate) fn request(method: &str, target: &str, body: impl Into<Bytes>) -> Request<Full<Bytes>> {
    let body = body.into();
    let request =
        Request::builder().method(method).uri(target).header("host", "origin").header("user-agent", "test");
    request.header("content-type", "application/json").body(Full::new(body)).unwrap()
}

pub(crate) fn get(target: &str) -> Request<Full<Bytes>> {
    Request::builder().uri(target).header("host", "origin").body(Full::default()).unwrap()
}

/// One call on a connection of its own.
pub(crate) async fn ask(
    address: SocketAddr,
    request: Request<Full<Bytes>>,
) -> Result<Response<Bytes>, hyper::Error> {
    ask_on(TcpStream::connect(address).await.unwrap(), request).await
}

pub(crate) async fn ask_on(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    request: Request<Full<Bytes>>,
) -> Result<Response<Bytes>, hyper::Error> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let (head, body) = sender.send_request(request).await?.into_parts();
    Ok(Response::from_parts(head, body.collect().await?.to_bytes()))
}

/// A connection on which many calls can be made at once.
pub(crate) async fn multiplexed(stream: TlsStream<TcpStream>) -> http2::SendRequest<Full<Bytes>> {
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    let (sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    sender
}

/// An encrypted connection to `host`, who must be vouched for by `authority`.
pub(crate) async fn encrypted(
    authority: &str,
    host: &str,
    stream: TcpStream,
    alpn: &str,
) -> TlsStream<TcpStream> {
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
    let name = ServerName::try_from(host.to_owned()).unwrap();
    TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap()
}
