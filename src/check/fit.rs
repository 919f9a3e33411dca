//! Whether a pod would fit a node of a pool, as far as that can be told for certain.

use std::collections::BTreeMap;

use super::scene::Scene;
use crate::history::query::{CLAIM_POOL_LABEL, POOL_LABEL, Pod};
use crate::terms::{Pool, Provider, Room, Taint};

/// How taints begin that a node has until it is started.
pub(super) const STARTUP_TAINT: &str = "startup-taint.cluster-autoscaler.kubernetes.io/";
/// How taints begin that take a node out of service.
pub(super) const STATUS_TAINT: &str = "status-taint.cluster-autoscaler.kubernetes.io/";

/// Why a pod would not run on a node of a pool, or would not have one bought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Misfit {
    /// It asks for more than such a node has, even an empty one.
    Room,
    /// It asks for a label that such a node does not have.
    Selector,
    /// It does not tolerate a taint of such a node.
    Taint,
    /// Its priority is below those for which anything is bought.
    Priority,
    /// It waits for others to make room.
    Nominated,
}

/// What can be told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Fit {
    misfits: Vec<Misfit>,
    obscure: bool,
}

impl Fit {
    /// It would, for certain.
    pub(super) fn sure(&self) -> bool {
        self.misfits.is_empty() && !self.obscure
    }

    /// It would not, for certain.
    pub(super) fn impossible(&self) -> bool {
        !self.misfits.is_empty()
    }

    /// It would not, for this reason among others.
    pub(super) fn fails_by(&self, misfit: Misfit) -> bool {
        self.misfits.contains(&misfit)
    }
}

/// How a pod and a pool fit.
pub(super) fn fit(scene: &Scene<'_>, pod: &Pod, pool: &Pool) -> Fit {
    let mut fit = Fit { misfits: Vec::new(), obscure: pod.picky };
    let resident = scene.residents;
    if pod.asks.cpu_milli > pool.room.cpu_milli || pod.asks.memory_mib > pool.room.memory_mib {
        fit.misfits.push(Misfit::Room);
    } else if pod.asks.cpu_milli + resident.cpu_milli > pool.room.cpu_milli
        || pod.asks.memory_mib + resident.memory_mib > pool.room.memory_mib
    {
        fit.obscure = true;
    }
    let labels = labels(scene, pool);
    for (key, value) in &pod.selector {
        match labels.get(key.as_str()) {
            // What a pool says otherwise now and then, nobody can tell.
            _ if scene.shifting.contains(&(pool.name.clone(), key.clone())) => fit.obscure = true,
            Some(has) if has == value => {}
            None if key.contains("kubernetes.io/") || key.contains("hetzner") || key.contains("hcloud") => {
                fit.obscure = true;
            }
            _ => fit.misfits.push(Misfit::Selector),
        }
    }
    let minds = |taint: &&Taint| {
        taint.effect != "PreferNoSchedule" && !pod.tolerations.iter().any(|one| one.tolerates(taint))
    };
    for taint in pool.taints.iter().filter(minds) {
        // Startup taints go before pods come; what a status taint means for a node that is not there yet, nobody says.
        if taint.key.starts_with(STATUS_TAINT) {
            fit.obscure = true;
        } else if !taint.key.starts_with(STARTUP_TAINT) {
            fit.misfits.push(Misfit::Taint);
        }
    }
    if scene.expendable(pod) {
        fit.misfits.push(Misfit::Priority);
    }
    if pod.nominated {
        fit.misfits.push(Misfit::Nominated);
    }
    fit
}

/// How many nodes of these pools such pods need at least: all that they ask for, over the most that a node has.
pub(super) fn least(pods: &[&Pod], pools: &[&Pool]) -> usize {
    let most = |of: fn(&Room) -> u64| pools.iter().map(|pool| of(&pool.room)).max().filter(|most| *most > 0);
    let parts = |of: fn(&Room) -> u64| {
        let asked: u64 = pods.iter().map(|pod| of(&pod.asks)).sum();
        most(of).map_or(0, |most| asked.div_ceil(most))
    };
    let least = parts(|room| room.cpu_milli).max(parts(|room| room.memory_mib));
    usize::try_from(least).unwrap_or(usize::MAX)
}

/// Labels that the nodes of a pool are sure to have, and that whoever buys them can know. What a machine is called is known of
/// servers only.
fn labels<'p>(scene: &Scene<'_>, pool: &'p Pool) -> BTreeMap<&'p str, &'p str> {
    let own = pool.labels.iter().map(|(key, value)| (key.as_str(), value.as_str()));
    let mut labels: BTreeMap<&str, &str> = own.chain([("kubernetes.io/os", "linux")]).collect();
    match scene.history.header.subject.provider {
        Provider::Hetzner => labels.extend([
            (POOL_LABEL, pool.name.as_str()),
            ("node.kubernetes.io/instance-type", pool.machine.as_str()),
            ("topology.kubernetes.io/region", pool.location.as_str()),
            ("csi.hetzner.cloud/location", pool.location.as_str()),
            ("instance.hetzner.cloud/provided-by", "cloud"),
        ]),
        Provider::Karpenter => labels.extend([(CLAIM_POOL_LABEL, pool.name.as_str())]),
        Provider::Clusterapi => {}
    }
    labels
}

/// How many nodes of a pool these pods need at most: packed one after the other, the biggest first, onto the first that has
/// room; pods that keep away from each other get a node each.
pub(super) fn need(scene: &Scene<'_>, pods: &[&Pod], pool: &Pool) -> usize {
    let resident = scene.residents;
    let room = Room {
        cpu_milli: pool.room.cpu_milli.saturating_sub(resident.cpu_milli),
        memory_mib: pool.room.memory_mib.saturating_sub(resident.memory_mib),
    };
    let mut pods: Vec<&Pod> =
        pods.iter().copied().filter(|pod| !fit(scene, pod, pool).impossible()).collect();
    pods.sort_by_key(|pod| std::cmp::Reverse((pod.asks.cpu_milli, pod.asks.memory_mib)));
    let alone = pods.iter().filter(|pod| pod.apart || pod.picky).count();
    let mut nodes: Vec<Room> = Vec::new();
    for pod in pods.iter().filter(|pod| !pod.apart && !pod.picky) {
        let fits =
            |left: &&mut Room| left.cpu_milli >= pod.asks.cpu_milli && left.memory_mib >= pod.asks.memory_mib;
        if let Some(left) = nodes.iter_mut().find(fits) {
            left.cpu_milli -= pod.asks.cpu_milli;
            left.memory_mib -= pod.asks.memory_mib;
        } else {
            nodes.push(Room {
                cpu_milli: room.cpu_milli.saturating_sub(pod.asks.cpu_milli),
                memory_mib: room.memory_mib.saturating_sub(pod.asks.memory_mib),
            });
        }
    }
    nodes.len() + alone
}
