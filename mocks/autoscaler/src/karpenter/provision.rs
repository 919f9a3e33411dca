//! Claims for pods that wait: as few as take them all, from the pool of the highest weight that takes each.

use std::time::Duration;

use kube::api::{Api, ObjectMeta, PostParams};
use mock_clock::Time;
use serde_json::{Value, json};

use super::lifecycle::{own_labels, taints};
use super::machines::Machine;
use super::objects::{DISRUPTED, HASH, NodeClaim, NodePool, POOL, TYPE};
use super::{Karpenter, Sight, has_taint, is_pinned, is_resident, name_of};
use crate::defect::Defect;
use crate::kubernetes::{Refusal, read};
use crate::quantity::milli;
use crate::simulate::{Place, Room};
use crate::view::{Pod, Taint};

/// A batch is over when nothing was added for so long,
const IDLE: Duration = Duration::from_secs(1);
/// and at the latest after so long.
const LONGEST: Duration = Duration::from_secs(10);
/// How long a node is kept for a pod that is meant for it.
const NOMINATION: Duration = Duration::from_secs(20);

/// A claim that is to be made.
struct Wish {
    pool: String,
    machine: Machine,
}

impl Karpenter {
    pub(super) async fn provision(&mut self, sight: &Sight) -> Result<(), Refusal> {
        let known = std::mem::take(&mut self.memory.waiting);
        let mut pods: Vec<Pod> = sight.pods.iter().filter(|pod| self.waits(pod)).cloned().collect();
        for pod in &pods {
            let since = known.get(&pod.key()).copied().unwrap_or(sight.now);
            self.memory.waiting.insert(pod.key(), since);
        }
        self.memory.nominated.retain(|_, until| sight.now < *until);
        let first = self.memory.waiting.values().min().copied();
        let last = self.memory.waiting.values().max().copied();
        let ripe = |(first, last): (Time, Time)| sight.now >= last + IDLE || sight.now >= first + LONGEST;
        let waiting = first.zip(last).is_some_and(ripe);
        if self.has(Defect::IgnoresPendingPods) || !waiting {
            pods.clear();
        }
        pods.extend(self.movers(sight));
        if pods.is_empty() {
            return Ok(());
        }
        for wish in self.wishes(sight, pods) {
            self.make_claim(sight, &wish.pool, &wish.machine).await?;
        }
        Ok(())
    }

    fn waits(&self, pod: &Pod) -> bool {
        let told = pod.unschedulable || self.has(Defect::BuysForUntoldPods);
        let nominated = pod.nominated && !self.has(Defect::BuysForNominatedPods);
        pod.node.is_none() && told && !nominated && !pod.ended && !pod.ending
    }

    /// Pods of nodes that are going will wait soon; but those that may not leave will not.
    fn movers(&self, sight: &Sight) -> Vec<Pod> {
        let going = sight.nodes.values().filter(|node| node.metadata.deletion_timestamp.is_some());
        let stays = |pod: &&Pod| {
            let stuck = is_pinned(pod) || sight.is_blocked(pod);
            !stuck || self.has(Defect::BuysForStuckPods)
        };
        let pods = going.flat_map(|node| sight.tenants(name_of(node)));
        pods.filter(|pod| !pod.ending).filter(stays).cloned().collect()
    }

    /// What must be bought that all pods have a place.
    fn wishes(&mut self, sight: &Sight, mut pods: Vec<Pod>) -> Vec<Wish> {
        pods.sort_by_key(|pod| std::cmp::Reverse((pod.requests.cpu, pod.requests.memory)));
        let mut room = self.room(sight);
        let mut pools: Vec<&NodePool> = sight.pools.values().collect();
        pools.sort_by_key(|pool| std::cmp::Reverse(pool.spec["weight"].as_i64().unwrap_or(0)));
        let mut wishes: Vec<Wish> = Vec::new();
        for pod in &pods {
            if let Some(there) = room.put(pod, |_| true) {
                let until = sight.now + NOMINATION;
                self.memory.nominated.insert(room.places[there].name.clone(), until);
                continue;
            }
            for pool in &pools {
                let Some(machine) = self.fitting(sight, pool, pod, &mut room, &wishes) else { continue };
                wishes.push(Wish { pool: pool.name().to_owned(), machine });
                break;
            }
        }
        wishes
    }

