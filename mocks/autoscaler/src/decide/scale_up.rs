//! What to buy: for pods that wait, or to fill a pool to its minimum.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Duration;

use super::expander::{Expander, Way};
use super::standing::{Stage, Standing};
use super::{Buy, CANDIDATE, Decision, TO_BE_DELETED, counts};
use crate::defect::Defect;
use crate::memory::Memory;
use crate::settings::{Pool, Settings, span};
use crate::simulate::{Place, Room};
use crate::view::{Pod, Resources, Taint, View};

/// Pods younger than this may still find a place by themselves.
const SETTLING: Duration = Duration::from_secs(2);
const DELAY: &str = "cluster-autoscaler.kubernetes.io/pod-scale-up-delay";
/// How long a node must exist before others are expected to be like it.
const MODEL_AGE: Duration = Duration::from_secs(60);

pub(super) fn scale_up(
    view: &View,
    memory: &mut Memory,
    settings: &Settings,
    expander: &mut Expander,
    standings: &mut BTreeMap<String, Standing>,
    room: &mut Room,
    decision: &mut Decision,
) {
    let needy = needy(view, settings, room);
    let mut budget = Budget::of(view, settings, standings);
    let unknown = settings.pools.values().any(|pool| !view.offers.contains_key(&pool.server_type));
    let stopped = settings.has(Defect::BrokenPoolStopsAll) && unknown;
    if !needy.is_empty() && !settings.has(Defect::IgnoresPendingPods) && !stopped {
        let ways = ways(view, memory, settings, standings, room, &needy, &budget);
        decision.hopeless = hopeless(&needy, &ways);
        if let Some(way) = expander.choose(ways, view.priorities.as_deref(), settings) {
            let buy = Buy { pool: way.pool, count: way.count, from: 0, pods: way.pods };
            commit(view, memory, standings, buy, decision);
            return;
        }
        if settings.has(Defect::BuysForImpossiblePods)
            && let Some((pool, _)) = standings.iter().find(|(name, s)| s.size() < settings.pools[*name].max)
        {
            let buy = Buy { pool: pool.clone(), count: 1, from: 0, pods: vec![needy[0].key()] };
            commit(view, memory, standings, buy, decision);
            return;
        }
    }
    fill(view, memory, settings, standings, &mut budget, decision);
}

/// Notes a purchase where it counts.
fn commit(
    view: &View,
    memory: &mut Memory,
    standings: &mut BTreeMap<String, Standing>,
    mut buy: Buy,
    decision: &mut Decision,
) {
    let Some(standing) = standings.get_mut(&buy.pool) else { return };
    buy.from = standing.size();
    standing.in_flight += buy.count;
    memory.awaited.insert(buy.pool.clone(), view.now);
    memory.last_scale_up = Some(view.now);
    decision.buys.push(buy);
}

/// The pods for which there is no room, neither here nor on its way. The others are put where they fit.
fn needy(view: &View, settings: &Settings, room: &mut Room) -> Vec<Pod> {
    let mut needy = Vec::new();
    // As they were packed when machines were bought for them.
    let mut pods: Vec<&Pod> = view.pods.values().collect();
    pods.sort_by_key(|pod| Reverse((pod.requests.cpu, pod.requests.memory)));
    for pod in pods {
        let waits = pod.node.is_none() && pod.unschedulable && !pod.ending && counts(pod, settings);
        if !waits || (pod.nominated && !settings.has(Defect::BuysForNominatedPods)) {
            continue;
        }
        match room.put(pod, |_| true) {
            Some(index) => room.places[index].wanted = true,
            None if old_enough(pod, view, settings) => needy.push(pod.clone()),
            None => {}
        }
    }
    needy
}

fn old_enough(pod: &Pod, view: &View, settings: &Settings) -> bool {
    let own = pod.annotations.get(DELAY).and_then(|text| span(text).ok());
    let delay = own.unwrap_or(settings.arguments.new_pod_scale_up_delay);
    let delay = if settings.has(Defect::IgnoresScaleUpDelay) { Duration::ZERO } else { delay };
    view.now.since(pod.created) >= delay.max(SETTLING)
}

