//! The shell around the engine: it listens, hands each request over with the time it is, and wakes the engine when
//! something is to happen by itself. What is answered is decided elsewhere.

mod listener;

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mock_clock::{Clock as _, ClockError, Mode, Time, VirtualClock};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::admin;
use crate::catalogue::Catalogue;
use crate::engine::{Engine, Snapshot, Token};
use crate::profile::Profile;

use listener::Listener;

/// A running cloud: the API on one port, and its administration on another, if that is asked for.
///
/// ```
/// # #[tokio::main]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let cloud = mock_hetzner::Cloud::builder().token("secret").start().await?;
/// println!("HCLOUD_ENDPOINT={} HCLOUD_TOKEN=secret", cloud.url());
/// # Ok(())
/// # }
/// ```
pub struct Cloud {
    shared: Arc<Shared>,
    api: Listener,
    admin: Option<Listener>,
    /// Ends with the cloud.
    _keeper: JoinSet<()>,
}

/// What a cloud is to be like.
#[derive(Debug)]
pub struct Builder {
    clock: Option<VirtualClock>,
    listen: SocketAddr,
    admin: Option<SocketAddr>,
    tokens: Vec<Token>,
    catalogue: Catalogue,
    profile: Profile,
    seed: u64,
    requests_per_hour: Option<u64>,
    snapshot: Option<Snapshot>,
}

/// What the listeners and the owner of the cloud share.
pub(crate) struct Shared {
    engine: Mutex<Engine>,
    clock: VirtualClock,
    /// Counts the changes.
    changes: watch::Sender<u64>,
    /// Why a port is no longer listened on.
    lost: watch::Sender<Option<String>>,
}

impl Cloud {
    /// An empty cloud on any free ports of the loopback, with what Hetzner sells, at real time.
    pub fn builder() -> Builder {
        let anywhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        Builder {
            clock: None,
            listen: anywhere,
            admin: None,
            tokens: Vec::new(),
            catalogue: Catalogue::builtin(),
            profile: Profile::default(),
            seed: 1,
            requests_per_hour: None,
            snapshot: None,
        }
    }

    /// Where the API listens.
    pub fn address(&self) -> SocketAddr {
        self.api.address()
    }

    /// Where its administration listens, if it does.
    pub fn admin_address(&self) -> Option<SocketAddr> {
        self.admin.as_ref().map(Listener::address)
    }

    /// What clients take as their endpoint: `http://127.0.0.1:8080/v1`.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address())
    }

    /// The clock it runs on.
    pub fn clock(&self) -> &VirtualClock {
        &self.shared.clock
    }

    /// Does something with the engine, at the moment that it is.
    pub fn with<T>(&self, work: impl FnOnce(&mut Engine, Time) -> T) -> T {
        self.shared.with(work)
    }

    /// Tells each time that something has changed.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.shared.changes.subscribe()
    }

    /// Waits until a port is no longer listened on, which cannot be helped, and tells why. Reads after "failed to".
    pub async fn lost(&self) -> String {
        let mut lost = self.shared.lost.subscribe();
        let why = lost.wait_for(Option::is_some).await.ok().and_then(|why| why.clone());
        why.unwrap_or_default()
    }
}

impl fmt::Debug for Cloud {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cloud").field("url", &self.url()).finish_non_exhaustive()
    }
}

impl Builder {
    /// Takes its time from this clock; otherwise time is real.
    #[must_use]
    pub fn clock(mut self, clock: VirtualClock) -> Self {
        self.clock = Some(clock);
        self
    }

    /// The API listens here; port 0 takes any that is free.
    #[must_use]
    pub fn listen(mut self, address: SocketAddr) -> Self {
        self.listen = address;
        self
    }

    /// The administration listens here; without this, nowhere. It knows no tokens: whoever reaches it can change everything.
    #[must_use]
    pub fn admin(mut self, address: SocketAddr) -> Self {
        self.admin = Some(address);
        self
    }

    /// Lets this token in.
    #[must_use]
    pub fn token(mut self, secret: &str) -> Self {
        self.tokens.push(Token { secret: secret.to_owned(), read_only: false });
        self
    }

    /// Lets this token look, and change nothing.
    #[must_use]
    pub fn read_only_token(mut self, secret: &str) -> Self {
        self.tokens.push(Token { secret: secret.to_owned(), read_only: true });
        self
    }

