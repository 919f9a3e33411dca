//! What servers boot from: images of the system and of apps, which everybody has, and snapshots and backups, which are
//! made of servers.
//!
//! Nothing is on them. How large one is, is drawn.

mod boot;
mod made;
mod room;
mod show;
mod stock;

pub(crate) use boot::bootable;
pub(crate) use made::{Effect, forget, of_server};
pub(crate) use room::{ACTIONS, ROUTES};
pub(crate) use show::show;
pub(crate) use stock::stock;

use mock_clock::Time;
use serde::{Deserialize, Serialize};

use crate::catalogue::{Architecture, Deprecation};
use crate::resource::shelf::{Head, resource};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Image {
    /// Snapshots and backups have no name.
    pub(crate) head: Head,
    pub(crate) kind: ImageKind,
    pub(crate) description: String,
    /// Still being written otherwise.
    pub(crate) available: bool,
    /// How much room it takes, in hundredths of a GB. None for those that everybody has.
    pub(crate) size_hundredths: Option<u32>,
    /// The least disk it needs, in GB.
    pub(crate) disk_gb: f64,
    pub(crate) created_from: Option<Source>,
    /// The server that it is a backup of, and with which it goes.
    pub(crate) bound_to: Option<u64>,
    pub(crate) os_flavor: String,
    pub(crate) os_version: Option<String>,
    pub(crate) architecture: Architecture,
    pub(crate) rapid_deploy: bool,
    pub(crate) deprecation: Option<Deprecation>,
}

resource!(Image, Image);

/// The server that an image was made of, which may be gone since.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Source {
    pub(crate) id: u64,
    pub(crate) name: String,
}

/// What the API calls the type of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ImageKind {
    System,
    App,
    Snapshot,
    Backup,
}

impl ImageKind {
    /// The word of the wire.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::App => "app",
            Self::Snapshot => "snapshot",
            Self::Backup => "backup",
        }
    }

    /// Whether it belongs to the project, which may change and delete it.
    pub(crate) const fn is_own(self) -> bool {
        matches!(self, Self::Snapshot | Self::Backup)
    }
}

impl Image {
    /// The word of the wire.
    pub(crate) const fn status(&self) -> &'static str {
        if self.available { "available" } else { "creating" }
    }

    /// It was told that it will go.
    pub(crate) fn is_deprecated(&self, now: Time) -> bool {
        self.deprecation.is_some_and(|it| it.announced <= now)
    }

    /// It cannot be had any more. Servers that have it keep it.
    pub(crate) fn is_over(&self, now: Time) -> bool {
        self.deprecation.is_some_and(|it| it.is_over(now))
    }
}

#[cfg(test)]
mod tests;
