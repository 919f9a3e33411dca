//! The entrance for subjects that cannot be told an endpoint: an HTTP proxy that knows one host.
//!
//! Behind `CONNECT` it answers as that host, with a certificate of the door's authority. All other hosts are refused:
//! a subject under test talks to nobody else, and if it tries, the history says so.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use mock_clock::Clock as _;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

use super::call::Call;
use super::listener::serve_tls;
use super::note::Note;
use super::{Keeper, Way};

/// Whom the proxy answers for.
pub(super) struct Host {
    pub(super) name: String,
    pub(super) way: Arc<Way>,
    pub(super) acceptor: TlsAcceptor,
}

/// Serves a connection to the proxy, and what it becomes.
pub(super) async fn serve(keeper: Arc<Keeper>, host: Arc<Host>, stream: TcpStream) {
    let (given, taken) = tokio::sync::oneshot::channel();
    let given = std::sync::Mutex::new(Some(given));
    let service = service_fn(|mut request: Request<Incoming>| {
        let (answer, tunnel) = answer(&keeper, &host, &mut request);
        let given =
            given.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take_if(|_| tunnel.is_some());
        if let (Some(given), Some(tunnel)) = (given, tunnel) {
            // Whoever takes it stands below.
            let _ = given.send(tunnel);
        }
        std::future::ready(Ok::<_, Infallible>(answer))
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .auto_date_header(false)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    if let Err(error) = connection.await {
        tracing::debug!("a connection at the proxy ended: {error}");
    }
    // If no tunnel was asked for, nobody waits for one.
    drop(given);
    if let Ok(tunnel) = taken.await
        && let Ok(upgraded) = tunnel.await
    {
        serve_tls(Arc::clone(&keeper), Arc::clone(&host.way), host.acceptor.clone(), TokioIo::new(upgraded))
            .await;
    }
}

/// The answer, and the tunnel if there is to be one.
fn answer(
    keeper: &Arc<Keeper>,
    host: &Host,
    request: &mut Request<Incoming>,
) -> (Response<Full<Bytes>>, Option<OnUpgrade>) {
    let asked = request.uri().authority().map(ToString::to_string).unwrap_or_default();
    if request.method() == Method::CONNECT && asked.eq_ignore_ascii_case(&format!("{}:443", host.name)) {
        return (Response::new(Full::default()), Some(hyper::upgrade::on(request)));
    }
    let mut call = Call::of(host.way.replica, host.way.to, keeper.clock.now(), request);
    if call.method == "CONNECT" {
        call.path.clone_from(&asked);
    } else {
        call.path = request.uri().to_string();
    }
    let mut note = Note::begin(keeper, call, request.headers());
    note.status = StatusCode::FORBIDDEN.as_u16();
    let says = format!(
        "scaleproof's door: this proxy leads to https://{} and nowhere else; {} {} is refused\n",
        host.name, note.call.method, note.call.path
    );
    let mut response = Response::new(Full::from(says));
    *response.status_mut() = StatusCode::FORBIDDEN;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    (response, None)
}
