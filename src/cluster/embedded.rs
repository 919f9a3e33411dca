//! Our own control plane in this process, on the clock of the run.

use kube::config::Kubeconfig;
use mock_clock::VirtualClock;
use mock_kubernetes::ControlPlane;

use super::readiness::until_ready;
use super::{Access, Cluster, ClusterError, Pending};

/// A control plane of `mock-kubernetes`.
#[derive(Debug)]
pub struct Embedded {
    seed: u64,
    plane: Option<ControlPlane>,
}

impl Embedded {
    /// One whose draws follow from a seed.
    pub fn new(seed: u64) -> Self {
        Self { seed, plane: None }
    }
}

impl Cluster for Embedded {
    fn start<'a>(&'a mut self, clock: &'a VirtualClock) -> Pending<'a, Result<Access, ClusterError>> {
        Box::pin(async move {
            let builder = ControlPlane::builder().clock(clock.clone()).seed(self.seed);
            let plane = builder.start().await.map_err(ClusterError::Embedded)?;
            let text = plane.kubeconfig();
            let kubeconfig =
                Kubeconfig::from_yaml(&text).map_err(|error| ClusterError::Kubeconfig(error.to_string()))?;
            let access = Access::new("embedded", kubeconfig, text).await?;
            until_ready(&access, clock).await?;
            self.plane = Some(plane);
            Ok(access)
        })
    }

    fn stop(self: Box<Self>) -> Pending<'static, ()> {
        Box::pin(async move {
            if let Some(plane) = self.plane {
                plane.stop().await;
            }
        })
    }
}
