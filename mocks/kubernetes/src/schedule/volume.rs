//! Persistent volumes, claims, classes and what nodes can attach: as much as scheduling needs.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim};
use k8s_openapi::api::storage::v1::{CSINode, StorageClass, VolumeAttachment};

use crate::quantity::Quantity;
use crate::selector::{Labels as _, Selector};

use super::filter::ClaimStep;
use super::read::{labels, node_term};
use super::shape::{Labels, NodeTerm};

/// The annotation that names the node a claim is to be provisioned for.
pub(crate) const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";
const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";
const CLASS: &str = "volume.beta.kubernetes.io/storage-class";
const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";

/// All there is to know about volumes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Storage {
    pub(super) volumes: BTreeMap<Box<str>, Volume>,
    /// By `namespace/name`.
    pub(super) claims: BTreeMap<Box<str>, Claim>,
    pub(super) classes: BTreeMap<Box<str>, Class>,
    /// How many volumes of which driver a node can attach.
    pub(super) limits: BTreeMap<Box<str>, Limits>,
    /// What is attached: node and volume, by the attachment's name.
    pub(super) attachments: BTreeMap<Box<str>, (Box<str>, Box<str>)>,
}

/// A number of volumes by driver.
type Limits = BTreeMap<Box<str>, i64>;

/// A label with the values that will do.
type LabelRule = (Box<str>, Vec<Box<str>>);

/// A persistent volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Volume {
    pub(super) name: Box<str>,
    pub(super) labels: Labels,
    pub(super) affinity: Option<Box<[NodeTerm]>>,
    pub(super) capacity: i128,
    pub(super) class: Box<str>,
    pub(super) modes: BTreeSet<Box<str>>,
    pub(super) block: bool,
    /// `namespace/name` and uid of the claim it belongs to.
    pub(super) claim: Option<(Box<str>, Box<str>)>,
    pub(super) available: bool,
    pub(super) deleting: bool,
    /// Driver and handle.
    pub(super) csi: Option<(Box<str>, Box<str>)>,
}

/// A persistent volume claim.
#[expect(clippy::struct_excessive_bools, reason = "they are facts of the object, not states of ours")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    pub(super) key: Box<str>,
    pub(super) uid: Box<str>,
    pub(super) volume: Box<str>,
    pub(super) bound: bool,
    pub(super) class: Box<str>,
    pub(super) lost: bool,
    pub(super) deleting: bool,
    pub(super) selected_node: Option<Box<str>>,
    pub(super) size: i128,
    pub(super) modes: BTreeSet<Box<str>>,
    pub(super) block: bool,
    pub(super) selector: Option<Selector>,
}

/// A storage class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Class {
    pub(super) provisioner: Box<str>,
    pub(super) waits: bool,
    /// Alternatives of label requirements; none at all for anywhere.
    pub(super) topologies: Vec<Vec<LabelRule>>,
}

impl Volume {
    pub(super) fn of(volume: &PersistentVolume) -> Self {
        let spec = volume.spec.clone().unwrap_or_default();
        let annotations = volume.metadata.annotations.as_ref();
        let affinity = spec.node_affinity.and_then(|affinity| affinity.required);
        let claim = spec.claim_ref.map(|claim| {
            let text = |text: Option<String>| text.unwrap_or_default();
            let key = format!("{}/{}", text(claim.namespace), text(claim.name));
            (key.into(), text(claim.uid).into())
        });
        let class = annotations.and_then(|all| all.get(CLASS).cloned()).or(spec.storage_class_name);
        Self {
            name: volume.metadata.name.as_deref().unwrap_or_default().into(),
            labels: labels(volume.metadata.labels.as_ref()),
            affinity: affinity.map(|required| required.node_selector_terms.iter().map(node_term).collect()),
            capacity: size(spec.capacity.as_ref().and_then(|capacity| capacity.get("storage"))),
            class: class.unwrap_or_default().into(),
            modes: spec.access_modes.into_iter().flatten().map(Into::into).collect(),
            block: spec.volume_mode.as_deref() == Some("Block"),
            claim,
            available: volume.status.as_ref().and_then(|status| status.phase.as_deref()) == Some("Available"),
            deleting: volume.metadata.deletion_timestamp.is_some(),
            csi: spec.csi.map(|csi| (csi.driver.into(), csi.volume_handle.into())),
        }
    }

    /// Whether a node may mount it.
    pub(super) fn reaches(&self, name: &str, labels: &Labels) -> bool {
        self.affinity.as_ref().is_none_or(|terms| terms.iter().any(|term| term.matches(name, labels)))
    }
}

fn size(quantity: Option<&k8s_openapi::apimachinery::pkg::api::resource::Quantity>) -> i128 {
    quantity
        .and_then(|quantity| quantity.0.trim().parse::<Quantity>().ok())
        .map_or(0, |quantity| quantity.nanos())
}

