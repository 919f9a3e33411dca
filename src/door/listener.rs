//! The entrances: ports at which callers knock, each for one replica and one API, so that who calls is known by where.
//!
//! A connection is a task; its trouble is its own. What is said on it is `exchange`'s business.

use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use mock_clock::Clock as _;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use super::exchange::pass;
use super::{DoorError, Keeper, Way};
use crate::history::{SubjectChange, SubjectEvent, What};

/// One watch of each kind of thing, from many clients that share a connection.
const STREAMS_MAX: u32 = 2_000;
/// As many calls as callers like may be given up before they were looked at.
const RESETS_MAX: usize = 10_000;
/// What a caller may send before it is read, on one stream and on all.
const STREAM_WINDOW: u32 = 1024 * 1024;
const CONNECTION_WINDOW: u32 = 8 * 1024 * 1024;

/// How long an entrance that cannot take a caller in waits before it tries again.
const PAUSE: Duration = Duration::from_millis(100);

/// Any free port of this machine.
pub(super) async fn bind() -> Result<(TcpListener, SocketAddr), DoorError> {
    let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(DoorError::Listen)?;
    let address = socket.local_addr().map_err(DoorError::Listen)?;
    Ok((socket, address))
}

/// Takes callers in. Their connections end with this.
pub(super) async fn listen<F>(keeper: Arc<Keeper>, socket: TcpListener, serve: impl Fn(TcpStream) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = socket.accept() => match accepted {
                Ok((stream, _)) => {
                    // An answer in small pieces is not to wait for its acknowledgements.
                    let _ = stream.set_nodelay(true);
                    connections.spawn(serve(stream));
                }
                Err(error) => {
                    tracing::warn!("failed to take a caller in at the door: {error}");
                    keeper.clock.sleep(PAUSE).await;
                }
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Serves a connection that is encrypted.
pub(super) async fn serve_tls<S>(keeper: Arc<Keeper>, way: Arc<Way>, acceptor: TlsAcceptor, stream: S)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let shaking = keeper.flights.begin();
    match acceptor.accept(stream).await {
        Ok(stream) => {
            drop(shaking);
            serve(keeper, way, stream).await;
        }
        // It spoke, and was not understood or did not trust us: a fact about the subject, as only its entrance is there. Anything
        // else is a caller that went away.
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            if way.misspoke() {
                let change = SubjectChange::Misspoke { why: error.to_string() };
                keeper.recorder.record(What::Subject(SubjectEvent { replica: way.replica, change }));
            }
        }
        Err(error) => tracing::debug!("a caller left while shaking hands: {error}"),
    }
}

/// Serves a connection until either side has had enough.
pub(super) async fn serve<S>(keeper: Arc<Keeper>, way: Arc<Way>, stream: S)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service =
        service_fn(move |request: Request<Incoming>| pass(Arc::clone(&keeper), Arc::clone(&way), request));
    let mut builder = auto::Builder::new(TokioExecutor::new());
    // The date of an answer is virtual, and the API's.
    builder.http1().auto_date_header(false);
    builder
        .http2()
        .auto_date_header(false)
        .max_concurrent_streams(STREAMS_MAX)
        .max_pending_accept_reset_streams(RESETS_MAX)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW);
    if let Err(error) = builder.serve_connection(TokioIo::new(stream), service).await {
        tracing::debug!("a connection at the door ended: {error}");
    }
}
