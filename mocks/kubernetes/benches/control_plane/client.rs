//! A client that costs little: one HTTP/2 connection, bodies sent and counted as they are.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http2::{self, SendRequest};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, USER_AGENT};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use mock_kubernetes::{Builder, ControlPlane};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

const TOKEN: &str = "measuring";
/// As much as clients of Kubernetes allow the server to send ahead.
const WINDOW: u32 = 4 * 1024 * 1024;
pub(crate) const JSON: &str = "application/json";

/// A control plane that knows the client.
pub(crate) fn builder() -> Builder {
    ControlPlane::builder().token(TOKEN, "measurer", &["system:masters"])
}

/// Cloning shares the connection.
#[derive(Clone)]
pub(crate) struct Client {
    requests: SendRequest<Full<Bytes>>,
    authority: String,
}

impl Client {
    /// The first connection to a server whose certificate is taken from it.
    pub(crate) async fn of(control_plane: &ControlPlane) -> Self {
        Self::connect(control_plane.address(), &tls(control_plane)).await
    }

    pub(crate) async fn connect(address: SocketAddr, tls: &TlsConnector) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let stream = tls.connect(ServerName::try_from("localhost").unwrap(), stream).await.unwrap();
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder.initial_stream_window_size(WINDOW).initial_connection_window_size(4 * WINDOW);
        let (requests, connection) = builder.handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        Self { requests, authority: address.to_string() }
    }

    /// The head of the answer, which must be one of success.
    pub(crate) async fn send(
        &self,
        request: hyper::http::request::Builder,
        body: Bytes,
    ) -> Response<Incoming> {
        let request = request
            .header(AUTHORIZATION, format!("Bearer {TOKEN}"))
            .header(USER_AGENT, "bench/1")
            .body(Full::new(body))
            .unwrap();
        let what = format!("{} {}", request.method(), request.uri());
        let response = self.requests.clone().send_request(request).await.unwrap();
        if !response.status().is_success() {
            let status = response.status();
            let body = response.into_body().collect().await.unwrap().to_bytes();
            panic!("{what}: {status} {}", String::from_utf8_lossy(&body));
        }
        response
    }

    /// Reads an answer and forgets it; how long it was.
    pub(crate) async fn get(&self, path: &str, accept: &str) -> usize {
        count(self.open(path, accept).await).await
    }

    /// A stream of what happens.
    pub(crate) async fn open(&self, path: &str, accept: &str) -> Incoming {
        let request = Request::get(self.url(path)).header(ACCEPT, accept);
        self.send(request, Bytes::new()).await.into_body()
    }

    pub(crate) async fn post(&self, path: &str, body: Bytes) {
        let request = Request::post(self.url(path)).header(CONTENT_TYPE, JSON);
        count(self.send(request, body).await.into_body()).await;
    }

    pub(crate) async fn patch(&self, path: &str, content_type: &str, body: Bytes) {
        let request = Request::patch(self.url(path)).header(CONTENT_TYPE, content_type);
        count(self.send(request, body).await.into_body()).await;
    }

    fn url(&self, path: &str) -> String {
        format!("https://{}{path}", self.authority)
    }
}

/// Posts all bodies to a path, so many at a time.
pub(crate) async fn post_all(
    client: &Client,
    path: &'static str,
    count: usize,
    in_flight: usize,
    body: fn(usize) -> Bytes,
) {
    let next = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let worker = || {
        let (client, next) = (client.clone(), next.clone());
        tokio::spawn(async move {
            loop {
                let number = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                if number >= count {
                    return;
                }
                client.post(path, body(number)).await;
            }
        })
    };
    let workers: Vec<_> = (0..in_flight).map(|_| worker()).collect();
    for worker in workers {
        worker.await.unwrap();
    }
}

async fn count(mut body: Incoming) -> usize {
    let mut length = 0;
    while let Some(frame) = body.frame().await {
        length += frame.unwrap().data_ref().map_or(0, Bytes::len);
    }
    length
}

/// Trusts this control plane.
pub(crate) fn tls(control_plane: &ControlPlane) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(control_plane.ca_pem().as_bytes()).unwrap()).unwrap();
    let mut config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec()];
    TlsConnector::from(Arc::new(config))
}
