//! Which image a server is made from or rebuilt with.

use mock_clock::Time;

use crate::call::show::gb;
use crate::call::{IdOrName, Wrong};
use crate::catalogue::ServerType;
use crate::project::Project;
use crate::resource::image::Image;

/// The image that is asked for, if a server of that type can boot from it.
pub(crate) fn bootable(
    project: &Project,
    now: Time,
    wanted: &IdOrName,
    server_type: &ServerType,
) -> Result<u64, Wrong> {
    let refuse = |message: &str| Err(Wrong::invalid("image", message));
    let Some(image) = find(project, wanted, server_type) else {
        return refuse("Unknown image.");
    };
    if image.is_over(now) {
        return refuse("The image is deprecated and no longer available.");
    }
    if image.architecture != server_type.architecture {
        return refuse("The image has another architecture than the server type.");
    }
    if !image.available {
        return refuse("The image is not available yet.");
    }
    if image.disk_gb > gb(server_type.disk) {
        return refuse("The disk of the image is larger than the disk of the server.");
    }
    Ok(image.head.id)
}

/// By its id, or by its name, which it shares with the image for the other architecture.
fn find<'a>(project: &'a Project, wanted: &IdOrName, server_type: &ServerType) -> Option<&'a Image> {
    let by_id = wanted.id().and_then(|id| project.images.find(id));
    by_id.or_else(|| {
        let named = |image: &&Image| image.head.name == wanted.0 && !wanted.0.is_empty();
        project.images.all().filter(named).find(|image| image.architecture == server_type.architecture)
    })
}
