//! An image as the API shows it.

use serde_json::{Value, json};

use crate::call::show::moment;
use crate::profile::Profile;
use crate::project::Project;
use crate::resource::image::Image;

pub(crate) fn show(project: &Project, image: &Image) -> Value {
    let name = Some(&image.head.name).filter(|name| !name.is_empty());
    let source = image.created_from.as_ref().map(|source| json!({"id": source.id, "name": source.name}));
    let mut shown = json!({
        "id": image.head.id,
        "type": image.kind.word(),
        "status": image.status(),
        "name": name,
        "description": image.description,
        "image_size": image.size_hundredths.map(|size| f64::from(size) / 100.0),
        "disk_size": image.disk_gb,
        "created": moment(image.head.created),
        "created_from": source,
        "bound_to": image.bound_to,
        "os_flavor": image.os_flavor,
        "os_version": image.os_version,
        "architecture": image.architecture.as_str(),
        "rapid_deploy": image.rapid_deploy,
        "protection": {"delete": image.head.kept},
        "deprecated": image.deprecation.map(|it| moment(it.announced)),
        "deleted": null,
        "labels": image.head.labels,
    });
    // Shown beside the older field, which says less, as long as both are.
    if project.profile >= Profile::Current {
        shown["deprecation"] = image.deprecation.map_or(Value::Null, |it| {
            json!({"announced": moment(it.announced), "unavailable_after": moment(it.unavailable_after)})
        });
    }
    shown
}
