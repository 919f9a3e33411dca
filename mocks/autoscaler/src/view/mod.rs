//! The world at one moment, as plain values: what the caches held and what the cloud listed.
//!
//! Nothing here asks an API. `kubernetes::read` and `hetzner` make these values out of answers.

mod selector;

use std::collections::{BTreeMap, BTreeSet};

use mock_clock::Time;
use serde::Deserialize;

pub(crate) use selector::{Operator, Requirement, Selector};

/// The label by which a server tells its pool.
pub(crate) const POOL_LABEL: &str = "hcloud/node-group";

/// Everything a decision is made from, beside memory and settings.
#[derive(Clone, Debug)]
pub(crate) struct View {
    pub(crate) now: Time,
    pub(crate) nodes: BTreeMap<String, Node>,
    /// By namespace and name.
    pub(crate) pods: BTreeMap<String, Pod>,
    pub(crate) budgets: Vec<Budget>,
    /// Wanted replicas of the sets that own pods, by uid.
    pub(crate) replicas: BTreeMap<String, i32>,
    pub(crate) daemons: Vec<Pod>,
    /// All of the project, ours or not.
    pub(crate) servers: Vec<Server>,
    /// By name.
    pub(crate) offers: BTreeMap<String, Offer>,
    /// The map of the priority expander as it is written.
    pub(crate) priorities: Option<String>,
    /// Pools of which nothing is given back for now.
    pub(crate) kept: BTreeSet<String>,
}

/// What is asked for and what there is.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Resources {
    /// In thousandths of a core.
    pub(crate) cpu: u64,
    /// In bytes.
    pub(crate) memory: u64,
    pub(crate) pods: u64,
    /// Whatever else has a name, in whole units.
    pub(crate) other: BTreeMap<String, u64>,
}

impl Resources {
    /// Whether all of `asked` is here.
    pub(crate) fn hold(&self, asked: &Resources) -> bool {
        let has = |(name, amount): (&String, &u64)| *amount <= self.other.get(name).copied().unwrap_or(0);
        asked.cpu <= self.cpu
            && asked.memory <= self.memory
            && asked.pods <= self.pods
            && asked.other.iter().all(has)
    }

    pub(crate) fn add(&mut self, more: &Resources) {
        self.cpu += more.cpu;
        self.memory += more.memory;
        self.pods += more.pods;
        for (name, amount) in &more.other {
            *self.other.entry(name.clone()).or_default() += amount;
        }
    }

    /// Takes away what there is of it.
    pub(crate) fn take(&mut self, less: &Resources) {
        self.cpu = self.cpu.saturating_sub(less.cpu);
        self.memory = self.memory.saturating_sub(less.memory);
        self.pods = self.pods.saturating_sub(less.pods);
        for (name, amount) in &less.other {
            let left = self.other.entry(name.clone()).or_default();
            *left = left.saturating_sub(*amount);
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct Taint {
    pub(crate) key: String,
    pub(crate) value: String,
    pub(crate) effect: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Toleration {
    /// Empty tolerates every key.
    pub(crate) key: String,
    /// `None` tolerates every value.
    pub(crate) value: Option<String>,
    /// Empty tolerates every effect.
    pub(crate) effect: String,
}

impl Toleration {
    fn covers(&self, taint: &Taint) -> bool {
        (self.effect.is_empty() || self.effect == taint.effect)
            && (self.key.is_empty() || self.key == taint.key)
            && self.value.as_ref().is_none_or(|value| *value == taint.value)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) annotations: BTreeMap<String, String>,
    pub(crate) taints: Vec<Taint>,
    pub(crate) provider_id: String,
    pub(crate) cordoned: bool,
    pub(crate) ready: bool,
    pub(crate) created: Time,
    pub(crate) allocatable: Resources,
}

impl Node {
    pub(crate) fn has_taint(&self, key: &str) -> bool {
        self.taints.iter().any(|taint| taint.key == key)
    }
}

/// Who would create a pod again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    Nobody,
    /// The kubelet itself; it ends with the node.
    Mirror,
    DaemonSet,
    /// A replica set or replication controller, by uid.
    Set(String),
    Other,
}

#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact that the API tells by itself")]
pub(crate) struct Pod {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) annotations: BTreeMap<String, String>,
    pub(crate) requests: Resources,
    pub(crate) selector: BTreeMap<String, String>,
    /// Terms of which one must match; none at all is no demand.
    pub(crate) affinity: Vec<Selector>,
    pub(crate) tolerations: Vec<Toleration>,
    pub(crate) host_ports: BTreeSet<(String, i32)>,
    /// Pods it will not share a domain with.
    pub(crate) apart: Vec<Apart>,
    /// How evenly its like must be spread.
    pub(crate) spread: Vec<Spread>,
    pub(crate) priority: i32,
    pub(crate) owner: Owner,
    pub(crate) node: Option<String>,
    pub(crate) nominated: bool,
    /// The scheduler has tried and found no place.
    pub(crate) unschedulable: bool,
    pub(crate) created: Time,
    pub(crate) ended: bool,
    pub(crate) ending: bool,
    /// Names of volumes that are lost with the node.
    pub(crate) local_volumes: Vec<String>,
    pub(crate) grace_s: u64,
}

impl Pod {
    pub(crate) fn key(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }

    /// Whether it may be on a node with these taints.
    pub(crate) fn tolerates(&self, taints: &[Taint]) -> bool {
        let harmless = |taint: &Taint| taint.effect == "PreferNoSchedule";
        taints.iter().all(|taint| harmless(taint) || self.tolerations.iter().any(|t| t.covers(taint)))
    }

    /// Whether selector and required affinity choose a node with these labels.
    pub(crate) fn chooses(&self, labels: &BTreeMap<String, String>) -> bool {
        self.selector.iter().all(|(key, value)| labels.get(key) == Some(value))
            && (self.affinity.is_empty() || self.affinity.iter().any(|term| term.matches(labels)))
    }
}

/// A required anti-affinity.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Apart {
    pub(crate) namespaces: BTreeSet<String>,
    pub(crate) selector: Selector,
    pub(crate) topology_key: String,
}

impl Apart {
    pub(crate) fn means(&self, pod: &Pod) -> bool {
        self.namespaces.contains(&pod.namespace) && self.selector.matches(&pod.labels)
    }
}

/// A required spread over domains.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) selector: Selector,
    pub(crate) topology_key: String,
    pub(crate) max_skew: usize,
    /// With fewer domains, the least of them counts as empty.
    pub(crate) min_domains: usize,
}

