//! Disks over the network: what one is, and how it comes to servers and changes with time.
//!
//! Nothing can be written to one, and nothing mounts or formats it.

mod attach;
mod room;
mod show;
#[cfg(test)]
mod tests;

pub(crate) use attach::{all_attachable, attach};
pub(crate) use room::{ACTIONS, ROUTES};

use mock_clock::Time;
use serde::{Deserialize, Serialize};

use crate::project::Project;
use crate::resource::Kind;
use crate::resource::shelf::{Head, resource};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Volume {
    pub(crate) head: Head,
    pub(crate) size_gb: u64,
    pub(crate) location: String,
    /// To which it is attached, or is being.
    pub(crate) server: Option<u64>,
    pub(crate) format: Option<String>,
    /// Being created otherwise.
    pub(crate) available: bool,
}

resource!(Volume, Volume);

impl Volume {
    /// The word of the wire.
    fn status(&self) -> &'static str {
        if self.available { "available" } else { "creating" }
    }
}

/// How a volume changes by the end of an action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Effect {
    /// It can be used. One whose creation fails never can.
    Created {
        id: u64,
    },
    /// The server has it since the request, and has it no more if the action fails.
    Attached {
        id: u64,
        server: u64,
    },
    Detached {
        id: u64,
        server: u64,
    },
    Resized {
        id: u64,
        size_gb: u64,
    },
}

impl Effect {
    pub(crate) fn settle(self, project: &mut Project, now: Time, success: bool) {
        let (Self::Created { id }
        | Self::Attached { id, .. }
        | Self::Detached { id, .. }
        | Self::Resized { id, .. }) = self;
        let Some(volume) = project.volumes.find_mut(id) else { return };
        match self {
            Self::Created { .. } => volume.available = success,
            Self::Attached { server, .. } if !success => attach::part(volume, server),
            Self::Detached { server, .. } if success => attach::part(volume, server),
            Self::Resized { size_gb, .. } if success => {
                volume.size_gb = size_gb;
                project.repriced(now, Kind::Volume, id);
            }
            _ => {}
        }
    }
}