impl Claim {
    pub(super) fn of(claim: &PersistentVolumeClaim) -> Self {
        let metadata = &claim.metadata;
        let spec = claim.spec.clone().unwrap_or_default();
        let annotation = |name: &str| metadata.annotations.as_ref().and_then(|all| all.get(name)).cloned();
        let volume = spec.volume_name.unwrap_or_default();
        let requests = spec.resources.and_then(|resources| resources.requests);
        let namespace = metadata.namespace.as_deref().unwrap_or_default();
        let name = metadata.name.as_deref().unwrap_or_default();
        Self {
            key: format!("{namespace}/{name}").into(),
            uid: metadata.uid.as_deref().unwrap_or_default().into(),
            bound: !volume.is_empty() && annotation(BIND_COMPLETED).is_some(),
            volume: volume.into(),
            class: annotation(CLASS).or(spec.storage_class_name).unwrap_or_default().into(),
            lost: claim.status.as_ref().and_then(|status| status.phase.as_deref()) == Some("Lost"),
            deleting: metadata.deletion_timestamp.is_some(),
            selected_node: annotation(SELECTED_NODE).map(Into::into),
            size: size(requests.as_ref().and_then(|requests| requests.get("storage"))),
            modes: spec.access_modes.into_iter().flatten().map(Into::into).collect(),
            block: spec.volume_mode.as_deref() == Some("Block"),
            selector: spec.selector.map(|selector| {
                Selector::from_typed(Some(&selector)).unwrap_or_else(|_| Selector::nothing())
            }),
        }
    }

    /// Only one pod at a time may use it.
    pub(super) fn for_one_pod(&self) -> bool {
        self.modes.contains("ReadWriteOncePod")
    }
}

impl Class {
    pub(super) fn of(class: &StorageClass) -> Self {
        let terms = class.allowed_topologies.iter().flatten();
        let topologies = terms.map(|term| {
            let expressions = term.match_label_expressions.iter().flatten();
            expressions.map(|one| {
                (one.key.as_str().into(), one.values.iter().map(|value| value.as_str().into()).collect())
            })
        });
        Self {
            provisioner: class.provisioner.as_str().into(),
            waits: class.volume_binding_mode.as_deref() == Some("WaitForFirstConsumer"),
            topologies: topologies.map(Iterator::collect).collect(),
        }
    }

    pub(super) fn provisions(&self) -> bool {
        !self.provisioner.is_empty() && &*self.provisioner != NO_PROVISIONER
    }

    /// Whether volumes of the class can be made for a node with these labels.
    pub(super) fn reaches(&self, labels: &Labels) -> bool {
        let holds = |(key, values): &LabelRule| {
            labels.label(key).is_some_and(|own| values.iter().any(|value| &**value == own))
        };
        self.topologies.is_empty()
            || self.topologies.iter().any(|term| !term.is_empty() && term.iter().all(holds))
    }
}

impl Storage {
    pub(super) fn set_limits(&mut self, node: &CSINode) {
        let name: Box<str> = node.metadata.name.as_deref().unwrap_or_default().into();
        let counted = node.spec.drivers.iter().filter_map(|driver| {
            let count = driver.allocatable.as_ref()?.count?;
            Some((driver.name.as_str().into(), i64::from(count)))
        });
        self.limits.insert(name, counted.collect());
    }

    pub(super) fn set_attachment(&mut self, attachment: &VolumeAttachment) {
        let name: Box<str> = attachment.metadata.name.as_deref().unwrap_or_default().into();
        let volume = attachment.spec.source.persistent_volume_name.as_deref().unwrap_or_default();
        self.attachments.insert(name, (attachment.spec.node_name.as_str().into(), volume.into()));
    }

    /// Counts with a step before it is seen to be done.
    pub(super) fn promise(&mut self, step: &ClaimStep, node: &str) {
        match step {
            ClaimStep::Provision { claim } => {
                if let Some(claim) = self.claims.get_mut(claim) {
                    claim.selected_node = Some(node.into());
                }
            }
            ClaimStep::Bind { claim, volume } => {
                let uid = self.claims.get(claim).map(|claim| claim.uid.clone()).unwrap_or_default();
                if let Some(volume) = self.volumes.get_mut(volume) {
                    volume.claim = Some((claim.clone(), uid));
                }
            }
        }
    }

    /// What a claim's volume is attached by: the driver, and a name that is the same for the same volume. A claim
    /// without a volume counts by its class.
    pub(super) fn attachable(&self, claim: &Claim) -> Option<(&str, String)> {
        if let Some(volume) = self.volumes.get(&claim.volume) {
            let (driver, handle) = volume.csi.as_ref()?;
            return Some((driver, format!("{driver}/{handle}")));
        }
        let class = self.classes.get(&claim.class)?;
        Some((&class.provisioner, format!("{}/{}", class.provisioner, claim.key)))
    }

    /// The volume to bind `claim` to on a node: the one it was promised, else the smallest that is large enough.
    pub(super) fn match_volume(
        &self,
        claim: &Claim,
        node: (&str, &Labels),
        taken: &BTreeSet<&str>,
    ) -> Option<&Volume> {
        let fits = |volume: &&Volume| {
            !taken.contains(&*volume.name)
                && !volume.deleting
                && volume.block == claim.block
                && volume.capacity >= claim.size
                && volume.reaches(node.0, node.1)
        };
        let promised = |volume: &&Volume| {
            let claimed = volume.claim.as_ref();
            claimed.is_some_and(|(key, uid)| *key == claim.key && (uid.is_empty() || *uid == claim.uid))
        };
        if let Some(volume) = self.volumes.values().filter(fits).find(promised) {
            return Some(volume);
        }
        let free = |volume: &&Volume| {
            volume.claim.is_none()
                && volume.available
                && volume.class == claim.class
                && claim.modes.is_subset(&volume.modes)
                && claim.selector.as_ref().is_none_or(|selector| selector.matches(&volume.labels[..]))
        };
        self.volumes.values().filter(fits).filter(free).min_by_key(|volume| volume.capacity)
    }
}