    /// The smallest machine of a pool that takes a pod, and that the limits still allow; with the pod put there.
    fn fitting(
        &self,
        sight: &Sight,
        pool: &NodePool,
        pod: &Pod,
        room: &mut Room,
        wishes: &[Wish],
    ) -> Option<Machine> {
        let left = self.left(sight, pool, wishes);
        for machine in machines(pool).into_iter().filter(|machine| machine.has.cpu <= left) {
            let name = format!("{}-new-{}", pool.name(), room.places.len());
            let mut place = empty(sight, pool, &machine, &name);
            let impossible = self.has(Defect::BuysForImpossiblePods) && pod.requests.cpu > place.free.cpu;
            if self.has(Defect::IgnoresNodeSelector) {
                place.labels.extend(pod.selector.clone());
            }
            if self.has(Defect::IgnoresPoolTaints) {
                place.taints.clear();
            }
            room.places.push(place);
            let last = room.places.len() - 1;
            if room.fits(pod, last) || impossible {
                room.places[last].put(pod);
                return Some(machine);
            }
            room.places.pop();
        }
        None
    }

    /// Whether a pool may get one more such machine.
    pub(super) fn limits_allow(&self, sight: &Sight, pool: &str, machine: &Machine) -> bool {
        sight.pools.get(pool).is_some_and(|pool| machine.has.cpu <= self.left(sight, pool, &[]))
    }

    /// How many thousandths of a processor a pool may still get.
    fn left(&self, sight: &Sight, pool: &NodePool, wishes: &[Wish]) -> u64 {
        let Some(limit) = quantity(&pool.spec["limits"]["cpu"]).filter(|_| !self.has(Defect::IgnoresMax))
        else {
            return u64::MAX;
        };
        let of_claims = sight.claims.values().filter(|claim| claim.pool() == pool.name());
        let there: u64 =
            of_claims.filter_map(|claim| Machine::named(claim.machine()?)).map(|it| it.has.cpu).sum();
        let wanted: u64 =
            wishes.iter().filter(|wish| wish.pool == pool.name()).map(|wish| wish.machine.has.cpu).sum();
        limit.saturating_sub(there + wanted)
    }

    /// All places that there are, or that are on their way.
    pub(super) fn room(&self, sight: &Sight) -> Room {
        let mut room = Room::default();
        for node in sight.nodes.values().filter(|node| node.metadata.deletion_timestamp.is_none()) {
            let claim = sight
                .claims
                .values()
                .find(|claim| sight.node_of(claim).is_some_and(|it| name_of(it) == name_of(node)));
            let starting = claim.is_some_and(|claim| !claim.is("Initialized"));
            if claim.is_some_and(NodeClaim::is_ending)
                || has_taint(node, DISRUPTED)
                || (starting && self.has(Defect::DoubleBuysWhileUpcoming))
            {
                continue;
            }
            let read = read::node(node);
            let mut place = Place {
                name: read.name.clone(),
                labels: read.labels,
                taints: if starting { Vec::new() } else { read.taints },
                closed: read.cordoned || (!starting && !read.ready),
                upcoming: starting,
                free: read.allocatable,
                pods: Vec::new(),
                wanted: false,
            };
            if let Some(claim) = claim.filter(|_| starting) {
                place.taints = taints(&claim.spec["taints"]).into_iter().map(plain).collect();
                reserve(sight, &mut place);
            }
            let on = |pod: &&Pod| {
                pod.node.as_deref() == Some(&*read.name) && !pod.ended && !(starting && is_resident(pod))
            };
            sight.pods.iter().filter(on).for_each(|pod| place.put(pod));
            room.places.push(place);
        }
        for claim in
            sight.claims.values().filter(|claim| !claim.is_ending() && sight.node_of(claim).is_none())
        {
            let pool = sight.pools.get(claim.pool());
            let machine = claim.machine().and_then(Machine::named);
            if let Some((pool, machine)) =
                pool.zip(machine).filter(|_| !self.has(Defect::DoubleBuysWhileUpcoming))
            {
                room.places.push(empty(sight, pool, &machine, claim.name()));
            }
        }
        room
    }

