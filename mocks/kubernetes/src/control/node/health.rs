//! What is known of a node: when it was heard, and what it said.

use mock_clock::Time;
use serde_json::{Value, json};

use crate::api::{Api, stamp};
use crate::control::amend::{amend, condition};
use crate::status::Status;
use crate::store::Key;

#[derive(Clone, Debug)]
pub(super) struct Health {
    pub(super) uid: String,
    /// `None` if the node wants not to be counted.
    pub(super) zone: Option<String>,
    pub(super) ready: Ready,
    /// When it was last heard.
    pub(super) probed: Time,
    pub(super) registered: bool,
    heartbeat: String,
    renewal: String,
}

/// The condition `Ready`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ready {
    True,
    False,
    Unknown,
    /// Nobody has ever said.
    Never,
}

impl Health {
    /// What is known of a node after it was written.
    pub(super) fn heard(before: Option<Self>, node: &Value, now: Time) -> Self {
        let metadata = &node["metadata"];
        let found = condition(node, "Ready");
        let ready = match found.map(|found| found["status"].as_str().unwrap_or_default()) {
            None => Ready::Never,
            Some("True") => Ready::True,
            Some("False") => Ready::False,
            Some(_) => Ready::Unknown,
        };
        let heartbeat =
            found.and_then(|found| found["lastHeartbeatTime"].as_str()).unwrap_or_default().to_owned();
        let uid = metadata["uid"].as_str().unwrap_or_default().to_owned();
        let before = before.filter(|before| before.uid == uid);
        let born = metadata["creationTimestamp"].as_str().and_then(|born| born.parse().ok()).unwrap_or(now);
        let probed = match &before {
            None if ready == Ready::Never => born,
            None => now,
            Some(before) => {
                let appeared = (before.ready == Ready::Never) != (ready == Ready::Never);
                let beat = ready != Ready::Never && before.heartbeat != heartbeat;
                if appeared || beat { now } else { before.probed }
            }
        };
        let (registered, renewal) =
            before.map(|before| (before.registered, before.renewal)).unwrap_or_default();
        Self { uid, zone: zone(&metadata["labels"]), ready, probed, registered, heartbeat, renewal }
    }

    /// Its lease was written.
    pub(super) fn renewed(&mut self, lease: &Value, now: Time) {
        let renewal = lease["spec"]["renewTime"].as_str().unwrap_or_default();
        if renewal > self.renewal.as_str() {
            renewal.clone_into(&mut self.renewal);
            self.probed = now;
        }
    }
}

fn zone(labels: &Value) -> Option<String> {
    if !labels["node.kubernetes.io/exclude-disruption"].is_null() {
        return None;
    }
    let label = |names: [&str; 2]| names.iter().find_map(|name| labels[*name].as_str()).unwrap_or_default();
    let region = label(["topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"]);
    let zone = label(["topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"]);
    Some(format!("{region}:{zone}"))
}

/// Writes down that nothing is known of a node any more.
pub(super) fn silence(api: &Api, key: &Key) -> Result<(), Status> {
    const KINDS: [&str; 4] = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"];
    let now = stamp(api.now());
    amend(api, ("nodes", key, "status"), super::MANAGER, |node| {
        let born = node["metadata"]["creationTimestamp"].clone();
        let conditions = &mut node["status"]["conditions"];
        if !conditions.is_array() {
            *conditions = json!([]);
        }
        let Some(list) = conditions.as_array_mut() else { return };
        for kind in KINDS {
            match list.iter_mut().find(|found| found["type"] == kind) {
                None => list.push(json!({
                    "type": kind, "status": "Unknown", "reason": "NodeStatusNeverUpdated",
                    "message": "Kubelet never posted node status.",
                    "lastHeartbeatTime": born, "lastTransitionTime": now,
                })),
                Some(found) if found["status"] != "Unknown" => {
                    found["status"] = json!("Unknown");
                    found["reason"] = json!("NodeStatusUnknown");
                    found["message"] = json!("Kubelet stopped posting node status.");
                    found["lastTransitionTime"] = json!(now);
                }
                Some(_) => {}
            }
        }
    })
}
