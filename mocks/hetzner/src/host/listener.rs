//! `wiremock` as the carrier: one mock that matches everything and hands it over.
//!
//! `wiremock` keeps every request that a mock has matched for as long as the mock is mounted, whether recording is on
//! or not. So the mock is mounted anew now and then. Both steps, taking all mocks away and mounting the new one, wait
//! in one queue for the lock that the request being answered holds, so no other request comes between them.
//!
//! `wiremock` stops listening for good when it cannot take a connection in, as when there are no files left to open,
//! and cuts all connections that it has. A connection of our own that never asks for anything is cut with them, and
//! tells us so. The port is then listened on anew.

use std::future::Future;
use std::net::{SocketAddr, TcpListener};
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Context, Waker};

use mock_clock::Time;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use wiremock::{Mock, MockServer, Request as Carried, Respond, ResponseTemplate, matchers};

use crate::call::{Reply, Request};
use crate::engine::Engine;
use crate::host::{Shared, StartError};

/// After so many requests the mock is mounted anew.
const REQUESTS_A_MOUNT: u32 = 2048;
/// How often it is tried to listen anew before that is given up.
const ATTEMPTS: u32 = 20_000;

/// What answers: the API, or its administration.
type Answering = fn(&mut Engine, Time, &Request) -> Reply;

/// One port that is listened on, as long as this is there.
pub(super) struct Listener {
    address: SocketAddr,
    /// Holds the server, and ends with this.
    _watch: JoinSet<()>,
}

/// What a port is listened on for.
#[derive(Clone)]
struct Purpose {
    shared: Arc<Shared>,
    answering: Answering,
}

/// A server, and a connection to it that asks for nothing.
struct Serving {
    server: Arc<MockServer>,
    idle: TcpStream,
}

/// What `wiremock` calls.
struct Shell {
    shared: Arc<Shared>,
    answering: Answering,
    server: Weak<MockServer>,
    carried: AtomicU32,
}

/// Takes a port. Nobody is answered yet, but nobody else can take it any more.
pub(super) fn bind(address: SocketAddr) -> Result<TcpListener, StartError> {
    TcpListener::bind(address).map_err(|source| StartError::Listen { address, source })
}

impl Listener {
    pub(super) async fn start(
        socket: TcpListener,
        shared: Arc<Shared>,
        answering: Answering,
    ) -> Result<Self, StartError> {
        let purpose = Purpose { shared, answering };
        let serving = purpose.serve(socket).await?;
        let address = *serving.server.address();
        let mut watch = JoinSet::new();
        watch.spawn(purpose.watch(serving));
        Ok(Self { address, _watch: watch })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Purpose {
    async fn serve(&self, socket: TcpListener) -> Result<Serving, StartError> {
        let server = MockServer::builder().listener(socket).disable_request_recording().start().await;
        let server = Arc::new(server);
        server.register(mock(Arc::clone(&self.shared), self.answering, Arc::downgrade(&server))).await;
        let address = *server.address();
        let idle = TcpStream::connect(address).await;
        idle.map(|idle| Serving { server, idle }).map_err(|source| StartError::Listen { address, source })
    }

    /// Listens anew whenever the server has stopped.
    async fn watch(self, mut serving: Serving) {
        loop {
            let address = *serving.server.address();
            serving.stopped().await;
            tracing::error!("all connections of {address} were cut: there may be too many of them");
            serving = match self.anew(address).await {
                Ok(serving) => serving,
                Err(e) => return self.shared.lose(e.to_string()),
            };
        }
    }

    /// Tries again for a while: the old connections are cut one after the other, and hold their files until then.
    async fn anew(&self, address: SocketAddr) -> Result<Serving, StartError> {
        let mut attempts = 0;
        loop {
            let anew = match bind(address) {
                Ok(socket) => self.serve(socket).await,
                Err(e) => Err(e),
            };
            attempts += 1;
            if anew.is_ok() || attempts == ATTEMPTS {
                return anew;
            }
            tokio::task::yield_now().await;
        }
    }
}

impl Serving {
    /// Waits until it has cut all connections.
    async fn stopped(mut self) {
        // However that ends, nobody answers there any more.
        let _ = self.idle.read(&mut [0]).await;
    }
}

fn mock(shared: Arc<Shared>, answering: Answering, server: Weak<MockServer>) -> Mock {
    let shell = Shell { shared, answering, server, carried: AtomicU32::new(0) };
    Mock::given(matchers::any()).respond_with(shell)
}

impl Respond for Shell {
    fn respond(&self, request: &Carried) -> ResponseTemplate {
        if self.carried.fetch_add(1, Ordering::Relaxed) == REQUESTS_A_MOUNT {
            self.mount_anew();
        }
        let request = take_off(request);
        put_on(self.shared.with(|engine, now| (self.answering)(engine, now, &request)))
    }
}

impl Shell {
    /// Puts both steps into the queue for the lock, and lets the rest happen once this request is answered.
    fn mount_anew(&self) {
        let Some(server) = self.server.upgrade() else { return };
        let mock = mock(Arc::clone(&self.shared), self.answering, self.server.clone());
        let taking = {
            let server = Arc::clone(&server);
            async move { server.reset().await }
        };
        let mut steps: [Pin<Box<dyn Future<Output = ()> + Send>>; 2] =
            [Box::pin(taking), Box::pin(async move { server.register(mock).await })];
        let mut nobody = Context::from_waker(Waker::noop());
        for step in &mut steps {
            // The lock is held for this request, so neither can be done yet.
            let _ = step.as_mut().poll(&mut nobody);
        }
        let [taking, mounting] = steps;
        tokio::spawn(async move {
            taking.await;
            mounting.await;
        });
    }
}

/// A request without its carrier.
fn take_off(carried: &Carried) -> Request {
    let header =
        |name: &str| carried.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    Request {
        method: carried.method.to_string(),
        path: carried.url.path().to_owned(),
        query: carried.url.query().unwrap_or_default().to_owned(),
        authorization: header("authorization"),
        agent: header("user-agent").unwrap_or_default(),
        body: carried.body.clone(),
    }
}

/// A reply for its carrier. The type of the content belongs to the body there.
fn put_on(reply: Reply) -> ResponseTemplate {
    let mut template = ResponseTemplate::new(reply.status);
    let mut kind = "";
    for (name, value) in &reply.headers {
        if *name == "Content-Type" {
            kind = value;
        } else {
            template = template.insert_header(*name, value.as_str());
        }
    }
    match reply.body {
        Some(body) => template.set_body_raw(Arc::unwrap_or_clone(body), kind),
        None => template,
    }
}
