//! The whole: built, started, stopped.

use std::collections::BTreeSet;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use mock_clock::{ClockError, VirtualClock};
use tokio::task::JoinSet;

use crate::api::Api;
use crate::birth;
use crate::control;
use crate::listen::{Certificates, ListenError, Listener, Settings, Tokens, User, kubeconfig};
use crate::schedule;
use crate::serve::Service;

/// A running control plane. Dropped, it is gone at once; stopped, requests in flight finish.
///
/// ```
/// # #[tokio::main]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let control_plane = mock_kubernetes::ControlPlane::builder().start().await?;
/// println!("{}", control_plane.url());
/// std::fs::write(std::env::temp_dir().join("kubeconfig"), control_plane.kubeconfig())?;
/// control_plane.stop().await;
/// # Ok(())
/// # }
/// ```
pub struct ControlPlane {
    listener: Listener,
    certificates: Certificates,
    clock: VirtualClock,
    tasks: JoinSet<()>,
    api: Api,
}

/// What a control plane is to be like.
#[derive(Debug)]
pub struct Builder {
    clock: Option<VirtualClock>,
    address: SocketAddr,
    names: Vec<String>,
    seed: u64,
    scheduler: bool,
    packing: schedule::Packing,
    controllers: bool,
    off: BTreeSet<String>,
    tokens: Vec<(String, String, Vec<String>)>,
}

impl ControlPlane {
    /// A control plane with everything, on any free port of the loopback.
    pub fn builder() -> Builder {
        Builder {
            clock: None,
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            names: Vec::new(),
            seed: 0,
            scheduler: true,
            packing: schedule::Packing::default(),
            controllers: true,
            off: BTreeSet::new(),
            tokens: Vec::new(),
        }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// `https://127.0.0.1:6443`
    pub fn url(&self) -> String {
        format!("https://{}", self.address())
    }

    /// The certificate of its authority, which clients must trust.
    pub fn ca_pem(&self) -> &str {
        &self.certificates.authority_pem
    }

    /// A kubeconfig of its administrator.
    pub fn kubeconfig(&self) -> String {
        self.kubeconfig_for(&self.url())
    }

    /// The same for clients that reach it under another URL.
    pub fn kubeconfig_for(&self, url: &str) -> String {
        kubeconfig::text(url, self.ca_pem(), &kubeconfig::Login::Certificate(&self.certificates.admin))
    }

    /// The same with a bearer token that it accepts instead of a certificate.
    pub fn kubeconfig_with_token(&self, url: &str, token: &str) -> String {
        kubeconfig::text(url, self.ca_pem(), &kubeconfig::Login::Token(token))
    }

    /// Forgets all changes, as a compaction of etcd does: whoever watches from the past is told that it is gone
    /// (410), and lists again.
    pub fn compact(&self) {
        self.api.store().compact();
    }

    /// The clock it runs on.
    pub fn clock(&self) -> &VirtualClock {
        &self.clock
    }

    /// Takes no more connections, lets requests in flight finish, ends watches and controllers.
    pub async fn stop(mut self) {
        self.listener.stop().await;
        self.tasks.shutdown().await;
    }
}

impl fmt::Debug for ControlPlane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ControlPlane").field("url", &self.url()).finish_non_exhaustive()
    }
}

impl Builder {
    /// Takes its time from this clock; otherwise time is real.
    #[must_use]
    pub fn clock(mut self, clock: VirtualClock) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Listens here; port 0 takes any that is free.
    #[must_use]
    pub fn listen(mut self, address: SocketAddr) -> Self {
        self.address = address;
        self
    }

