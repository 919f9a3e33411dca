//! Rows of volumes, their classes and drivers, and of devices.

use serde_json::Value;

use super::view::{Cells, View, or_none};

pub(super) fn printer(shelf: &str) -> Option<fn(View<'_>) -> Cells> {
    Some(match shelf {
        "persistentvolumes" => volume,
        "persistentvolumeclaims" => claim,
        "storageclasses.storage.k8s.io" => storage_class,
        "volumeattributesclasses.storage.k8s.io" => {
            |view| vec![view.name(), view.text("/driverName").into(), view.age()]
        }
        "volumeattachments.storage.k8s.io" => volume_attachment,
        "csinodes.storage.k8s.io" => |view| vec![view.name(), view.count("/spec/drivers").into(), view.age()],
        "csidrivers.storage.k8s.io" => csi_driver,
        "deviceclasses.resource.k8s.io" | "resourceclaimtemplates.resource.k8s.io" => {
            |view| vec![view.name(), view.age()]
        }
        "resourceclaims.resource.k8s.io" => resource_claim,
        "resourceslices.resource.k8s.io" => resource_slice,
        _ => return None,
    })
}

fn volume(view: View<'_>) -> Cells {
    let claim = view.at("/spec/claimRef").map(|claim| view.part(claim));
    let claim = claim.map(|claim| format!("{}/{}", claim.text("/namespace"), claim.text("/name")));
    vec![
        view.name(),
        view.plain("/spec/capacity/storage", "0").into(),
        access_modes(view, "/spec/accessModes").into(),
        view.text("/spec/persistentVolumeReclaimPolicy").into(),
        phase(view),
        claim.unwrap_or_default().into(),
        class(view).into(),
        view.plain("/spec/volumeAttributesClassName", "<unset>").into(),
        view.text("/status/reason").into(),
        view.age(),
        view.plain("/spec/volumeMode", "<unset>").into(),
    ]
}

fn claim(view: View<'_>) -> Cells {
    let volume = view.text("/spec/volumeName");
    let (capacity, modes) = if volume.is_empty() {
        (String::new(), String::new())
    } else {
        (view.plain("/status/capacity/storage", "0"), access_modes(view, "/status/accessModes"))
    };
    vec![
        view.name(),
        phase(view),
        volume.into(),
        capacity.into(),
        modes.into(),
        class(view).into(),
        view.plain("/spec/volumeAttributesClassName", "<unset>").into(),
        view.age(),
        view.plain("/spec/volumeMode", "<unset>").into(),
    ]
}

fn phase(view: View<'_>) -> Value {
    if view.is_deleted() { "Terminating".into() } else { view.text("/status/phase").into() }
}

/// The class of a volume or a claim; an old annotation goes before the field.
fn class(view: View<'_>) -> String {
    let annotation = "/metadata/annotations/volume.beta.kubernetes.io~1storage-class";
    view.plain(annotation, view.text("/spec/storageClassName"))
}

fn access_modes(view: View<'_>, pointer: &str) -> String {
    let modes = view.list(pointer);
    let short = [
        ("ReadWriteOnce", "RWO"),
        ("ReadOnlyMany", "ROX"),
        ("ReadWriteMany", "RWX"),
        ("ReadWriteOncePod", "RWOP"),
    ];
    let given = short.iter().filter(|(long, _)| modes.iter().any(|mode| mode == long));
    given.map(|(_, short)| *short).collect::<Vec<_>>().join(",")
}

fn storage_class(view: View<'_>) -> Cells {
    let marks = ["storageclass.kubernetes.io", "storageclass.beta.kubernetes.io"];
    let default = marks
        .iter()
        .any(|mark| view.text(&format!("/metadata/annotations/{mark}~1is-default-class")) == "true");
    let name = view.text("/metadata/name");
    vec![
        if default { format!("{name} (default)").into() } else { name.into() },
        view.text("/provisioner").into(),
        view.or("/reclaimPolicy", "Delete").into(),
        view.or("/volumeBindingMode", "Immediate").into(),
        view.flag("/allowVolumeExpansion", false).into(),
        view.age(),
    ]
}

fn volume_attachment(view: View<'_>) -> Cells {
    vec![
        view.name(),
        view.text("/spec/attacher").into(),
        view.text("/spec/source/persistentVolumeName").into(),
        view.text("/spec/nodeName").into(),
        view.flag("/status/attached", false).into(),
        view.age(),
    ]
}

fn csi_driver(view: View<'_>) -> Cells {
    let audiences = view.at("/spec/tokenRequests").map(|_| {
        let requests = view.list("/spec/tokenRequests").iter();
        requests.map(|request| request["audience"].as_str().unwrap_or_default()).collect::<Vec<_>>().join(",")
    });
    vec![
        view.name(),
        view.flag("/spec/attachRequired", true).into(),
        view.flag("/spec/podInfoOnMount", false).into(),
        view.flag("/spec/storageCapacity", false).into(),
        audiences.unwrap_or_else(|| "<unset>".to_owned()).into(),
        view.flag("/spec/requiresRepublish", false).into(),
        or_none(view.joined("/spec/volumeLifecycleModes")).into(),
        view.age(),
    ]
}

fn resource_claim(view: View<'_>) -> Cells {
    let allocated = view.at("/status/allocation").is_some();
    let states = [
        (view.is_deleted(), "deleted"),
        (!allocated && !view.is_deleted(), "pending"),
        (allocated, "allocated"),
        (allocated && view.count("/status/reservedFor") > 0, "reserved"),
    ];
    let states: Vec<&str> = states.iter().filter(|(holds, _)| *holds).map(|(_, word)| *word).collect();
    vec![view.name(), states.join(",").into(), view.age()]
}

fn resource_slice(view: View<'_>) -> Cells {
    vec![
        view.name(),
        view.text("/spec/nodeName").into(),
        view.text("/spec/driver").into(),
        view.text("/spec/pool/name").into(),
        view.age(),
    ]
}
