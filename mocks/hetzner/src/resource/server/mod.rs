//! Virtual machines: what one is, and how it changes with time.
//!
//! None of them runs anything: what user data, keys and rescue systems would do in one is not simulated.

mod backup;
mod create;
mod group;
mod iso;
mod pointer;
mod power;
mod private;
mod rebuild;
mod rescue;
mod resize;
mod room;
mod show;
mod work;

use create::user_data;
pub(crate) use room::{ACTIONS, ROUTES};
pub(crate) use show::show;

use std::net::Ipv4Addr;

use mock_clock::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::call::Wrong;
use crate::project::Project;
use crate::resource::network::Membership;
use crate::resource::shelf::{Head, resource};

/// What a server does at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    pub const fn word(self) -> &'static str {
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
#[expect(clippy::struct_field_names, reason = "a server has a type, and `type` is taken")]
pub(crate) struct Server {
    pub(crate) head: Head,
    pub(crate) status: Status,
    /// Names in the catalogue.
    pub(crate) server_type: String,
    /// The type that it is about to have; it counts against the quota already.
    pub(crate) becoming: Option<String>,
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
    /// Its next boot leads into the rescue system, if it comes before this moment.
    pub(crate) rescue_until: Option<Time>,
    /// It is entered with a key, and has no password.
    pub(crate) has_key: bool,
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
    Created {
        server: u64,
        start: bool,
    },
    /// It becomes this, or that if the action fails.
    Becomes {
        server: u64,
        status: Status,
        otherwise: Status,
    },
    /// It has the type that it was becoming, and its disk, too, if that was asked for.
    Resized {
        server: u64,
        upgrade_disk: bool,
    },
    Rebuilt {
        server: u64,
        image: u64,
    },
    /// Backups are made of it in these hours, or none are.
    Backups {
        server: u64,
        window: Option<String>,
    },
    Rescue {
        server: u64,
        on: bool,
    },
    /// Nobody has used the rescue system.
    RescueLapses {
        server: u64,
    },
    /// This is in its drive, by name, or nothing is.
    Disc {
        server: u64,
        iso: Option<String>,
    },
    Grouped {
        server: u64,
        group: u64,
    },
    Ungrouped {
        server: u64,
    },
    /// It has the wanted addresses; or those from before, if the action fails.
    Aliased {
        server: u64,
        network: u64,
        wanted: Vec<Ipv4Addr>,
        before: Vec<Ipv4Addr>,
    },
}

impl Effect {
    pub(crate) fn settle(self, project: &mut Project, now: Time, success: bool) {
        match self {
            Self::Created { server, start } => {
                let status = if start { Status::Starting } else { Status::Off };
                become_status(project, now, server, if success { status } else { Status::Off });
            }
            Self::Becomes { server, status: Status::Running, .. } if success => {
                boot(project, now, server);
            }
            Self::Becomes { server, status, otherwise } => {
                become_status(project, now, server, if success { status } else { otherwise });
            }
            Self::Resized { server, upgrade_disk } => {
                resize::settle(project, now, server, upgrade_disk, success);
            }
            Self::Rebuilt { server, image } => rebuild::settle(project, now, server, image, success),
            Self::Grouped { server, group } => group::joined(project, server, group, success),
            Self::Aliased { server, network, wanted, before } => {
                private::alias(project, server, network, if success { wanted } else { before });
            }
            // Nothing was reserved for the others.
            _ if !success => {}
            Self::Backups { server, window } => backup::settle(project, now, server, window),
            Self::Rescue { server, on } => rescue::settle(project, now, server, on),
            Self::RescueLapses { server } => rescue::lapse(project, now, server),
            Self::Disc { server, iso } => iso::settle(project, server, iso),
            Self::Ungrouped { server } => group::left(project, server),
        }
    }
}

/// Sets the status of a server that is still there, unless a trouble holds it where it is.
pub(crate) fn become_status(project: &mut Project, now: Time, id: u64, status: Status) {
    if !project.may_become(now, id, status) {
        return;
    }
    if let Some(server) = project.servers.find_mut(id) {
        server.status = status;
    }
}

/// A server is on. Whatever it booted into, the next boot leads to its disk again.
pub(crate) fn boot(project: &mut Project, now: Time, id: u64) {
    if let Some(server) = project.servers.find_mut(id) {
        server.rescue_until = None;
    }
    become_status(project, now, id, Status::Running);
}

/// Refuses a server that is not off.
pub(crate) fn stopped(server: &Server) -> Result<(), Wrong> {
    match server.status {
        Status::Off => Ok(()),
        _ => Err(Wrong::new("server_not_stopped", "server is not stopped")),
    }
}
