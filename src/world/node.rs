//! What a kubelet and a cloud controller write into the objects of a node. Plain JSON, no calls.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::terms::{Machine, Room, Taint};

/// The taint of nodes that the cloud controller has not seen yet.
pub(super) const UNINITIALIZED: &str = "node.cloudprovider.kubernetes.io/uninitialized";
/// The taint of nodes whose machine is off.
pub(super) const SHUTDOWN: &str = "node.cloudprovider.kubernetes.io/shutdown";
/// What provider ids begin with.
pub(super) const PROVIDER: &str = "hcloud://";

const NO_NETWORK: &str = "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady \
                          message:Network plugin returns error: cni plugin not initialized";
const NO_CSI: &str = "CSINode is not yet initialized";
const NOT_YET: &str = "container runtime status check may not have completed yet";

/// What a kubelet knows of the machine it runs on.
#[derive(Clone, Debug)]
pub(super) struct Host {
    pub(super) name: String,
    /// The machine's id at the cloud; none for machines that are not the cloud's.
    pub(super) server: Option<u64>,
    /// The uid of its node, if others have made that.
    pub(super) made: Option<String>,
    pub(super) pool: Option<String>,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) taints: Vec<Taint>,
    pub(super) room: Room,
    pub(super) architecture: String,
    pub(super) location: String,
    pub(super) address: String,
    pub(super) provider_id: Option<String>,
}

impl Host {
    /// Whether its machine was bought, and goes through all that bought machines go through.
    pub(super) fn is_bought(&self) -> bool {
        self.server.is_some() || self.made.is_some()
    }

    pub(super) fn of(machine: &Machine) -> Self {
        Self {
            name: machine.name.clone(),
            server: Some(machine.id),
            made: None,
            pool: machine.pool.clone(),
            labels: machine.labels.clone(),
            taints: machine.taints.clone(),
            room: machine.room,
            architecture: machine.architecture.clone(),
            location: machine.location.clone(),
            address: machine.address.clone(),
            provider_id: None,
        }
    }
}

/// What a kubelet has to tell of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Health {
    pub(super) registered: Option<String>,
    pub(super) network: Option<String>,
    pub(super) csi: bool,
    pub(super) ready: bool,
    /// When it last became ready, or ceased to be.
    pub(super) turned: String,
    /// It says that it is not ready though it is.
    pub(super) flapping: bool,
    /// The uid of its node.
    pub(super) uid: Option<String>,
}

impl Health {
    pub(super) fn says_ready(&self) -> bool {
        self.ready && !self.flapping
    }

    fn ready_condition(&self, now: &str) -> Value {
        let why_not = match (self.network.is_some(), self.csi, self.ready) {
            (false, false, _) => format!("[{NO_NETWORK}, {NO_CSI}]"),
            (false, true, _) => NO_NETWORK.to_owned(),
            (true, false, _) => NO_CSI.to_owned(),
            (true, true, false) => NOT_YET.to_owned(),
            (true, true, true) => "PLEG is not healthy".to_owned(),
        };
        let (status, reason, message) = if self.says_ready() {
            ("True", "KubeletReady", "kubelet is posting ready status".to_owned())
        } else {
            ("False", "KubeletNotReady", why_not)
        };
        json!({"type": "Ready", "status": status, "reason": reason, "message": message,
            "lastHeartbeatTime": now, "lastTransitionTime": self.turned})
    }

