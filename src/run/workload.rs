//! A workload of the plan as the world makes it.

use std::time::Duration;

use crate::plan::{Apart, LabelRequirement, Span, Spread, VolumeSpec, Workload, WorkloadKind};
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
        ends_in: workload.ends_in.and_then(period),
        grace: workload.grace.and_then(period),
        node_affinity: workload.node_affinity.iter().map(required).collect(),
        spread: workload.spread.as_ref().map(spread),
        ..world::Workload::new(&workload.name, workload.pods, room)
    }
}

/// In a plan all spans are periods.
fn period(span: Span) -> Option<Duration> {
    match span {
        Span::Fixed(period) => Some(period.0),
        Span::Timer { .. } => None,
    }
}

fn required(of: &LabelRequirement) -> world::LabelRequirement {
    let LabelRequirement { key, operator, values } = of.clone();
    world::LabelRequirement { key, operator, values }
}

fn spread(of: &Spread) -> world::Spread {
    world::Spread { over: of.over.clone(), max_skew: of.max_skew, must: !of.preferred }
}

fn volume(volume: &VolumeSpec) -> world::Volume {
    match volume {
        VolumeSpec::EmptyDir(name) => world::Volume::Scratch(name.clone()),
        VolumeSpec::EmptyDirInMemory(name) => world::Volume::Memory(name.clone()),
        VolumeSpec::HostPath(path) => world::Volume::HostPath(path.clone()),
    }
}