    /// A name or an IP address under which clients reach it, besides those of this machine's loopback.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.names.push(name.into());
        self
    }

    /// Decides everything that is drawn: uids, name suffixes, choices among equals.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The API server alone: no scheduler, no controllers.
    #[must_use]
    pub fn bare(self) -> Self {
        self.scheduler(false).controllers(false)
    }

    /// Whether pods are bound to nodes.
    #[must_use]
    pub fn scheduler(mut self, on: bool) -> Self {
        self.scheduler = on;
        self
    }

    /// The scheduler fills nodes up instead of spreading over the freest.
    #[must_use]
    pub fn most_allocated(mut self) -> Self {
        self.packing = schedule::Packing::MostAllocated;
        self
    }

    /// Whether there is a controller manager.
    #[must_use]
    pub fn controllers(mut self, on: bool) -> Self {
        self.controllers = on;
        self
    }

    /// Leaves one controller out, by upstream's name for it: `replicaset-controller`.
    #[must_use]
    pub fn without(mut self, controller: &str) -> Self {
        self.off.insert(controller.to_owned());
        self
    }

    /// Accepts a bearer token.
    #[must_use]
    pub fn token(mut self, token: &str, user: &str, groups: &[&str]) -> Self {
        let groups = groups.iter().map(|group| (*group).to_owned()).collect();
        self.tokens.push((token.to_owned(), user.to_owned(), groups));
        self
    }

    /// Starts it on the current tokio runtime. When this returns, every request is answered.
    pub async fn start(self) -> Result<ControlPlane, StartError> {
        let clock = match self.clock {
            Some(clock) => clock,
            None => VirtualClock::start(mock_clock::Mode::Real, None)?,
        };
        let certificates = Certificates::new(&self.names).map_err(StartError::Certificates)?;
        let tokens = Arc::new(Tokens::default());
        for (token, user, groups) in self.tokens {
            tokens.allow(&token, User::new(user, groups));
        }
        let api = Api::new(clock.clone(), self.seed);
        birth::furnish(&api)?;
        let service = Arc::new(Service::new(api.clone(), tokens.clone()));
        let settings = Settings {
            address: self.address,
            certificates: &certificates,
            tokens,
            clock: clock.clone(),
            seed: self.seed,
        };
        let listener = Listener::start(settings, service.clone()).await?;
        service.served_at(listener.address());
        let mut tasks = JoinSet::new();
        let part_of_the_server = "customresourcedefinition-cleanup-controller";
        let off = |name: &str| self.off.contains(name) || !self.controllers && name != part_of_the_server;
        let settings = control::Settings {
            ca_pem: certificates.authority_pem.clone(),
            grace: control::Grace::default(),
            drivers: control::Drivers::default(),
        };
        control::cluster(&api, &mut tasks, &off, settings);
        control::workloads(&api, &mut tasks, &off);
        if self.scheduler {
            tasks.spawn(schedule::run(api.clone(), self.seed, self.packing));
        }
        Ok(ControlPlane { listener, certificates, clock, tasks, api })
    }
}

/// Why a control plane cannot be started.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// The clock.
    Clock(ClockError),
    /// The certificates.
    Certificates(rcgen::Error),
    /// The port.
    Listen {
        /// The port is taken by somebody else.
        in_use: bool,
        /// What happened.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// An object that every cluster has was refused: a bug.
    Birth(String),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clock(error) => write!(f, "start the clock: {error}"),
            Self::Certificates(error) => write!(f, "make certificates: {error}"),
            Self::Listen { source, .. } => write!(f, "{source}"),
            Self::Birth(error) => write!(f, "make the objects that every cluster has: {error}"),
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Clock(error) => Some(error),
            Self::Certificates(error) => Some(error),
            Self::Listen { source, .. } => Some(source.as_ref()),
            Self::Birth(_) => None,
        }
    }
}

impl From<ClockError> for StartError {
    fn from(error: ClockError) -> Self {
        Self::Clock(error)
    }
}

impl From<ListenError> for StartError {
    fn from(error: ListenError) -> Self {
        let in_use = matches!(&error, ListenError::Bind { source, .. } if source.kind() == std::io::ErrorKind::AddrInUse);
        Self::Listen { in_use, source: Box::new(error) }
    }
}

impl From<crate::status::Status> for StartError {
    fn from(status: crate::status::Status) -> Self {
        Self::Birth(status.message)
    }
}
