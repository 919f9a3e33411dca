//! A cluster that somebody else runs, by its kubeconfig. Its control plane keeps real time, so the run must, too.
//!
//! Nothing is started, and nothing is ended; the subject gets an account, which is taken back.

use std::path::PathBuf;

use kube::config::Kubeconfig;
use mock_clock::VirtualClock;

use super::identity::Identity;
use super::readiness::until_ready;
use super::{Access, Cluster, ClusterError, Pending};

/// Any cluster with a kubeconfig.
#[derive(Clone, Debug)]
pub struct Existing {
    kubeconfig: PathBuf,
    identity: Option<Identity>,
}

impl Existing {
    /// The one that the current context of this file leads to.
    pub fn new(kubeconfig: impl Into<PathBuf>) -> Self {
        Self { kubeconfig: kubeconfig.into(), identity: None }
    }
}

impl Cluster for Existing {
    fn start<'a>(&'a mut self, clock: &'a VirtualClock) -> Pending<'a, Result<Access, ClusterError>> {
        Box::pin(async move {
            if !clock.status().is_real() {
                return Err(ClusterError::NotRealTime);
            }
            let no_use =
                |why: String| ClusterError::Kubeconfig(format!("{}: {why}", self.kubeconfig.display()));
            let text =
                std::fs::read_to_string(&self.kubeconfig).map_err(|error| no_use(error.to_string()))?;
            // Read by its path, so that the files it names are found beside it.
            let kubeconfig =
                Kubeconfig::read_from(&self.kubeconfig).map_err(|error| no_use(error.to_string()))?;
            let mut access = Access::new("existing", kubeconfig, text).await?;
            until_ready(&access, clock).await?;
            let identity = Identity::make(access.client()?).await.map_err(ClusterError::NoAccount)?;
            access.subject_token = Some(identity.token.clone());
            self.identity = Some(identity);
            Ok(access)
        })
    }

    fn stop(self: Box<Self>) -> Pending<'static, ()> {
        Box::pin(async move {
            if let Some(identity) = self.identity {
                identity.remove().await;
            }
        })
    }
}
