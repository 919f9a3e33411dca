//! A volume as the API shows it.

use serde_json::{Value, json};

use crate::call::show::moment;
use crate::project::Project;
use crate::resource::offer;
use crate::resource::volume::Volume;

pub(super) fn show(project: &Project, volume: &Volume) -> Value {
    json!({
        "id": volume.head.id,
        "name": volume.head.name,
        "labels": volume.head.labels,
        "created": moment(volume.head.created),
        "size": volume.size_gb,
        "status": volume.status(),
        "server": volume.server,
        "location": project.catalogue.location(&volume.location).map(offer::show_location),
        "linux_device": format!("/dev/disk/by-id/scsi-0HC_Volume_{}", volume.head.id),
        "format": volume.format,
        "protection": {"delete": volume.head.kept},
    })
}