    pub(super) async fn make_claim(
        &self,
        sight: &Sight,
        pool: &str,
        machine: &Machine,
    ) -> Result<Option<String>, Refusal> {
        let Some(pool) = sight.pools.get(pool) else { return Ok(None) };
        let template = &pool.spec["template"];
        let mut labels = own_labels(machine, "");
        labels.retain(|key, _| key != "kubernetes.io/hostname");
        labels.insert(POOL.to_owned(), pool.name().to_owned());
        for (key, value) in template["metadata"]["labels"].as_object().into_iter().flatten() {
            labels.insert(key.clone(), value.as_str().unwrap_or_default().to_owned());
        }
        let mut spec = template["spec"].clone();
        for requirement in spec["requirements"].as_array_mut().into_iter().flatten() {
            if requirement["key"] == TYPE {
                requirement["values"] = json!([machine.name]);
            }
        }
        let metadata = ObjectMeta {
            generate_name: Some(format!("{}-", pool.name())),
            labels: Some(labels),
            annotations: Some([(HASH.to_owned(), hash(pool))].into()),
            ..ObjectMeta::default()
        };
        let claims: Api<NodeClaim> = Api::all(self.client.client.clone());
        let made =
            self.client.ask(claims.create(&PostParams::default(), &NodeClaim::new(metadata, spec))).await?;
        Ok(made.metadata.name)
    }
}

/// A new node of a pool, with its daemons.
fn empty(sight: &Sight, pool: &NodePool, machine: &Machine, name: &str) -> Place {
    let template = &pool.spec["template"];
    let mut labels = own_labels(machine, name);
    labels.insert(POOL.to_owned(), pool.name().to_owned());
    for (key, value) in template["metadata"]["labels"].as_object().into_iter().flatten() {
        labels.insert(key.clone(), value.as_str().unwrap_or_default().to_owned());
    }
    let taints = taints(&template["spec"]["taints"]).into_iter().map(plain).collect();
    let free = machine.has.clone();
    let mut place = Place {
        name: name.to_owned(),
        labels,
        taints,
        closed: false,
        upcoming: true,
        free,
        pods: Vec::new(),
        wanted: false,
    };
    reserve(sight, &mut place);
    place
}

/// Takes away what daemons will need there.
fn reserve(sight: &Sight, place: &mut Place) {
    let there = |daemon: &&Pod| daemon.chooses(&place.labels) && daemon.tolerates(&place.taints);
    let daemons: Vec<Pod> = sight.daemons.iter().filter(there).cloned().collect();
    for daemon in &daemons {
        place.free.take(&daemon.requests);
    }
}

fn plain(taint: k8s_openapi::api::core::v1::Taint) -> Taint {
    Taint { key: taint.key, value: taint.value.unwrap_or_default(), effect: taint.effect }
}

/// The machines that a pool may have, the smallest first.
pub(super) fn machines(pool: &NodePool) -> Vec<Machine> {
    let requirements = pool.spec["template"]["spec"]["requirements"].as_array().into_iter().flatten();
    let named = requirements
        .filter(|it| it["key"] == TYPE)
        .flat_map(|it| it["values"].as_array().into_iter().flatten());
    let mut machines: Vec<Machine> = named.filter_map(|name| Machine::named(name.as_str()?)).collect();
    machines.sort_by_key(|machine| (machine.has.cpu, machine.has.memory));
    machines
}

/// What the nodes of a pool are like, in short.
pub(super) fn hash(pool: &NodePool) -> String {
    let template = pool.spec["template"].to_string();
    let hash = template.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

fn quantity(value: &Value) -> Option<u64> {
    value.as_str().map(milli).or_else(|| value.as_u64().map(|whole| whole * 1000))
}
