//! What spreads connections over servers.

use serde::{Deserialize, Serialize};

use crate::network::Membership;
use crate::shelf::{Head, resource};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LoadBalancer {
    pub(crate) head: Head,
    pub(crate) networks: Vec<Membership>,
}

resource!(LoadBalancer, LoadBalancer);

impl LoadBalancer {
    /// Whether a server is among its targets, by its id.
    pub(crate) fn targets_server(&self, _server: u64) -> bool {
        false
    }

    /// Whether one of its services proves its name with a certificate.
    pub(crate) fn uses_certificate(&self, _certificate: u64) -> bool {
        false
    }

    /// Its targets are out of reach.
    pub(crate) fn forget_private_targets(&mut self) {}

    /// A server is gone.
    pub(crate) fn forget(&mut self, _server: u64) {}
}