    /// Sells this instead of what Hetzner sells.
    #[must_use]
    pub fn catalogue(mut self, catalogue: Catalogue) -> Self {
        self.catalogue = catalogue;
        self
    }

    /// Speaks the API of another time.
    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = profile;
        self
    }

    /// Decides everything that is drawn: durations, passwords, whether a trouble bites.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// How many requests an hour are let through.
    #[must_use]
    pub fn requests_per_hour(mut self, limit: u64) -> Self {
        self.requests_per_hour = Some(limit);
        self
    }

    /// Goes on where another cloud was, instead of with nothing.
    #[must_use]
    pub fn snapshot(mut self, snapshot: Snapshot) -> Self {
        self.snapshot = Some(snapshot);
        self
    }

    /// Starts it on the current tokio runtime. When this returns, every request is answered.
    pub async fn start(self) -> Result<Cloud, StartError> {
        let clock = match self.clock {
            Some(clock) => clock,
            None => VirtualClock::start(Mode::Real, None).map_err(StartError::Clock)?,
        };
        let now = clock.now();
        let catalogue = Arc::new(self.catalogue);
        let mut engine = match self.snapshot {
            Some(snapshot) => Engine::resume(snapshot, catalogue, now).map_err(StartError::Snapshot)?,
            None => Engine::new(catalogue, self.profile, self.seed, now),
        };
        for token in self.tokens {
            engine.admit(token);
        }
        if let Some(limit) = self.requests_per_hour {
            engine.limit_requests(now, limit);
        }
        let socket = listener::bind(self.listen)?;
        let admin_socket = self.admin.map(listener::bind).transpose()?;
        if let Ok(address) = socket.local_addr() {
            engine.reached_at(&format!("http://{address}"));
        }
        let shared = Arc::new(Shared {
            engine: Mutex::new(engine),
            clock,
            changes: watch::channel(0).0,
            lost: watch::channel(None).0,
        });
        let api = Listener::start(socket, Arc::clone(&shared), Engine::answer).await?;
        let admin = match admin_socket {
            Some(socket) => Some(Listener::start(socket, Arc::clone(&shared), admin::answer).await?),
            None => None,
        };
        let mut keeper = JoinSet::new();
        keeper.spawn(keep(Arc::clone(&shared)));
        Ok(Cloud { shared, api, admin, _keeper: keeper })
    }
}

impl Shared {
    /// A port is no longer listened on.
    fn lose(&self, why: String) {
        tracing::error!("failed to {why}");
        self.lost.send_replace(Some(why));
    }

    fn lock(&self) -> MutexGuard<'_, Engine> {
        // What a panic left behind is as good as before: the engine changes only after all checks.
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with the engine at the moment that it is, and tells if that has changed anything.
    fn with<T>(&self, work: impl FnOnce(&mut Engine, Time) -> T) -> T {
        // As long as somebody is answered, time must not jump.
        let _busy = self.clock.busy();
        let mut engine = self.lock();
        let now = self.clock.now();
        let result = work(&mut engine, now);
        let revision = engine.revision();
        drop(engine);
        self.changes.send_if_modified(|known| std::mem::replace(known, revision) != revision);
        result
    }
}

/// Wakes the engine whenever something is to happen by itself.
async fn keep(shared: Arc<Shared>) {
    let mut changes = shared.changes.subscribe();
    loop {
        let next = shared.with(|engine, now| {
            engine.advance(now);
            engine.next()
        });
        tokio::select! {
            _ = shared.clock.sleep_until(next.unwrap_or(Time::NEVER)) => {}
            changed = changes.changed() => {
                if changed.is_err() {
                    return;
                }
            }
        }
    }
}

/// Why a cloud cannot be started. Reads after "failed to".
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// The clock.
    Clock(ClockError),
    /// A port.
    Listen {
        /// Where it was to listen.
        address: SocketAddr,
        /// What happened.
        source: io::Error,
    },
    /// What another cloud left does not fit the catalogue.
    Snapshot(String),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clock(error) => write!(f, "start the clock: {error}"),
            Self::Listen { address, source } => write!(f, "listen on {address}: {source}"),
            Self::Snapshot(error) => write!(f, "go on from the state: {error}"),
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Clock(error) => Some(error),
            Self::Listen { source, .. } => Some(source),
            Self::Snapshot(_) => None,
        }
    }
}
