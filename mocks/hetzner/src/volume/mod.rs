//! Disks over the network.

use mock_clock::Time;
use serde::{Deserialize, Serialize};

use crate::action::{Begun, Undertaking};
use crate::kind::Kind;
use crate::project::Project;
use crate::shelf::{Head, resource};
use crate::wrong::Wrong;

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

/// Refuses a volume that a server of that location cannot get.
pub(crate) fn attachable(project: &Project, id: u64, location: &str) -> Result<(), Wrong> {
    let volume = project.volumes.get(id)?;
    if volume.server.is_some() {
        return Err(Wrong::new(
            "volume_already_attached",
            format!("volume with ID {id} is already attached"),
        ));
    }
    if volume.location != location {
        return Err(Wrong::invalid("volumes", "The volume is in another location than the server."));
    }
    Ok(())
}

/// Begins to attach a volume to a server that is ready for it from a moment on.
pub(crate) fn attach(
    project: &mut Project,
    now: Time,
    id: u64,
    server: u64,
    _automount: bool,
    from: Time,
) -> Begun {
    let undertaking =
        Undertaking::on("attach_volume", Kind::Volume, id).with(Kind::Server, server).after(from);
    project.begin(now, undertaking)
}
