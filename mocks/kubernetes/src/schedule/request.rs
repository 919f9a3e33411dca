//! What a pod asks for and a node has to give: cpu, memory, disk, extended resources.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Container, PodSpec};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity as Written;

use crate::quantity::Quantity;

/// What a container that names no cpu counts for when nodes are scored, in thousandths.
const UNNAMED_CPU: i64 = 100;
/// The same for memory, in bytes.
const UNNAMED_MEMORY: i64 = 200 * 1024 * 1024;

/// Amounts: cpu in thousandths, the rest in whole units.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Amounts {
    pub(super) cpu: i64,
    pub(super) memory: i64,
    pub(super) disk: i64,
    /// Extended resources and huge pages, by name.
    pub(super) other: Vec<(Box<str>, i64)>,
}

impl Amounts {
    pub(super) fn of(list: Option<&BTreeMap<String, Written>>) -> Self {
        let mut amounts = Self::default();
        for (name, quantity) in list.into_iter().flatten() {
            let quantity: Quantity = quantity.0.trim().parse().unwrap_or_default();
            amounts.set(name, &quantity);
        }
        amounts
    }

    fn set(&mut self, name: &str, quantity: &Quantity) {
        match name {
            "cpu" => self.cpu = quantity.milli(),
            "memory" => self.memory = quantity.value(),
            "ephemeral-storage" => self.disk = quantity.value(),
            _ if counted(name) => *self.other_mut(name) = quantity.value(),
            _ => {}
        }
    }

    /// How much of an extended resource.
    pub(super) fn other(&self, name: &str) -> i64 {
        let place = self.other.binary_search_by(|(own, _)| own.as_ref().cmp(name));
        place.map_or(0, |place| self.other[place].1)
    }

    fn other_mut(&mut self, name: &str) -> &mut i64 {
        let place = match self.other.binary_search_by(|(own, _)| own.as_ref().cmp(name)) {
            Ok(place) => place,
            Err(place) => {
                self.other.insert(place, (name.into(), 0));
                place
            }
        };
        &mut self.other[place].1
    }

    pub(super) fn add(&mut self, more: &Self) {
        self.combine(more, i64::saturating_add);
    }

    pub(super) fn remove(&mut self, less: &Self) {
        self.combine(less, i64::saturating_sub);
        self.other.retain(|(_, amount)| *amount != 0);
    }

    fn raise(&mut self, to: &Self) {
        self.combine(to, i64::max);
    }

    fn combine(&mut self, with: &Self, join: impl Fn(i64, i64) -> i64) {
        self.cpu = join(self.cpu, with.cpu);
        self.memory = join(self.memory, with.memory);
        self.disk = join(self.disk, with.disk);
        for (name, amount) in &with.other {
            let own = self.other_mut(name);
            *own = join(*own, *amount);
        }
    }
}

/// Whether the scheduler counts a resource that is neither cpu, memory nor disk.
fn counted(name: &str) -> bool {
    let prefixed = name.contains('/') && !name.starts_with("requests.");
    prefixed || name.starts_with("hugepages-") || name.starts_with("attachable-volumes-")
}

/// What a pod asks for: the larger of what its containers need together and what any step of its start needs, or what
/// is said for the pod as a whole; and the overhead.
pub(super) fn requests(spec: &PodSpec) -> Amounts {
    total(spec, |_, _| {})
}

/// Cpu and memory as scores count them, where a container that names none still counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Scored {
    /// While the pod looks for a node. Upstream forgets here what is said for the pod as a whole.
    pub(super) coming: (i64, i64),
    /// Once it has one.
    pub(super) placed: (i64, i64),
}

pub(super) fn scored(spec: &PodSpec) -> Scored {
    let named = |container: &Container, name: &str| {
        let requests = container.resources.as_ref().and_then(|resources| resources.requests.as_ref());
        requests.is_some_and(|requests| requests.contains_key(name))
    };
    let filled = |spec: &PodSpec, cpu: bool, memory: bool| {
        let amounts = total(spec, |container, amounts| {
            if cpu && !named(container, "cpu") {
                amounts.cpu = UNNAMED_CPU;
            }
            if memory && !named(container, "memory") {
                amounts.memory = UNNAMED_MEMORY;
            }
        });
        (amounts.cpu, amounts.memory)
    };
    let Some(whole) = spec.resources.as_ref().and_then(|resources| resources.requests.as_ref()) else {
        let both = filled(spec, true, true);
        return Scored { coming: both, placed: both };
    };
    let bare = PodSpec { resources: None, ..spec.clone() };
    let containers = || spec.containers.iter().chain(spec.init_containers.iter().flatten());
    let missing =
        |name: &str| !whole.contains_key(name) && !containers().any(|container| named(container, name));
    Scored { coming: filled(&bare, true, true), placed: filled(spec, missing("cpu"), missing("memory")) }
}

fn total(spec: &PodSpec, adjust: impl Fn(&Container, &mut Amounts)) -> Amounts {
    let of = |container: &Container| {
        let resources = container.resources.as_ref();
        let mut amounts = Amounts::of(resources.and_then(|resources| resources.requests.as_ref()));
        adjust(container, &mut amounts);
        amounts
    };
    let mut running = Amounts::default();
    for container in &spec.containers {
        running.add(&of(container));
    }
    let (mut sidecars, mut starting) = (Amounts::default(), Amounts::default());
    for container in spec.init_containers.iter().flatten() {
        let mut step = of(container);
        if is_sidecar(container) {
            running.add(&step);
            sidecars.add(&step);
            starting.raise(&sidecars);
        } else {
            step.add(&sidecars);
            starting.raise(&step);
        }
    }
    running.raise(&starting);
    let whole = spec.resources.as_ref().and_then(|resources| resources.requests.as_ref());
    for (name, quantity) in whole.into_iter().flatten() {
        if name == "cpu" || name == "memory" || name.starts_with("hugepages-") {
            running.set(name, &quantity.0.trim().parse().unwrap_or_default());
        }
    }
    running.add(&Amounts::of(spec.overhead.as_ref()));
    running
}

/// An init container that goes on running beside the others.
pub(super) fn is_sidecar(container: &Container) -> bool {
    container.restart_policy.as_deref() == Some("Always")
}
