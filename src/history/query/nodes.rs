//! Nodes, as far as an autoscaler has to look at them.

use std::collections::BTreeMap;

use mock_clock::Time;
use serde_json::Value;

use super::Tracks;
use super::claims::numbers_by_machine;
use super::pods::{list, moment, objects, strings};
use super::quantity::room;
use crate::history::{History, ObjectEvent};
use crate::terms::{Room, Taint};

/// The taint with which cluster-autoscaler begins to remove a node.
pub const REMOVAL_TAINT: &str = "ToBeDeletedByClusterAutoscaler";
/// The taint with which it says that it would rather not see pods there.
pub const CANDIDATE_TAINT: &str = "DeletionCandidateOfClusterAutoscaler";

/// A node at a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// When it came into being, to the second.
    pub created: Option<Time>,
    /// Whether it is ready.
    pub ready: bool,
    /// Its taints.
    pub taints: Vec<Taint>,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Its annotations.
    pub annotations: BTreeMap<String, String>,
    /// What the cloud calls it.
    pub provider_id: Option<String>,
    /// The server it runs on, or the claim it was made for, by its number.
    pub machine: Option<u64>,
    /// What holds it though it was told to go.
    pub finalizers: Vec<String>,
    /// Who made it, by kind and name.
    pub owners: Vec<(String, String)>,
    /// It takes no new pods.
    pub unschedulable: bool,
    /// Somebody has told it to go.
    pub ending: bool,
    /// What it has for pods.
    pub room: Room,
}

impl Node {
    /// The server it runs on, if it says so.
    pub fn server(&self) -> Option<u64> {
        self.machine
    }

    /// Whether it has a taint of this key.
    pub fn has_taint(&self, key: &str) -> bool {
        self.taints.iter().any(|taint| taint.key == key)
    }

    /// Whether an ordinary pod may be put there.
    pub fn takes_pods(&self) -> bool {
        let bars = |taint: &Taint| taint.effect != "PreferNoSchedule";
        self.ready && !self.unschedulable && !self.ending && !self.taints.iter().any(bars)
    }
}

/// The tracks of all nodes, by name.
pub fn nodes(history: &History) -> Tracks<String, Node> {
    let claims = numbers_by_machine(history);
    objects(history, "Node", |event| {
        let mut node = read(event);
        let claim = |id: &String| claims.get(id).copied();
        node.machine = node.machine.or_else(|| node.provider_id.as_ref().and_then(claim));
        Some(node)
    })
}

fn read(event: &ObjectEvent) -> Node {
    let (meta, spec, status) = (&event.object["metadata"], &event.object["spec"], &event.object["status"]);
    let said = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let provider_id = spec["providerID"].as_str().filter(|id| !id.is_empty()).map(str::to_owned);
    Node {
        machine: provider_id.as_deref().and_then(|id| id.strip_prefix("hcloud://")?.parse().ok()),
        finalizers: list(&meta["finalizers"]).iter().map(said).collect(),
        owners: list(&meta["ownerReferences"])
            .iter()
            .map(|it| (said(&it["kind"]), said(&it["name"])))
            .collect(),
        created: moment(&meta["creationTimestamp"]),
        ready: list(&status["conditions"])
            .iter()
            .any(|condition| condition["type"] == "Ready" && condition["status"] == "True"),
        taints: list(&spec["taints"]).iter().map(taint).collect(),
        labels: strings(&meta["labels"]),
        annotations: strings(&meta["annotations"]),
        provider_id,
        unschedulable: spec["unschedulable"] == true,
        ending: !meta["deletionTimestamp"].is_null(),
        room: room(&status["allocatable"]),
    }
}

pub(super) fn taint(taint: &Value) -> Taint {
    let said = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Taint { key: said(&taint["key"]), value: said(&taint["value"]), effect: said(&taint["effect"]) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::history::Change;

    #[test]
    fn a_node_is_read_from_its_object() {
        let node = read(&ObjectEvent {
            change: Change::Added,
            kind: "Node".into(),
            namespace: String::new(),
            name: "n".into(),
            object: json!({
                "spec": {"providerID": "hcloud://7", "taints": [{"key": REMOVAL_TAINT, "effect": "NoSchedule"}]},
                "status": {
                    "conditions": [{"type": "Ready", "status": "True"}],
                    "allocatable": {"cpu": "4", "memory": "8Gi"},
                },
            }),
        });
        assert!(node.ready && node.has_taint(REMOVAL_TAINT) && !node.takes_pods());
        assert_eq!((node.server(), node.room.cpu_milli), (Some(7), 4000));
    }

    #[test]
    fn only_an_id_of_the_cloud_is_a_server() {
        for (id, server) in [("hcloud://12", Some(12)), ("hrobot://1", None), ("hcloud://x", None)] {
            let object = json!({"spec": {"providerID": id}});
            let (kind, namespace, name) = ("Node".into(), String::new(), "n".into());
            assert_eq!(
                read(&ObjectEvent { change: Change::Added, kind, namespace, name, object }).server(),
                server
            );
        }
    }
}
