//! What servers boot from: images of the system, snapshots and backups.

use mock_clock::Time;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::call::IdOrName;
use crate::catalogue::ServerType;
use crate::project::Project;
use crate::shelf::{Head, resource};
use crate::wrong::Wrong;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Image {
    pub(crate) head: Head,
}

resource!(Image, Image);

/// The image that is asked for, if a server of that type can boot from it.
pub(crate) fn bootable(
    project: &Project,
    _now: Time,
    wanted: &IdOrName,
    _server_type: &ServerType,
) -> Result<u64, Wrong> {
    let found = wanted.id().and_then(|id| project.images.find(id));
    found.map(|image| image.head.id).ok_or_else(|| Wrong::invalid("image", "Unknown image."))
}

/// An image as the API shows it.
pub(crate) fn show(_project: &Project, image: &Image) -> Value {
    json!({"id": image.head.id})
}