/// A disruption budget.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Budget {
    pub(crate) namespace: String,
    pub(crate) selector: Selector,
    pub(crate) allowed: i32,
}

impl Budget {
    pub(crate) fn covers(&self, pod: &Pod) -> bool {
        self.namespace == pod.namespace && self.selector.matches(&pod.labels)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Server {
    pub(crate) id: u64,
    pub(crate) name: String,
    pub(crate) status: String,
    pub(crate) labels: BTreeMap<String, String>,
    /// What its node calls it; empty until that is known.
    pub(crate) provider_id: String,
}

/// A server type.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Offer {
    pub(crate) id: u64,
    pub(crate) name: String,
    pub(crate) resources: Resources,
    /// `x86` or `arm`.
    pub(crate) architecture: String,
    pub(crate) locations: BTreeSet<String>,
}

impl Offer {
    /// The architecture as Kubernetes calls it.
    pub(crate) fn kubernetes_architecture(&self) -> &'static str {
        if self.architecture == "arm" { "arm64" } else { "amd64" }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) const START: Time = Time::from_unix_nanos(1_767_225_600_000_000_000);

    pub(crate) fn empty() -> View {
        View {
            now: START,
            nodes: BTreeMap::new(),
            pods: BTreeMap::new(),
            budgets: Vec::new(),
            replicas: BTreeMap::new(),
            daemons: Vec::new(),
            servers: Vec::new(),
            offers: [offer("small", 22, 2), offer("big", 23, 16)].into(),
            priorities: None,
            kept: BTreeSet::new(),
        }
    }

    pub(crate) fn resources(cpu: u64, memory_gib: u64) -> Resources {
        Resources { cpu, memory: memory_gib << 30, pods: 1, other: BTreeMap::new() }
    }

    fn offer(name: &str, id: u64, cores: u64) -> (String, Offer) {
        let resources = Resources { pods: 110, ..resources(cores * 1000, cores * 2) };
        let (architecture, locations) = ("x86".to_owned(), ["fsn1".to_owned()].into());
        (name.to_owned(), Offer { id, name: name.to_owned(), resources, architecture, locations })
    }

    pub(crate) fn pod(name: &str, cpu: u64) -> Pod {
        Pod {
            namespace: "default".to_owned(),
            name: name.to_owned(),
            labels: [("app".to_owned(), "web".to_owned())].into(),
            annotations: BTreeMap::new(),
            requests: resources(cpu, 0),
            selector: BTreeMap::new(),
            affinity: Vec::new(),
            tolerations: Vec::new(),
            host_ports: BTreeSet::new(),
            apart: Vec::new(),
            spread: Vec::new(),
            priority: 0,
            owner: Owner::Set("web".to_owned()),
            node: None,
            nominated: false,
            unschedulable: true,
            created: START - std::time::Duration::from_secs(60),
            ended: false,
            ending: false,
            local_volumes: Vec::new(),
            grace_s: 30,
        }
    }

    impl View {
        /// A pod that waits.
        pub(crate) fn wait(&mut self, pod: Pod) {
            self.pods.insert(pod.key(), pod);
        }

        /// A pod on a node.
        pub(crate) fn run(&mut self, mut pod: Pod, node: &str) {
            pod.node = Some(node.to_owned());
            pod.unschedulable = false;
            self.pods.insert(pod.key(), pod);
        }

        /// A server of a pool.
        pub(crate) fn server(&mut self, id: u64, pool: &str) {
            self.servers.push(Server {
                id,
                name: format!("{pool}-{id}"),
                status: "running".to_owned(),
                labels: [(POOL_LABEL.to_owned(), pool.to_owned())].into(),
                provider_id: format!("hcloud://{id}"),
            });
        }

        /// A server of a pool and its node, which is ready.
        pub(crate) fn node(&mut self, id: u64, pool: &str, cores: u64) -> &mut Node {
            self.server(id, pool);
            let name = format!("{pool}-{id}");
            let node = Node {
                name: name.clone(),
                labels: [("kubernetes.io/hostname".to_owned(), name.clone())].into(),
                annotations: BTreeMap::new(),
                taints: Vec::new(),
                provider_id: format!("hcloud://{id}"),
                cordoned: false,
                ready: true,
                created: START - std::time::Duration::from_secs(7200),
                allocatable: Resources { pods: 110, ..resources(cores * 1000, cores * 2) },
            };
            self.nodes.entry(name).or_insert(node)
        }
    }
}
