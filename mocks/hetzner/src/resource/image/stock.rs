//! The images that everybody has, from the catalogue onto the shelf of a new project.

use mock_clock::Time;

use crate::catalogue;
use crate::project::{Happening, Project};
use crate::resource::image::{Image, ImageKind};
use crate::resource::shelf::{Head, Labels};

/// Puts them all, with the ids that they have in the catalogue.
pub(crate) fn stock(project: &mut Project, now: Time) {
    let catalogue = project.catalogue.clone();
    for sold in &catalogue.images {
        project.images.put(image(sold));
        // Lists change when one is announced to go, and when it goes.
        for moment in sold.deprecation.iter().flat_map(|it| [it.announced, it.unavailable_after]) {
            if moment > now {
                project.timeline.plan(moment, Happening::SightChanges);
            }
        }
    }
}

fn image(sold: &catalogue::Image) -> Image {
    let kind = match sold.kind {
        catalogue::ImageKind::System => ImageKind::System,
        catalogue::ImageKind::App => ImageKind::App,
    };
    let head = Head {
        id: sold.id,
        name: sold.name.clone(),
        labels: Labels::new(),
        created: sold.created,
        kept: false,
    };
    Image {
        head,
        kind,
        description: sold.description.clone(),
        available: true,
        size_hundredths: None,
        disk_gb: sold.disk_size,
        created_from: None,
        bound_to: None,
        os_flavor: sold.os_flavor.clone(),
        os_version: sold.os_version.clone(),
        architecture: sold.architecture,
        rapid_deploy: sold.rapid_deploy,
        deprecation: sold.deprecation,
    }
}
