//! The cluster as it is at the moment, by the recorder's own watches: what a run waits for is asked here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::watch;

/// Where kubelets keep their leases.
pub(super) const NODE_LEASES: &str = "kube-node-lease";

/// Namespace and name.
pub(super) type Key = (String, String);

/// Objects by kind.
type Objects = BTreeMap<String, BTreeMap<Key, Value>>;

/// The cluster as it is.
#[derive(Clone, Debug, Default)]
pub struct Live {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    objects: Mutex<Objects>,
    changed: watch::Sender<u64>,
}

/// How the pods of a workload are. A pod that is ending counts by its phase, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PodCount {
    /// All of them.
    pub all: u32,
    /// Those that run, are ready, and have not been told to end.
    pub running: u32,
    /// Those that wait, for a node or on one.
    pub pending: u32,
    /// Those of which the scheduler says that they fit nowhere.
    pub unschedulable: u32,
    /// Those that have been told to end.
    pub ending: u32,
}

impl Live {
    fn objects(&self) -> MutexGuard<'_, Objects> {
        self.shared.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn put(&self, kind: &str, key: Key, object: Option<Value>) {
        let mut objects = self.objects();
        let of_kind = objects.entry(kind.to_owned()).or_default();
        match object {
            Some(object) => of_kind.insert(key, object),
            None => of_kind.remove(&key),
        };
        drop(objects);
        self.shared.changed.send_modify(|count| *count += 1);
    }

    /// Tells each time that something has changed.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.shared.changed.subscribe()
    }

    /// How the pods with this label are, in all namespaces.
    pub fn pods(&self, label: &str, value: &str) -> PodCount {
        self.count(|pod| pod["metadata"]["labels"][label] == value)
    }

    /// How all pods are.
    pub fn all_pods(&self) -> PodCount {
        self.count(|_| true)
    }

    fn count(&self, which: impl Fn(&Value) -> bool) -> PodCount {
        let mut count = PodCount::default();
        for pod in self.objects().get("Pod").into_iter().flat_map(BTreeMap::values).filter(|pod| which(pod)) {
            count.all += 1;
            let phase = pod["status"]["phase"].as_str().unwrap_or("Pending");
            let ending = !pod["metadata"]["deletionTimestamp"].is_null();
            let unschedulable = condition(pod, "PodScheduled")
                .is_some_and(|it| it["status"] == "False" && it["reason"] == "Unschedulable");
            count.ending += u32::from(ending);
            count.pending += u32::from(phase == "Pending");
            count.unschedulable += u32::from(unschedulable);
            count.running += u32::from(phase == "Running" && !ending && is_true(pod, "Ready"));
        }
        count
    }

    /// Names of the nodes with this label: which are ready, and take pods.
    pub fn nodes(&self, label: &str, value: &str) -> BTreeMap<String, bool> {
        let objects = self.objects();
        let nodes = objects
            .get("Node")
            .into_iter()
            .flatten()
            .filter(|(_, it)| it["metadata"]["labels"][label] == value);
        nodes.map(|((_, name), node)| (name.clone(), is_true(node, "Ready"))).collect()
    }

    /// So many nodes with this label are ready.
    pub fn ready_nodes(&self, label: &str, value: &str) -> usize {
        self.nodes(label, value).values().filter(|ready| **ready).count()
    }

    /// Nodes counted by this label; those without it under an empty name.
    pub fn nodes_by(&self, label: &str) -> BTreeMap<String, u32> {
        let mut count = BTreeMap::new();
        for node in self.objects().get("Node").into_iter().flat_map(BTreeMap::values) {
            let value = node["metadata"]["labels"][label].as_str().unwrap_or_default();
            *count.entry(value.to_owned()).or_default() += 1;
        }
        count
    }

    /// So many leases belong to nodes that are no more.
    pub fn stray_leases(&self) -> usize {
        let objects = self.objects();
        let names = |kind: &str| objects.get(kind).into_iter().flat_map(BTreeMap::keys);
        let nodes: BTreeSet<&str> = names("Node").map(|(_, name)| name.as_str()).collect();
        let leases = names("Lease").filter(|(namespace, _)| namespace == NODE_LEASES);
        leases.filter(|(_, name)| !nodes.contains(name.as_str())).count()
    }

    /// An object of the kinds that are watched, as it is.
    pub fn object(&self, kind: &str, namespace: &str, name: &str) -> Option<Value> {
        self.objects().get(kind)?.get(&(namespace.to_owned(), name.to_owned())).cloned()
    }
}

fn condition<'a>(object: &'a Value, kind: &str) -> Option<&'a Value> {
    object["status"]["conditions"].as_array()?.iter().find(|it| it["type"] == kind)
}

fn is_true(object: &Value, kind: &str) -> bool {
    condition(object, kind).is_some_and(|it| it["status"] == "True")
}
