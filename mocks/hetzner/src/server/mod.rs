//! Virtual machines: what one is, and how it changes with time.

mod create;
mod power;
mod room;
mod show;

use room::hostname;
pub(crate) use room::{ACTIONS, ROUTES, remove};
pub(crate) use show::show;

use mock_clock::Time;
use serde::{Deserialize, Serialize};

use crate::network::Membership;
use crate::project::Project;
use crate::shelf::{Head, resource};

/// What a server does at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It is being created.
    Initializing,
    /// It boots.
    Starting,
    /// It is on.
    Running,
    /// It is being switched off.
    Stopping,
    /// It is off.
    Off,
    /// It is being deleted.
    Deleting,
    /// Its disk is being written anew.
    Rebuilding,
    /// It moves to another host.
    Migrating,
    /// Nobody knows.
    Unknown,
}

impl Status {
    /// The word of the wire.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Initializing => "initializing",
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Stopping => "stopping",
            Self::Off => "off",
            Self::Deleting => "deleting",
            Self::Rebuilding => "rebuilding",
            Self::Migrating => "migrating",
            Self::Unknown => "unknown",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Server {
    pub(crate) head: Head,
    pub(crate) status: Status,
    /// Names in the catalogue.
    pub(crate) server_type: String,
    pub(crate) location: String,
    pub(crate) image: Option<u64>,
    /// The primary IPs it has.
    pub(crate) ipv4: Option<u64>,
    pub(crate) ipv6: Option<u64>,
    pub(crate) networks: Vec<Membership>,
    pub(crate) placement_group: Option<u64>,
    /// Protected against being rebuilt.
    pub(crate) rebuild_kept: bool,
    /// Its backups are made in these hours.
    pub(crate) backup_window: Option<String>,
    pub(crate) rescue: bool,
    /// The ISO that is attached, by its name.
    pub(crate) iso: Option<String>,
    pub(crate) disk_gb: u64,
}

resource!(Server, Server);

/// How a server changes by the end of an action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Effect {
    /// It was created; it boots if that was asked for.
    Created { server: u64, start: bool },
    /// It becomes this, or that if the action fails.
    Becomes { server: u64, status: Status, otherwise: Status },
}

impl Effect {
    pub(crate) fn settle(self, project: &mut Project, now: Time, success: bool) {
        match self {
            Self::Created { server, start } => {
                let status = if start { Status::Starting } else { Status::Off };
                become_status(project, now, server, if success { status } else { Status::Off });
            }
            Self::Becomes { server, status, otherwise } => {
                become_status(project, now, server, if success { status } else { otherwise });
            }
        }
    }
}

/// Sets the status of a server that is still there.
pub(crate) fn become_status(project: &mut Project, _now: Time, id: u64, status: Status) {
    if let Some(server) = project.servers.find_mut(id) {
        server.status = status;
    }
}
