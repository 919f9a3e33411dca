//! Where the Kubernetes API of a run comes from, and what is seen there.
//!
//! A [`Cluster`] is started and gives [`Access`]; it is up when its API is ready and pods can be made in its default
//! namespace, never because a command has returned. The [`Observer`] records what happens in it. Nodes are the world's.

mod choice;
mod definitions;
mod embedded;
mod envtest;
mod existing;
mod identity;
mod live;
mod observer;
mod readiness;

pub use choice::Choice;
pub use definitions::{define, install};
pub use embedded::Embedded;
pub use envtest::Envtest;
pub use existing::Existing;
pub use live::{Live, PodCount};
pub use observer::{Observer, Tell, Watched};

use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use mock_clock::VirtualClock;

/// What takes a while.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Where a Kubernetes API comes from.
pub trait Cluster: Send {
    /// Starts it on the clock of the run, and waits until it is of use.
    fn start<'a>(&'a mut self, clock: &'a VirtualClock) -> Pending<'a, Result<Access, ClusterError>>;

    /// Ends what was started.
    fn stop(self: Box<Self>) -> Pending<'static, ()>;
}

/// How a cluster is reached by its administrator.
#[derive(Clone, Debug)]
pub struct Access {
    /// `embedded`, `existing` or `envtest`.
    pub kind: &'static str,
    /// The version it claims.
    pub version: String,
    /// Where it listens.
    pub url: String,
    /// The certificate of its authority; empty if the system's are trusted.
    pub ca_pem: String,
    /// A kubeconfig of its administrator, as YAML.
    pub kubeconfig: String,
    /// The token by which the subject is known, if the cluster has been told of it: certificates do not pass a door.
    pub subject_token: Option<String>,
    config: Config,
}

impl Access {
    async fn new(kind: &'static str, kubeconfig: Kubeconfig, text: String) -> Result<Access, ClusterError> {
        let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
            .await
            .map_err(|error| ClusterError::Kubeconfig(error.to_string()))?;
        // Whoever calls decides whether to call again, on the clock of the run.
        config.default_retry = false;
        config.read_timeout = None;
        let url = config.cluster_url.to_string().trim_end_matches('/').to_owned();
        let ca_pem = config.root_cert.iter().flatten().map(|der| pem(der.as_slice())).collect();
        let client = Client::try_from(config.clone()).map_err(ClusterError::Client)?;
        let version = client
            .apiserver_version()
            .await
            .map_err(|source| ClusterError::Silent { url: url.clone(), why: source.to_string() })?;
        Ok(Access {
            kind,
            version: version.git_version,
            url,
            ca_pem,
            kubeconfig: text,
            subject_token: None,
            config,
        })
    }

    /// What kube-rs needs to reach it.
    pub fn config(&self) -> Config {
        self.config.clone()
    }

    /// A client of its administrator.
    pub fn client(&self) -> Result<Client, ClusterError> {
        Client::try_from(self.config()).map_err(ClusterError::Client)
    }
}

/// A certificate as text.
fn pem(der: &[u8]) -> String {
    let mut text = String::from("-----BEGIN CERTIFICATE-----\n");
    let mut rest = STANDARD.encode(der);
    while !rest.is_empty() {
        let after = rest.split_off(rest.len().min(64));
        text.push_str(&rest);
        text.push('\n');
        rest = after;
    }
    text + "-----END CERTIFICATE-----\n"
}

/// Why there is no cluster. Reads after "failed to".
#[derive(Debug)]
#[non_exhaustive]
pub enum ClusterError {
    /// The embedded one does not start.
    Embedded(mock_kubernetes::StartError),
    /// The kubeconfig is no use.
    Kubeconfig(String),
    /// No client can be made of it.
    Client(kube::Error),
    /// It gives the subject no account.
    NoAccount(kube::Error),
    /// It does not answer.
    Silent {
        /// Where it should.
        url: String,
        /// What happened instead.
        why: String,
    },
    /// It answers, and is not ready.
    NotReady {
        /// Where.
        url: String,
        /// What is missing.
        why: String,
    },
    /// It does not serve what a definition defines.
    Definition(String),
    /// Its time is real, and the run's is not.
    NotRealTime,
    /// A program of it is not there.
    NoProgram {
        /// Which.
        program: &'static str,
        /// Where it should be.
        folder: PathBuf,
    },
    /// A program of it does not start, or does not stay.
    Program {
        /// Which.
        program: &'static str,
        /// What happened.
        why: String,
    },
    /// What it must read and write has no place.
    File {
        /// Where that should be.
        directory: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
}

impl fmt::Display for ClusterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedded(error) => write!(f, "start the embedded cluster: {error}"),
            Self::Kubeconfig(why) => {
                write!(f, "use the kubeconfig: {why}; give another with --cluster existing=KUBECONFIG")
            }
            Self::Client(error) => write!(f, "make a client of the cluster: {error}"),
            Self::NoAccount(error) => write!(
                f,
                "make an account for the subject in the cluster: {error}; whose kubeconfig it is must be an administrator"
            ),
            Self::Silent { url, why } => write!(f, "reach the cluster at {url}: {why}; is it running?"),
            Self::NotReady { url, why } => write!(f, "use the cluster at {url}: {why}"),
            Self::Definition(why) => write!(f, "define a custom resource: {why}"),
            Self::NotRealTime => {
                f.write_str("use a cluster whose clock is not ours in virtual time: give --time real")
            }
            Self::NoProgram { program, folder } => write!(
                f,
                "find the program {program} in {}: all of etcd, kube-apiserver, kube-controller-manager and \
                 kube-scheduler must be there, from one release of Kubernetes",
                folder.display()
            ),
            Self::Program { program, why } => write!(f, "run the cluster's {program}: {why}"),
            Self::File { directory, source } => {
                write!(f, "write the files of the cluster in {}: {source}", directory.display())
            }
        }
    }
}

impl std::error::Error for ClusterError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Embedded(error) => Some(error),
            Self::Client(error) | Self::NoAccount(error) => Some(error),
            Self::File { source, .. } => Some(source),
            _ => None,
        }
    }
}
