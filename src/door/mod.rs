//! The door: the one place every byte between the subject and the two APIs passes.
//!
//! ```text
//! subject ──▶ entrance ──▶ rules ──▶ upstream ──▶ API
//!                 │           │
//!                 └─ history ◀┘   every call, what was answered, which fault decided
//! ```
//!
//! It belongs to the run: it encrypts, passes on, records, and does to calls what rules say. It does not know what a
//! fault is, starts no API, and decides nothing itself. A call in flight holds the clock.

mod answer;
mod authority;
mod call;
mod exchange;
mod flight;
mod framing;
mod listener;
mod note;
mod proxy;
mod relay;
mod rule;
mod upstream;

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use mock_clock::VirtualClock;
use tokio::sync::watch;
use tokio::task::JoinSet;

pub use answer::Answer;
pub use call::{Call, CallMatch, Reply};
pub use rule::{Fate, Injury, Rule, Rules};
pub use upstream::Upstream;

use crate::history::Recorder;
use crate::terms::Api;
use authority::Authority;
use flight::Flights;

/// An open door. When it is dropped, all connections end.
///
/// ```
/// use mock_clock::{Clock as _, VirtualClock};
/// use scaleproof::door::{CallMatch, Door, Fate, Injury, Upstream, Way};
/// use scaleproof::history::Recorder;
/// use scaleproof::terms::Api;
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let clock = VirtualClock::idle_skip()?;
/// let times = clock.clone();
/// let recorder = Recorder::in_memory(move || (times.now(), 0));
/// let door = Door::new(&clock, &recorder)?;
/// let cloud = Upstream::new("http://127.0.0.1:8080", None)?;
/// let address = door.plain(Way::new(0, Api::Cloud, &cloud)).await?;
/// println!("HCLOUD_ENDPOINT=http://{address}/v1");
/// door.rules().install("no-orders", Injury::new(CallMatch::default(), Fate::Cut, Some(1)), |call| println!("{call}"));
/// # Ok(())
/// # }
/// ```
pub struct Door {
    keeper: Arc<Keeper>,
    authority: Authority,
    tasks: Mutex<JoinSet<()>>,
}

/// What all calls share.
struct Keeper {
    clock: VirtualClock,
    recorder: Recorder,
    rules: Rules,
    flights: Arc<Flights>,
    /// How many are not over.
    calls: watch::Sender<usize>,
}

/// Who comes through an entrance, and where it leads.
#[derive(Debug)]
pub struct Way {
    replica: u32,
    to: Api,
    upstream: Upstream,
    /// The API did not answer when it was last asked.
    lost: AtomicBool,
    /// Somebody has said here what is no TLS.
    misspoke: AtomicBool,
}

impl Way {
    /// A replica's way to an API.
    pub fn new(replica: u32, to: Api, upstream: &Upstream) -> Self {
        Self {
            replica,
            to,
            upstream: upstream.clone(),
            lost: AtomicBool::new(false),
            misspoke: AtomicBool::new(false),
        }
    }

    /// The API answers.
    fn reached(&self) {
        self.lost.store(false, Ordering::Relaxed);
    }

    /// The API does not answer. Whether that is news.
    fn lost(&self) -> bool {
        !self.lost.swap(true, Ordering::Relaxed)
    }

    /// Somebody has said what is no TLS. Whether that is news.
    fn misspoke(&self) -> bool {
        !self.misspoke.swap(true, Ordering::Relaxed)
    }
}

impl Door {
    /// A door without entrances, with an authority of its own, on the current tokio runtime.
    pub fn new(clock: &VirtualClock, recorder: &Recorder) -> Result<Self, DoorError> {
        let flights = Flights::new(clock);
        let keeper = Keeper {
            clock: clock.clone(),
            recorder: recorder.clone(),
            rules: Rules::default(),
            flights: Arc::clone(&flights),
            calls: watch::channel(0).0,
        };
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { flights.watch().await });
        Ok(Self { keeper: Arc::new(keeper), authority: Authority::new()?, tasks: Mutex::new(tasks) })
    }

    /// The certificate that callers must trust.
    pub fn authority_pem(&self) -> &str {
        self.authority.pem()
    }

    /// Who decides the fate of calls.
    pub fn rules(&self) -> &Rules {
        &self.keeper.rules
    }

    /// An entrance for plain HTTP.
    pub async fn plain(&self, way: Way) -> Result<SocketAddr, DoorError> {
        let (socket, address) = listener::bind().await?;
        let (keeper, way) = (Arc::clone(&self.keeper), Arc::new(way));
        self.spawn(listener::listen(Arc::clone(&keeper), socket, move |stream| {
            listener::serve(Arc::clone(&keeper), Arc::clone(&way), stream)
        }));
        Ok(address)
    }

    /// An entrance for HTTPS, HTTP/1.1 and 2.
    pub async fn encrypted(&self, way: Way) -> Result<SocketAddr, DoorError> {
        let (socket, address) = listener::bind().await?;
        let acceptor = self.authority.acceptor(None)?;
        let (keeper, way) = (Arc::clone(&self.keeper), Arc::new(way));
        self.spawn(listener::listen(Arc::clone(&keeper), socket, move |stream| {
            listener::serve_tls(Arc::clone(&keeper), Arc::clone(&way), acceptor.clone(), stream)
        }));
        Ok(address)
    }

    /// An HTTP proxy that answers for `host`, such as `api.hetzner.cloud`, and refuses all others.
    pub async fn proxy(&self, way: Way, host: &str) -> Result<SocketAddr, DoorError> {
        let (socket, address) = listener::bind().await?;
        let acceptor = self.authority.acceptor(Some(host))?;
        let host = Arc::new(proxy::Host { name: host.to_owned(), way: Arc::new(way), acceptor });
        let keeper = Arc::clone(&self.keeper);
        self.spawn(listener::listen(Arc::clone(&keeper), socket, move |stream| {
            proxy::serve(Arc::clone(&keeper), Arc::clone(&host), stream)
        }));
        Ok(address)
    }

    /// Ends all connections, and waits until their calls are in the history.
    pub async fn close(self) {
        let mut tasks = self.tasks.into_inner().unwrap_or_else(PoisonError::into_inner);
        tasks.shutdown().await;
        // Those of multiplexed connections have tasks of their own, which end when they notice.
        let _ = self.keeper.calls.subscribe().wait_for(|calls| *calls == 0).await;
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner).spawn(task);
    }
}

impl fmt::Debug for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Door").field("rules", &self.keeper.rules).finish_non_exhaustive()
    }
}

/// Why a door cannot be opened. Reads after "failed to".
#[derive(Debug)]
#[non_exhaustive]
pub enum DoorError {
    /// There is no port.
    Listen(io::Error),
    /// A certificate cannot be made.
    Certificate(rcgen::Error),
    /// Encryption cannot be set up.
    Tls(tokio_rustls::rustls::Error),
    /// A URL leads to no API.
    Upstream {
        /// The URL.
        url: String,
        /// What is wrong with it.
        why: String,
    },
}

impl fmt::Display for DoorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listen(error) => write!(f, "listen on a port of this machine: {error}"),
            Self::Certificate(error) => write!(f, "make a certificate: {error}"),
            Self::Tls(error) => write!(f, "set up TLS: {error}"),
            Self::Upstream { url, why } => write!(f, "lead to the API at {url:?}: {why}"),
        }
    }
}

impl std::error::Error for DoorError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Listen(error) => Some(error),
            Self::Certificate(error) => Some(error),
            Self::Tls(error) => Some(error),
            Self::Upstream { .. } => None,
        }
    }
}
