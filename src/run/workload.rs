//! A workload of the plan as the world makes it.

use crate::plan::{Apart, Span, VolumeSpec, Workload, WorkloadKind};
use crate::terms::Room;
use crate::world;

pub(super) fn made(workload: &Workload) -> world::Workload {
    let room = Room { cpu_milli: workload.cpu_milli, memory_mib: workload.memory_mib };
    world::Workload {
        namespace: workload.namespace.clone(),
        owner: match workload.kind {
            WorkloadKind::Deployment => world::Owner::Deployment,
            WorkloadKind::DaemonSet => world::Owner::DaemonSet,
            WorkloadKind::Bare => world::Owner::Nobody,
            WorkloadKind::Job => world::Owner::Job,
            WorkloadKind::StatefulSet => world::Owner::StatefulSet,
        },
        node_selector: workload.node_selector.clone(),
        tolerates: workload.tolerates.clone(),
        annotations: workload.annotations.clone(),
        volumes: workload.volumes.iter().map(volume).collect(),
        priority: workload.priority,
        scheduler: workload.scheduler.clone(),
        apart: workload.apart.map(|apart| match apart {
            Apart::Required => world::Apart::Required,
            Apart::Preferred => world::Apart::Preferred,
        }),
        max_unavailable: workload.max_unavailable,
        // In a plan all spans are periods.
        ends_in: workload.ends_in.and_then(|span| match span {
            Span::Fixed(period) => Some(period.0),
            Span::Timer { .. } => None,
        }),
        ..world::Workload::new(&workload.name, workload.pods, room)
    }
}

fn volume(volume: &VolumeSpec) -> world::Volume {
    match volume {
        VolumeSpec::EmptyDir(name) => world::Volume::Scratch(name.clone()),
        VolumeSpec::EmptyDirInMemory(name) => world::Volume::Memory(name.clone()),
        VolumeSpec::HostPath(path) => world::Volume::HostPath(path.clone()),
    }
}
