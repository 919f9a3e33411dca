//! Public addresses that move between servers: what one is, and how it changes with time.
//!
//! Nothing is routed: it leads to a server because it says so.

mod assign;
mod room;
mod show;
#[cfg(test)]
mod tests;

pub(crate) use room::{ACTIONS, ROUTES};

use std::net::IpAddr;

use mock_clock::Time;
use serde::{Deserialize, Serialize};

use crate::project::Project;
use crate::resource::public_ip::{Names, Renaming};
use crate::resource::shelf::{Head, resource};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct FloatingIp {
    pub(crate) head: Head,
    pub(crate) description: Option<String>,
    pub(crate) v4: bool,
    /// The address, or for version 6 the first of its network.
    pub(crate) ip: IpAddr,
    /// Where it is at home. It may lead elsewhere.
    pub(crate) location: String,
    /// To which it leads, or is about to.
    pub(crate) server: Option<u64>,
    /// Names set for addresses.
    pub(crate) dns_ptr: Names,
}

resource!(FloatingIp, FloatingIp);

/// How a floating IP changes by the end of an action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Effect {
    /// It leads to the server since the request, and where it led before if the action fails.
    Assigned {
        id: u64,
        server: u64,
        before: Option<u64>,
    },
    Unassigned {
        id: u64,
    },
    Renamed {
        id: u64,
        renaming: Renaming,
    },
}

impl Effect {
    pub(crate) fn settle(self, project: &mut Project, _now: Time, success: bool) {
        let (Self::Assigned { id, .. } | Self::Unassigned { id } | Self::Renamed { id, .. }) = self;
        let Some(ip) = project.floating_ips.find_mut(id) else { return };
        match self {
            Self::Assigned { server, before, .. } if !success && ip.server == Some(server) => {
                ip.server = before.filter(|before| project.servers.find(*before).is_some());
            }
            Self::Unassigned { .. } if success => ip.server = None,
            Self::Renamed { renaming, .. } if success => renaming.apply(&mut ip.dns_ptr),
            _ => {}
        }
    }
}