/// Those that no way leads to.
fn hopeless(needy: &[Pod], ways: &[Way]) -> Vec<(String, String)> {
    let helped = |pod: &Pod| ways.iter().any(|way| way.pods.contains(&pod.key()));
    let why = || "pod didn't trigger scale-up: no pool can take it".to_owned();
    needy.iter().filter(|pod| !helped(pod)).map(|pod| (pod.key(), why())).collect()
}

/// The pools that would help.
fn ways(
    view: &View,
    memory: &Memory,
    settings: &Settings,
    standings: &BTreeMap<String, Standing>,
    room: &Room,
    needy: &[Pod],
    budget: &Budget,
) -> Vec<Way> {
    let mut ways = Vec::new();
    for (name, standing) in standings {
        let pool = &settings.pools[name];
        if memory.is_left_alone(view.now, name) {
            continue;
        }
        // A pool whose machines nobody can describe is no way, and stops no other.
        let Some(template) = template(view, settings, pool, standing) else { continue };
        let Some(offer) = view.offers.get(&pool.server_type) else { continue };
        let max = if settings.has(Defect::IgnoresMax) { usize::MAX } else { pool.max };
        let limit =
            max.saturating_sub(standing.bulk()).min(budget.machines(&offer.resources)).min(needy.len());
        let unselective = |pod: &Pod| Pod { selector: BTreeMap::new(), affinity: Vec::new(), ..pod.clone() };
        let (count, taken) = if settings.has(Defect::IgnoresNodeSelector) {
            room.pack(&template, &needy.iter().map(unselective).collect::<Vec<_>>(), limit)
        } else {
            room.pack(&template, needy, limit)
        };
        if count > 0 {
            let mut asked = Resources::default();
            for pod in &taken {
                asked.add(&pod.requests);
            }
            let pods = taken.iter().map(Pod::key).collect();
            ways.push(Way { pool: name.clone(), count, each: offer.resources.clone(), asked, pods });
        }
    }
    ways
}

/// Fills pools to their minimum, if that is wanted.
fn fill(
    view: &View,
    memory: &mut Memory,
    settings: &Settings,
    standings: &mut BTreeMap<String, Standing>,
    budget: &mut Budget,
    decision: &mut Decision,
) {
    let wanted = (settings.arguments.enforce_node_group_min_size && !settings.has(Defect::NeverFillsMin))
        || settings.has(Defect::FillsMinWithoutFlag);
    let back = settings.has(Defect::BuysBackWhatItRemoved) && memory.last_removal > memory.last_scale_up;
    if !wanted && !back {
        return;
    }
    for pool in settings.pools.values() {
        let Some(offer) = view.offers.get(&pool.server_type) else { continue };
        let standing = &standings[&pool.name];
        let missing = pool.min.saturating_sub(standing.size()).max(usize::from(back));
        let missing = missing.min(pool.max.saturating_sub(standing.bulk()));
        let count = missing.min(budget.machines(&offer.resources));
        if count > 0 && !memory.is_left_alone(view.now, &pool.name) {
            budget.spend(count, &offer.resources);
            let buy = Buy { pool: pool.name.clone(), count, from: 0, pods: Vec::new() };
            commit(view, memory, standings, buy, decision);
        }
    }
}

/// What may still be bought in the whole cluster.
struct Budget {
    machines: u64,
    cpu: u64,
    memory: u64,
}

