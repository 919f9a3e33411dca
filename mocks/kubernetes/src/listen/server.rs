//! The listener: takes connections in until it is stopped or dropped.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use mock_clock::{Clock as _, VirtualClock};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::rustls;

use super::certificates::Certificates;
use super::connection::{Serving, serve, stopped};
use super::exchange::{Exchange, Handler};
use super::tls::Tls;
use super::tokens::Tokens;
use crate::chance::Chance;

/// How long requests in flight may take to finish once the server stops.
const GRACE: Duration = Duration::from_secs(2);

/// How long to wait if the machine has no room for another connection.
const NO_ROOM: Duration = Duration::from_millis(100);

/// What a listener needs to know.
pub(crate) struct Settings<'a> {
    /// Port 0 takes any that is free.
    pub(crate) address: SocketAddr,
    pub(crate) certificates: &'a Certificates,
    pub(crate) tokens: Arc<Tokens>,
    pub(crate) clock: VirtualClock,
    /// Decides the names that requests are given.
    pub(crate) seed: u64,
}

/// An open port. Dropped, it takes everything with it at once; stopped, it lets requests in flight finish.
pub(crate) struct Listener {
    address: SocketAddr,
    stopping: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Listener {
    /// Opens the port and serves `handler` there, on the runtime of the caller.
    pub(crate) async fn start<H: Handler>(
        settings: Settings<'_>,
        handler: Arc<H>,
    ) -> Result<Self, ListenError> {
        let Settings { address: wanted, certificates, tokens, clock, seed } = settings;
        let tls = Tls::new(certificates, &clock).map_err(ListenError::Tls)?;
        let bound = |source| ListenError::Bind { address: wanted, source };
        let port = TcpListener::bind(wanted).await.map_err(bound)?;
        let address = port.local_addr().map_err(bound)?;
        let (stopping, stop) = watch::channel(false);
        // Not the names that objects get from the same seed.
        let exchange = Exchange { handler, tokens, clock, chance: Chance::new(!seed) };
        let serving = Arc::new(Serving { exchange, tls, stopping: stop });
        let task = tokio::spawn(accept(port, serving));
        Ok(Self { address, stopping, task })
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes no more connections, lets requests finish, ends watches, and closes.
    pub(crate) async fn stop(mut self) {
        self.stopping.send_replace(true);
        // A panic in there has been told by whoever panicked.
        let _ = (&mut self.task).await;
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept<H: Handler>(port: TcpListener, serving: Arc<Serving<H>>) {
    let clock = serving.exchange.clock.clone();
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            () = stopped(serving.stopping.clone()) => break,
            Some(ended) = connections.join_next() => tell(ended),
            accepted = port.accept() => match accepted {
                Ok((stream, peer)) => {
                    connections.spawn(serve(Arc::clone(&serving), stream, peer));
                }
                Err(e) if is_the_clients(&e) => {}
                Err(e) => {
                    tracing::warn!("accept a connection: {e}");
                    clock.sleep(NO_ROOM).await;
                }
            },
        }
    }
    drop(port);
    let all = async {
        while let Some(ended) = connections.join_next().await {
            tell(ended);
        }
    };
    if clock.timeout(GRACE, all).await.is_err() {
        connections.shutdown().await;
    }
}

/// Whether only this one client had bad luck.
fn is_the_clients(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}

fn tell(ended: Result<(), tokio::task::JoinError>) {
    if let Err(e) = ended
        && e.is_panic()
    {
        tracing::error!("a connection panicked: {e}");
    }
}

/// Why a listener could not be opened.
#[derive(Debug)]
pub(crate) enum ListenError {
    Bind { address: SocketAddr, source: io::Error },
    Tls(rustls::Error),
}

impl fmt::Display for ListenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bind { address, source } => write!(f, "listen on {address}: {source}"),
            Self::Tls(source) => write!(f, "use the certificates just made: {source}"),
        }
    }
}

impl std::error::Error for ListenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Bind { source, .. } => Some(source),
            Self::Tls(source) => Some(source),
        }
    }
}