    /// All conditions that a kubelet and its network plugin tell.
    pub(super) fn conditions(&self, now: &str) -> Vec<Value> {
        let registered = self.registered.as_deref().unwrap_or(now);
        let fine = [
            ("MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
            ("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
            ("PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
        ];
        let fine = fine.map(|(kind, reason, message)| {
            json!({"type": kind, "status": "False", "reason": reason, "message": message,
                "lastHeartbeatTime": now, "lastTransitionTime": registered})
        });
        let mut all = fine.to_vec();
        if let Some(since) = &self.network {
            all.push(json!({"type": "NetworkUnavailable", "status": "False", "reason": "RouteCreated",
                "message": "the network plugin has made a route", "lastHeartbeatTime": since,
                "lastTransitionTime": since}));
        }
        all.push(self.ready_condition(now));
        all
    }
}

/// The node as a kubelet registers it.
pub(super) fn registration(host: &Host, external: bool, health: &Health, now: &str) -> Value {
    let mut labels = host.labels.clone();
    for (key, value) in [
        ("kubernetes.io/hostname", host.name.as_str()),
        ("kubernetes.io/os", "linux"),
        ("kubernetes.io/arch", host.architecture.as_str()),
        ("beta.kubernetes.io/os", "linux"),
        ("beta.kubernetes.io/arch", host.architecture.as_str()),
    ] {
        labels.entry(key.to_owned()).or_insert_with(|| value.to_owned());
    }
    let mut taints: Vec<Value> = host.taints.iter().map(|taint| json!(taint)).collect();
    if external {
        taints.push(json!({"key": UNINITIALIZED, "value": "true", "effect": "NoSchedule"}));
    }
    let room = resources(host.room);
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": host.name, "labels": labels},
        "spec": {"taints": taints, "providerID": host.provider_id},
        "status": {
            "capacity": room, "allocatable": room,
            "conditions": health.conditions(now),
            "addresses": addresses(host),
            "nodeInfo": {
                "machineID": "", "systemUUID": "", "bootID": "", "kernelVersion": "6.12.0",
                "osImage": "hollow", "containerRuntimeVersion": "hollow://1", "kubeletVersion": "v1.35.0",
                "kubeProxyVersion": "", "operatingSystem": "linux", "architecture": host.architecture,
            },
        },
    })
}

/// Where a host is reached.
pub(super) fn addresses(host: &Host) -> Value {
    json!([{"type": "Hostname", "address": host.name}, {"type": "InternalIP", "address": host.address}])
}

fn resources(room: Room) -> Value {
    json!({
        "cpu": format!("{}m", room.cpu_milli), "memory": format!("{}Mi", room.memory_mib),
        "ephemeral-storage": "40Gi", "pods": "110",
    })
}

/// The lease of a node as its kubelet makes it.
pub(super) fn lease(name: &str, uid: &str, now: &str) -> Value {
    json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": name, "namespace": "kube-node-lease", "ownerReferences": [owner(name, uid)]},
        "spec": {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": now},
    })
}

/// What the node's CSI driver tells of itself.
pub(super) fn csi_node(host: &Host, uid: &str) -> Value {
    let driver = host.server.map(|id| {
        json!({"name": "csi.hetzner.cloud", "nodeID": id.to_string(), "allocatable": {"count": 16},
            "topologyKeys": ["csi.hetzner.cloud/location"]})
    });
    json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "CSINode",
        "metadata": {"name": host.name, "ownerReferences": [owner(&host.name, uid)]},
        "spec": {"drivers": driver.into_iter().collect::<Vec<_>>()},
    })
}

fn owner(name: &str, uid: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Node", "name": name, "uid": uid})
}

/// The labels that the cloud controller gives a node.
pub(super) fn cloud_labels(machine: &Machine) -> Value {
    json!({
        "node.kubernetes.io/instance-type": machine.machine,
        "beta.kubernetes.io/instance-type": machine.machine,
        "topology.kubernetes.io/region": machine.location,
        "topology.kubernetes.io/zone": machine.zone,
        "failure-domain.beta.kubernetes.io/region": machine.location,
        "failure-domain.beta.kubernetes.io/zone": machine.zone,
        "instance.hetzner.cloud/provided-by": "cloud",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(health: &Health) -> String {
        let conditions = health.conditions("2026-01-01T00:00:00Z");
        let ready = conditions.iter().find(|it| it["type"] == "Ready").unwrap();
        format!("{} {}", ready["status"].as_str().unwrap(), ready["message"].as_str().unwrap())
    }

    #[test]
    fn a_node_says_what_it_still_waits_for() {
        let mut health = Health::default();
        assert!(message(&health).contains("NetworkPluginNotReady") && message(&health).contains("CSINode"));
        health.network = Some(String::new());
        assert_eq!(message(&health), format!("False {NO_CSI}"));
        health.csi = true;
        assert_eq!(message(&health), format!("False {NOT_YET}"));
        health.ready = true;
        assert!(message(&health).starts_with("True"));
        health.flapping = true;
        assert!(message(&health).starts_with("False"));
    }
}