impl Budget {
    fn of(view: &View, settings: &Settings, standings: &BTreeMap<String, Standing>) -> Self {
        let arguments = &settings.arguments;
        let (mut machines, mut cpu, mut memory) = (view.nodes.len() as u64, 0, 0);
        for node in view.nodes.values() {
            cpu += node.allocatable.cpu;
            memory += node.allocatable.memory;
        }
        for (name, standing) in standings {
            let nodeless = standing.machines.iter().filter(|machine| machine.node.is_none());
            let coming = (nodeless.count() + standing.in_flight) as u64;
            machines += coming;
            if let Some(offer) = view.offers.get(&settings.pools[name].server_type) {
                cpu += coming * offer.resources.cpu;
                memory += coming * offer.resources.memory;
            }
        }
        let mut left = Self {
            machines: u64::MAX,
            cpu: (arguments.cores_total.1 * 1000).saturating_sub(cpu),
            memory: (arguments.memory_total.1 << 30).saturating_sub(memory),
        };
        if arguments.max_nodes_total > 0 && !settings.has(Defect::IgnoresNodesTotal) {
            left.machines = arguments.max_nodes_total.saturating_sub(machines);
        }
        if settings.has(Defect::IgnoresCoresTotal) {
            (left.cpu, left.memory) = (u64::MAX, u64::MAX);
        }
        left
    }

    /// How many machines of this size.
    fn machines(&self, each: &Resources) -> usize {
        let by = |have: u64, each: u64| have / each.max(1);
        let count = self.machines.min(by(self.cpu, each.cpu)).min(by(self.memory, each.memory));
        usize::try_from(count).unwrap_or(usize::MAX)
    }

    fn spend(&mut self, count: usize, each: &Resources) {
        let count = count as u64;
        self.machines = self.machines.saturating_sub(count);
        self.cpu = self.cpu.saturating_sub(count * each.cpu);
        self.memory = self.memory.saturating_sub(count * each.memory);
    }
}

/// A node of this pool as it will be: like one that is there, or like what was configured.
pub(super) fn template(view: &View, settings: &Settings, pool: &Pool, standing: &Standing) -> Option<Place> {
    let offer =
        view.offers.get(&pool.server_type).filter(|offer| offer.locations.contains(&pool.location))?;
    let ready = standing.machines.iter().filter(|machine| machine.stage == Stage::Ready);
    let mut models = ready.filter_map(|machine| view.nodes.get(machine.node.as_ref()?));
    let model = models.find(|node| view.now.since(node.created) >= MODEL_AGE && node.ready);
    let configured = BTreeMap::from(
        [
            ("kubernetes.io/os", "linux"),
            ("kubernetes.io/arch", offer.kubernetes_architecture()),
            ("beta.kubernetes.io/instance-type", &pool.server_type),
            ("node.kubernetes.io/instance-type", &pool.server_type),
            ("topology.kubernetes.io/region", &pool.location),
            ("csi.hetzner.cloud/location", &pool.location),
            ("instance.hetzner.cloud/provided-by", "cloud"),
            (crate::view::POOL_LABEL, &pool.name),
        ]
        .map(|(key, value)| (key.to_owned(), value.to_owned())),
    );
    // What only the cloud says of its machines, others do not.
    let of_the_cloud =
        |key: &str| key.contains("hetzner") || key.starts_with("topology.") || key.contains("instance-type");
    let configured =
        configured.into_iter().filter(|(key, _)| !pool.location.is_empty() || !of_the_cloud(key));
    let configured = configured.chain(pool.labels.clone());
    let passing = |taint: &Taint| {
        [TO_BE_DELETED, CANDIDATE].contains(&taint.key.as_str())
            || taint.key.starts_with("node.kubernetes.io/")
            || taint.key.starts_with("startup-taint.")
            || taint.key.starts_with("status-taint.")
            || settings.arguments.startup_taint.contains(&taint.key)
    };
    let (labels, taints, free) = match model {
        Some(node) => (node.labels.clone(), &node.taints, node.allocatable.clone()),
        None => (configured.collect(), &pool.taints, offer.resources.clone()),
    };
    let mut taints: Vec<Taint> = taints.iter().filter(|taint| !passing(taint)).cloned().collect();
    if settings.has(Defect::IgnoresPoolTaints) {
        taints.clear();
    }
    let name = format!("template-{}", pool.name);
    let mut place =
        Place { name, labels, taints, closed: false, upcoming: false, free, pods: Vec::new(), wanted: false };
    if !settings.has(Defect::ForgetsDaemonSets) {
        for daemon in &view.daemons {
            if daemon.chooses(&place.labels) && daemon.tolerates(&place.taints) {
                place.put(daemon);
            }
        }
    }
    Some(place)
}
