//! Our own control plane in this process, on the clock of the run.

use kube::config::Kubeconfig;
use mock_clock::VirtualClock;
use mock_kubernetes::ControlPlane;

use super::readiness::until_ready;
use super::{Access, Cluster, ClusterError, Pending};

/// As whom the subject calls.
const SUBJECT: &str = "system:serviceaccount:kube-system:cluster-autoscaler";

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
            let token = format!("subject-{:016x}", self.seed ^ 0x5ca1_e9b0_0f5e_ed01);
            let builder = ControlPlane::builder().clock(clock.clone()).seed(self.seed);
            let builder = builder.token(&token, SUBJECT, &["system:masters"]);
            let plane = builder.start().await.map_err(ClusterError::Embedded)?;
            let text = plane.kubeconfig();
            let kubeconfig =
                Kubeconfig::from_yaml(&text).map_err(|error| ClusterError::Kubeconfig(error.to_string()))?;
            let mut access = Access::new("embedded", kubeconfig, text).await?;
            access.subject_token = Some(token);
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
