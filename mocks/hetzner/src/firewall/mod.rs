//! Rules for what may pass, and to whom they apply.

use serde::{Deserialize, Serialize};

use crate::project::Project;
use crate::selector::Selector;
use crate::server::Server;
use crate::shelf::{Head, resource};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Firewall {
    pub(crate) head: Head,
    /// Servers it was applied to by their ids.
    pub(crate) servers: Vec<u64>,
    /// Label selectors whose servers it applies to.
    pub(crate) selectors: Vec<String>,
}

resource!(Firewall, Firewall);

impl Firewall {
    /// Whether it applies to a server.
    pub(crate) fn guards(&self, server: &Server) -> bool {
        let selects =
            |text: &String| Selector::parse(text).is_ok_and(|selector| selector.matches(&server.head.labels));
        self.servers.contains(&server.head.id) || self.selectors.iter().any(selects)
    }
}

/// A server is gone.
pub(crate) fn forget(project: &mut Project, server: u64) {
    for firewall in project.firewalls.all_mut() {
        firewall.servers.retain(|id| *id != server);
    }
}
