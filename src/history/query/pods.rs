//! Pods, as far as an autoscaler has to look at them.

use std::collections::BTreeMap;
use std::time::Duration;

use mock_clock::Time;
use serde_json::Value;

use super::Tracks;
use super::quantity::room;
use super::track::Seen;
use crate::history::{Change, History, ObjectEvent, What};
use crate::terms::{Room, Taint};

/// So many seconds a pod may take to end that does not say.
const GRACE_S: u64 = 30;

/// A pod at a moment.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a question of its own that an autoscaler has to ask"
)]
pub struct Pod {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// When it came into being, to the second.
    pub created: Option<Time>,
    /// Its phase.
    pub phase: String,
    /// The node it is bound to.
    pub node: Option<String>,
    /// The scheduler has found no node for it.
    pub unschedulable: bool,
    /// The node it will get when others have made room.
    pub nominated: bool,
    /// Kind and name of what controls it.
    pub owner: Option<(String, String)>,
    /// Its priority.
    pub priority: i64,
    /// It stands in a file of its node, not in the cluster.
    pub mirror: bool,
    /// Somebody has told it to end.
    pub ending: bool,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Its annotations.
    pub annotations: BTreeMap<String, String>,
    /// Its volumes by name.
    pub volumes: BTreeMap<String, Mount>,
    /// What it asks for.
    pub asks: Room,
    /// Labels that its node must have.
    pub selector: BTreeMap<String, String>,
    /// Taints it does not mind.
    pub tolerations: Vec<Toleration>,
    /// How long it may take to end; half a minute, if it does not say.
    pub grace: Duration,
    /// It keeps away from other pods.
    pub apart: bool,
    /// It wants of its node what this value does not tell: affinity, spreading, claims, ports.
    pub picky: bool,
}

/// Where a volume of a pod lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mount {
    /// On the disk of the node: `hostPath`, or `emptyDir` that is not in memory.
    Local,
    /// Elsewhere, or in no place at all.
    Elsewhere,
}

/// A taint that a pod does not mind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toleration {
    /// This key; any, if empty.
    pub key: String,
    /// This value; any, if there is none.
    pub value: Option<String>,
    /// This effect; any, if empty.
    pub effect: String,
}

impl Toleration {
    /// Whether it is about a taint.
    pub fn tolerates(&self, taint: &Taint) -> bool {
        (self.key.is_empty() || self.key == taint.key)
            && self.value.as_ref().is_none_or(|value| *value == taint.value)
            && (self.effect.is_empty() || self.effect == taint.effect)
    }
}

impl Pod {
    /// Namespace and name.
    pub fn key(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }

    /// Whether it has come to its own end.
    pub fn finished(&self) -> bool {
        self.phase == "Succeeded" || self.phase == "Failed"
    }

    /// Whether it waits for a node.
    pub fn waits(&self) -> bool {
        self.unschedulable && self.node.is_none() && !self.finished() && !self.ending
    }

    /// Whether it belongs to its node and goes with it: of a daemon set, or a mirror.
    pub fn resident(&self) -> bool {
        self.mirror || self.owner.as_ref().is_some_and(|(kind, _)| kind == "DaemonSet")
    }

    /// Whether its annotation says that it may be evicted, if it says so or the contrary.
    pub fn safe_to_evict(&self) -> Option<bool> {
        self.annotations.get("cluster-autoscaler.kubernetes.io/safe-to-evict")?.parse().ok()
    }

    /// Whether it makes a node needed: it is bound there, not over, and no resident.
    pub fn occupies(&self, node: &str) -> bool {
        self.node.as_deref() == Some(node) && !self.finished() && !self.resident()
    }
}

/// The tracks of all pods, by namespace and name.
pub fn pods(history: &History) -> Tracks<String, Pod> {
    objects(history, "Pod", |object| Some(read(object)))
}

/// The tracks of the objects of a kind.
pub(super) fn objects<T>(
    history: &History,
    kind: &str,
    read: impl Fn(&ObjectEvent) -> Option<T>,
) -> Tracks<String, T> {
    let mut tracks: Tracks<String, T> = Tracks::new();
    for (event, happened) in history.events.iter().enumerate() {
        let What::Object(object) = &happened.what else { continue };
        if object.kind != kind {
            continue;
        }
        let key = match object.namespace.as_str() {
            "" => object.name.clone(),
            namespace => format!("{namespace}/{}", object.name),
        };
        let state = if object.change == Change::Deleted { None } else { read(object) };
        tracks.entry(key).or_default().seen.push(Seen { event, at: happened.at, state });
    }
    tracks
}

