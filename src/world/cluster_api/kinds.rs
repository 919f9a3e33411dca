//! The kinds of Cluster API, where they are served, and what they are called in its two versions.

use kube::api::ApiResource;
use kube::core::GroupVersionKind;
use serde_json::{Value, json};

/// Where all of it lives.
pub(super) const NAMESPACE: &str = "default";
/// The one cluster there is.
pub(super) const CLUSTER: &str = "run";
/// Cluster API itself; also what its labels and annotations begin with.
pub(super) const GROUP: &str = "cluster.x-k8s.io";
/// What makes the machines.
pub(super) const INFRASTRUCTURE: &str = "infrastructure.cluster.x-k8s.io";

/// The label that tells the cluster of an object.
pub(super) const CLUSTER_NAME: &str = "cluster.x-k8s.io/cluster-name";
/// The label that tells the deployment of a machine.
pub(super) const DEPLOYMENT_NAME: &str = "cluster.x-k8s.io/deployment-name";
/// The label that tells the set of a machine.
pub(super) const SET_NAME: &str = "cluster.x-k8s.io/set-name";
/// The label that tells sets of one deployment apart.
pub(super) const TEMPLATE_HASH: &str = "machine-template-hash";
/// The annotation under which nobody touches an object.
pub(super) const PAUSED: &str = "cluster.x-k8s.io/paused";
/// The annotation of a machine that is to go before others.
pub(super) const DELETE_MACHINE: &str = "cluster.x-k8s.io/delete-machine";
/// The annotation that counts the roll-outs of a deployment.
pub(super) const REVISION: &str = "machinedeployment.clusters.x-k8s.io/revision";
/// What keeps a machine until its node is gone.
pub(super) const MACHINE_FINALIZER: &str = "machine.cluster.x-k8s.io";
/// What keeps a machine of the infrastructure until it is off.
pub(super) const HOLLOW_FINALIZER: &str = "hollowmachine.infrastructure.cluster.x-k8s.io";

/// What the controllers look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Deployment,
    Set,
    Machine,
    Hollow,
    Template,
    Node,
}

impl Kind {
    /// Those that are watched.
    pub(super) const WATCHED: [Kind; 5] =
        [Kind::Deployment, Kind::Set, Kind::Machine, Kind::Hollow, Kind::Node];

    fn group(self) -> &'static str {
        match self {
            Kind::Deployment | Kind::Set | Kind::Machine => GROUP,
            Kind::Hollow | Kind::Template => INFRASTRUCTURE,
            Kind::Node => "",
        }
    }

    /// What it is called.
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Deployment => "MachineDeployment",
            Kind::Set => "MachineSet",
            Kind::Machine => "Machine",
            Kind::Hollow => "HollowMachine",
            Kind::Template => "HollowMachineTemplate",
            Kind::Node => "Node",
        }
    }

    /// Where it is served.
    pub(super) fn resource(self, contract: Contract) -> ApiResource {
        let version = if self == Kind::Node { "v1" } else { contract.version() };
        ApiResource::from_gvk(&GroupVersionKind::gvk(self.group(), version, self.name()))
    }
}

/// The version of Cluster API that the cluster serves; the two say some things at different places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contract {
    /// What most clusters have.
    V1beta1,
    /// Since Cluster API 1.11.
    V1beta2,
}

impl Contract {
    /// What it is called in paths.
    pub fn version(self) -> &'static str {
        match self {
            Contract::V1beta1 => "v1beta1",
            Contract::V1beta2 => "v1beta2",
        }
    }

    /// How an object refers to one of the infrastructure.
    pub(super) fn reference(self, kind: Kind, name: &str) -> Value {
        match self {
            Contract::V1beta1 => {
                json!({"apiVersion": format!("{INFRASTRUCTURE}/v1beta1"), "kind": kind.name(),
                "name": name, "namespace": NAMESPACE})
            }
            Contract::V1beta2 => json!({"apiGroup": INFRASTRUCTURE, "kind": kind.name(), "name": name}),
        }
    }

    /// What a machine of the infrastructure says when it is there.
    pub(super) fn provisioned(self) -> Value {
        match self {
            Contract::V1beta1 => json!({"ready": true}),
            Contract::V1beta2 => json!({"initialization": {"provisioned": true}}),
        }
    }

    /// What a machine says of what carries it.
    pub(super) fn carried(self) -> Value {
        match self {
            Contract::V1beta1 => json!({"infrastructureReady": true, "bootstrapReady": true}),
            Contract::V1beta2 => {
                json!({"initialization": {"infrastructureProvisioned": true, "bootstrapDataSecretCreated": true}})
            }
        }
    }

    /// How a machine refers to its node.
    pub(super) fn node(self, name: &str, uid: &str) -> Value {
        match self {
            Contract::V1beta1 => json!({"apiVersion": "v1", "kind": "Node", "name": name, "uid": uid}),
            Contract::V1beta2 => json!({"name": name}),
        }
    }

    /// What a machine says when it has failed.
    pub(super) fn failure(self, reason: &str, message: &str) -> Value {
        let said = json!({"failureReason": reason, "failureMessage": message});
        match self {
            Contract::V1beta1 => said,
            Contract::V1beta2 => json!({"deprecated": {"v1beta1": said}}),
        }
    }
}
