//! Events in: an object that came, changed or went, told to the state and, in coarse terms, to the queue.

use std::sync::Arc;

use k8s_openapi::api::core::v1 as core;
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::api::storage::v1 as storage;

use super::cluster::Cluster;
use super::node::Facts as NodeFacts;
use super::pod::{Facts as PodFacts, PodId, key};
use super::read;
use super::shape::Shape;

/// An object the scheduler cares about.
#[derive(Clone, Debug)]
pub(crate) enum Seen {
    Node(Box<core::Node>),
    Pod(Box<core::Pod>),
    Namespace(Box<core::Namespace>),
    Volume(Box<core::PersistentVolume>),
    Claim(Box<core::PersistentVolumeClaim>),
    Class(Box<storage::StorageClass>),
    AttachLimits(Box<storage::CSINode>),
    Attachment(Box<storage::VolumeAttachment>),
    Budget(Box<PodDisruptionBudget>),
}

/// The resources to watch: group and plural.
pub(crate) const RESOURCES: [(&str, &str); 9] = [
    ("", "namespaces"),
    ("", "nodes"),
    ("", "pods"),
    ("", "persistentvolumes"),
    ("", "persistentvolumeclaims"),
    ("storage.k8s.io", "storageclasses"),
    ("storage.k8s.io", "csinodes"),
    ("storage.k8s.io", "volumeattachments"),
    ("policy", "poddisruptionbudgets"),
];

impl Seen {
    /// Reads an object of one of the [`RESOURCES`] from its JSON.
    pub(crate) fn parse(resource: &str, json: &[u8]) -> Option<Self> {
        fn typed<T: serde::de::DeserializeOwned>(json: &[u8]) -> Option<Box<T>> {
            serde_json::from_slice(json).ok().map(Box::new)
        }
        match resource {
            "nodes" => typed(json).map(Self::Node),
            "pods" => typed(json).map(Self::Pod),
            "namespaces" => typed(json).map(Self::Namespace),
            "persistentvolumes" => typed(json).map(Self::Volume),
            "persistentvolumeclaims" => typed(json).map(Self::Claim),
            "storageclasses" => typed(json).map(Self::Class),
            "csinodes" => typed(json).map(Self::AttachLimits),
            "volumeattachments" => typed(json).map(Self::Attachment),
            "poddisruptionbudgets" => typed(json).map(Self::Budget),
            _ => None,
        }
    }
}

/// What an event was about, for those who wait.
#[derive(Clone, Debug)]
pub(super) enum Change {
    /// Nothing that could help anybody.
    Nothing,
    /// A node's facts before, if there were any, and now.
    Node {
        before: Option<Arc<NodeFacts>>,
        now: Arc<NodeFacts>,
    },
    /// A pod that waits for a node is new, or asks for something else, or was touched by somebody.
    Pending {
        id: PodId,
        facts: Box<PodFacts>,
        same: bool,
    },
    /// A pod was placed, or one that is placed has other labels.
    Placed {
        id: PodId,
        shape: Arc<Shape>,
    },
    /// A placed or hopeful pod went.
    Left {
        id: PodId,
        shape: Arc<Shape>,
    },
    /// A pod that nobody counted on went.
    Gone {
        id: PodId,
    },
    Volume,
    Claim,
    Class,
    AttachLimits,
    Attachment,
    Namespace,
}

impl Cluster {
    /// An object came or changed.
    pub(super) fn see(&mut self, seen: &Seen) -> Change {
        match seen {
            Seen::Node(node) => match self.set_node(node) {
                Some((before, now)) => Change::Node { before, now },
                None => Change::Nothing,
            },
            Seen::Pod(pod) => self.see_pod(pod),
            Seen::Namespace(namespace) => {
                self.set_namespace(namespace);
                Change::Namespace
            }
            Seen::Volume(volume) => {
                self.set_volume(volume);
                Change::Volume
            }
            Seen::Claim(claim) => {
                self.set_claim(claim);
                Change::Claim
            }
            Seen::Class(class) => {
                self.set_class(class);
                Change::Class
            }
            Seen::AttachLimits(node) => {
                self.storage.set_limits(node);
                Change::AttachLimits
            }
            Seen::Attachment(attachment) => {
                self.storage.set_attachment(attachment);
                Change::Nothing
            }
            Seen::Budget(budget) => {
                self.set_budget(budget);
                Change::Nothing
            }
        }
    }

    /// An object went.
    pub(super) fn miss(&mut self, resource: &str, namespace: &str, name: &str) -> Change {
        let key = key(namespace, name);
        match resource {
            "nodes" => self.remove_node(name),
            "pods" => return self.miss_pod(&key),
            "namespaces" => drop(self.namespaces.remove(name)),
            "persistentvolumes" => drop(self.storage.volumes.remove(name)),
            "persistentvolumeclaims" => drop(self.storage.claims.remove(&*key)),
            "storageclasses" => drop(self.storage.classes.remove(name)),
            "csinodes" => drop(self.storage.limits.remove(name)),
            "volumeattachments" => {
                self.storage.attachments.remove(name);
                return Change::Attachment;
            }
            "poddisruptionbudgets" => drop(self.budgets.remove(&*key)),
            _ => {}
        }
        Change::Nothing
    }

    fn see_pod(&mut self, written: &core::Pod) -> Change {
        let facts = PodFacts::of(written);
        if facts.finished {
            return self.miss_pod(&facts.key);
        }
        let shape = read::shape(written);
        let known = self.pod_id(&facts.key).and_then(|id| self.pod(id));
        let (mut same, mut counted) = (false, false);
        if let Some(known) = known {
            let unchanged = **self.shape(known.shape) == shape && known.uid == facts.uid;
            same = unchanged && known.priority == facts.priority;
            counted = unchanged && known.node.is_some() && !known.assumed;
        }
        let id = self.set_pod(&facts, shape);
        let Some(pod) = self.pod(id) else { return Change::Nothing };
        if pod.assumed || counted {
            return Change::Nothing;
        }
        if pod.node.is_some() {
            return Change::Placed { id, shape: Arc::clone(self.shape(pod.shape)) };
        }
        Change::Pending { id, facts: Box::new(facts), same }
    }

    fn miss_pod(&mut self, key: &str) -> Change {
        let Some(pod) = self.pod_id(key).and_then(|id| self.pod(id)) else { return Change::Nothing };
        let counted = pod.node.is_some() || pod.nominated.is_some();
        let shape = Arc::clone(self.shape(pod.shape));
        match self.remove_pod(key) {
            Some(id) if counted => Change::Left { id, shape },
            Some(id) => Change::Gone { id },
            None => Change::Nothing,
        }
    }
}