fn read(event: &ObjectEvent) -> Pod {
    let (meta, spec, status) = (&event.object["metadata"], &event.object["spec"], &event.object["status"]);
    let owner = list(&meta["ownerReferences"]).iter().find(|owner| owner["controller"] == true);
    let said = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let annotations = strings(&meta["annotations"]);
    Pod {
        namespace: event.namespace.clone(),
        name: event.name.clone(),
        created: moment(&meta["creationTimestamp"]),
        phase: said(&status["phase"]),
        node: spec["nodeName"].as_str().filter(|node| !node.is_empty()).map(str::to_owned),
        unschedulable: list(&status["conditions"]).iter().any(|condition| {
            condition["type"] == "PodScheduled"
                && condition["status"] == "False"
                && condition["reason"] == "Unschedulable"
        }),
        nominated: status["nominatedNodeName"].as_str().is_some_and(|node| !node.is_empty()),
        owner: owner.map(|owner| (said(&owner["kind"]), said(&owner["name"]))),
        priority: spec["priority"].as_i64().unwrap_or(0),
        mirror: annotations.contains_key("kubernetes.io/config.mirror"),
        ending: !meta["deletionTimestamp"].is_null(),
        labels: strings(&meta["labels"]),
        volumes: list(&spec["volumes"]).iter().map(|volume| (said(&volume["name"]), mount(volume))).collect(),
        asks: asks(spec),
        selector: strings(&spec["nodeSelector"]),
        tolerations: list(&spec["tolerations"]).iter().map(toleration).collect(),
        grace: Duration::from_secs(spec["terminationGracePeriodSeconds"].as_u64().unwrap_or(GRACE_S)),
        apart: !spec["affinity"]["podAntiAffinity"].is_null(),
        picky: picky(spec),
        annotations,
    }
}

fn mount(volume: &Value) -> Mount {
    let in_memory = volume["emptyDir"]["medium"] == "Memory";
    if !volume["hostPath"].is_null() || (!volume["emptyDir"].is_null() && !in_memory) {
        Mount::Local
    } else {
        Mount::Elsewhere
    }
}

/// Containers run together; those before them one at a time.
pub(super) fn asks(spec: &Value) -> Room {
    let mut asks = Room::default();
    for container in list(&spec["containers"]) {
        asks = asks + room(&container["resources"]["requests"]);
    }
    for container in list(&spec["initContainers"]) {
        let one = room(&container["resources"]["requests"]);
        asks = Room {
            cpu_milli: asks.cpu_milli.max(one.cpu_milli),
            memory_mib: asks.memory_mib.max(one.memory_mib),
        };
    }
    asks
}

pub(super) fn toleration(toleration: &Value) -> Toleration {
    let said = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let exists = toleration["operator"] == "Exists";
    Toleration {
        key: said(&toleration["key"]),
        value: (!exists).then(|| said(&toleration["value"])),
        effect: said(&toleration["effect"]),
    }
}

pub(super) fn picky(spec: &Value) -> bool {
    let affinity = &spec["affinity"];
    let hard_spread = |spread: &Value| spread["whenUnsatisfiable"] != "ScheduleAnyway";
    let claim = |volume: &Value| !volume["persistentVolumeClaim"].is_null() || !volume["ephemeral"].is_null();
    let port = |container: &Value| list(&container["ports"]).iter().any(|port| !port["hostPort"].is_null());
    !affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"].is_null()
        || !affinity["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"].is_null()
        || list(&spec["topologySpreadConstraints"]).iter().any(hard_spread)
        || list(&spec["volumes"]).iter().any(claim)
        || list(&spec["containers"]).iter().any(port)
        || !list(&spec["resourceClaims"]).is_empty()
}

/// A list, or nothing.
pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A map of texts.
pub(super) fn strings(value: &Value) -> BTreeMap<String, String> {
    let entries = value.as_object().into_iter().flatten();
    entries.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
}

/// A moment as objects tell it.
pub(super) fn moment(value: &Value) -> Option<Time> {
    value.as_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pod(object: Value) -> Pod {
        read(&ObjectEvent {
            change: Change::Added,
            kind: "Pod".into(),
            namespace: "default".into(),
            name: "web".into(),
            object,
        })
    }

    #[test]
    fn a_pod_is_read_from_its_object() {
        let pod = pod(json!({
            "metadata": {
                "annotations": {"kubernetes.io/config.mirror": "x"},
                "ownerReferences": [{"kind": "ReplicaSet", "name": "web", "controller": true}],
            },
            "spec": {
                "priority": -100,
                "nodeSelector": {"disk": "fast"},
                "volumes": [{"name": "a", "hostPath": {}}, {"name": "b", "emptyDir": {"medium": "Memory"}}],
                "containers": [{"resources": {"requests": {"cpu": "500m", "memory": "1Gi"}}}],
                "initContainers": [{"resources": {"requests": {"cpu": "1"}}}],
                "tolerations": [{"key": "gpu", "operator": "Exists"}],
            },
            "status": {
                "phase": "Pending",
                "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}],
            },
        }));
        assert!(
            pod.waits() && pod.mirror && pod.resident() && !pod.picky && !pod.apart && !pod.occupies("n")
        );
        assert_eq!(pod.asks, Room { cpu_milli: 1000, memory_mib: 1024 });
        assert_eq!((pod.volumes["a"], pod.volumes["b"]), (Mount::Local, Mount::Elsewhere));
        assert_eq!(pod.owner, Some(("ReplicaSet".into(), "web".into())));
        assert_eq!((pod.priority, &*pod.selector["disk"]), (-100, "fast"));
        assert_eq!(pod.tolerations[0], Toleration { key: "gpu".into(), value: None, effect: String::new() });
    }

    #[test]
    fn a_pod_occupies_its_node_until_it_is_over() {
        let on_node = |phase: &str, kind: &str| {
            pod(json!({
                "metadata": {"ownerReferences": [{"kind": kind, "name": "x", "controller": true}]},
                "spec": {"nodeName": "n"}, "status": {"phase": phase},
            }))
            .occupies("n")
        };
        assert!(on_node("Running", "ReplicaSet") && on_node("Pending", "Job"));
        assert!(!on_node("Succeeded", "Job") && !on_node("Running", "DaemonSet"));
    }
}
