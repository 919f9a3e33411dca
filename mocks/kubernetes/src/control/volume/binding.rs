//! Claims and volumes find each other, and part.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use k8s_openapi::api::core::v1::ObjectReference;
use serde_json::{Value, json};

use super::facts::{
    BIND_COMPLETED, BOUND_BY_CONTROLLER, PROVISIONED_BY, SELECTED_NODE, annotation, claim_of, class,
    has_class, is_for, text,
};
use super::{ATTACHMENTS, CLAIMS, CLASSES, Drivers, VOLUMES, matching, provision};
use crate::api::Api;
use crate::control::amend::amend;
use crate::control::events::Recorder;
use crate::control::frame::{Controller, Next};
use crate::control::queue::Queue;
use crate::status::Status;
use crate::store::{Change, Key};

pub(super) const MANAGER: &str = "persistentvolume-controller";
pub(crate) const SHELVES: &[&str] = &[CLASSES, VOLUMES, CLAIMS, ATTACHMENTS];
const DEFAULT_CLASS: &str = "storageclass.kubernetes.io/is-default-class";

pub(crate) struct Binder {
    drivers: Drivers,
    /// Claims that have no volume.
    waiting: BTreeSet<Key>,
    recorder: Recorder,
    provisioner: Recorder,
    further: Vec<(Item, Duration)>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Item {
    Volume(Key),
    Claim(Key),
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Volume(key) | Self::Claim(key) => key.fmt(f),
        }
    }
}

impl Binder {
    pub(crate) fn new(drivers: Drivers) -> Self {
        Self {
            drivers,
            waiting: BTreeSet::new(),
            recorder: Recorder::new(MANAGER),
            provisioner: Recorder::new("external-provisioner"),
            further: Vec::new(),
        }
    }

    fn volume(api: &Api, name: &str) -> Option<Value> {
        Some(api.store().get(VOLUMES, &Key::new("", name))?.value())
    }

    fn unbound(&mut self, api: &Api, key: &Key, claim: &Value) -> Result<(), Status> {
        let name = text(&claim["spec"], "volumeName");
        if name.is_empty() {
            return self.seek(api, key, claim);
        }
        let Some(volume) = Self::volume(api, name) else { return set_claim(api, key, "Pending", None) };
        let why = if !volume["spec"]["claimRef"].is_object() {
            match matching::mismatch(&volume, claim) {
                None => return bind(api, key, claim, &volume),
                Some(why) => ("VolumeMismatch", format!("Cannot bind to requested volume {name:?}: {why}")),
            }
        } else if is_for(&volume, claim) {
            return bind(api, key, claim, &volume);
        } else {
            ("FailedBinding", format!("volume {name:?} already bound to a different claim."))
        };
        self.recorder.warning(api, &reference(claim), why.0, &why.1);
        set_claim(api, key, "Pending", None)
    }

    /// Finds a volume for a claim that names none, or has one made.
    fn seek(&mut self, api: &Api, key: &Key, claim: &Value) -> Result<(), Status> {
        let wanted = class(claim);
        let found = api.store().get(CLASSES, &Key::new("", wanted)).map(|class| class.value());
        let waits = found.as_ref().is_some_and(|class| class["volumeBindingMode"] == "WaitForFirstConsumer");
        let volumes: Vec<Value> =
            api.store().list(VOLUMES, "").objects.iter().map(|volume| volume.value()).collect();
        if let Some(volume) = matching::best(claim, &volumes, waits) {
            return bind(api, key, claim, volume);
        }
        if !has_class(claim)
            && let Some(name) = default_class(api)
        {
            return amend(api, (CLAIMS, key, ""), MANAGER, |claim| {
                claim["spec"]["storageClassName"] = json!(name);
            });
        }
        let about = reference(claim);
        if waits && annotation(claim, SELECTED_NODE).is_none() {
            let message = "waiting for first consumer to be created before binding";
            self.recorder.normal(api, &about, "WaitForFirstConsumer", message);
        } else if wanted.is_empty() {
            let message = "no persistent volumes available for this claim and no storage class is set";
            self.recorder.normal(api, &about, "FailedBinding", message);
        } else {
            let Some(class) = found else {
                let message = format!("storageclass.storage.k8s.io {wanted:?} not found");
                self.recorder.warning(api, &about, "ProvisioningFailed", &message);
                return Ok(());
            };
            return self.provision(api, key, claim, &class);
        }
        set_claim(api, key, "Pending", None)
    }

    /// Asks for a volume, and makes it if that is ours to do.
    fn provision(&mut self, api: &Api, key: &Key, claim: &Value, class: &Value) -> Result<(), Status> {
        let provisioner = text(class, "provisioner");
        let about = reference(claim);
        provision::ask(api, key, provisioner)?;
        let message = format!(
            "Waiting for a volume to be created either by the external provisioner '{provisioner}' or manually by \
             the system administrator. If volume creation is delayed, please verify that the provisioner is running \
             and correctly registered."
        );
        self.recorder.normal(api, &about, "ExternalProvisioning", &message);
        if !self.drivers.provision || provisioner == "kubernetes.io/no-provisioner" {
            return Ok(());
        }
        let message = format!("External provisioner is provisioning volume for claim \"{key}\"");
        self.provisioner.normal(api, &about, "Provisioning", &message);
        let volume = provision::make(api, claim, class)?;
        let message = format!("Successfully provisioned volume {volume}");
        self.provisioner.normal(api, &about, "ProvisioningSucceeded", &message);
        Ok(())
    }

    fn bound(&mut self, api: &Api, key: &Key, claim: &Value) -> Result<(), Status> {
        let name = text(&claim["spec"], "volumeName");
        let volume = Self::volume(api, name);
        let lost = match &volume {
            _ if name.is_empty() => (
                "ClaimLost",
                "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!",
            ),
            None => ("ClaimLost", "Bound claim has lost its PersistentVolume. Data on the volume is lost!"),
            Some(volume)
                if !volume["spec"]["claimRef"].is_object()
                    || volume["spec"]["claimRef"]["uid"] == claim["metadata"]["uid"] =>
            {
                return bind(api, key, claim, volume);
            }
            Some(_) => {
                ("ClaimMisbound", "Two claims are bound to the same volume, this one is bound incorrectly")
            }
        };
        if text(&claim["status"], "phase") != "Lost" {
            set_claim(api, key, "Lost", None)?;
            self.recorder.warning(api, &reference(claim), lost.0, lost.1);
        }
        Ok(())
    }

    fn reconcile_volume(&mut self, api: &Api, key: &Key) -> Result<(), Status> {
        let Some(volume) = Self::volume(api, &key.name) else { return Ok(()) };
        let uid = text(&volume["spec"]["claimRef"], "uid");
        let Some(claim_key) = claim_of(&volume).filter(|_| !uid.is_empty()) else {
            return set_volume(api, key, "Available");
        };
        let claim = api.store().get(CLAIMS, &claim_key).filter(|claim| &*claim.uid == uid);
        let Some(claim) = claim.map(|claim| claim.value()) else { return self.release(api, key, &volume) };
        match text(&claim["spec"], "volumeName") {
            "" => {
                self.further.push((Item::Claim(claim_key), Duration::ZERO));
                Ok(())
            }
            name if name == &*key.name => set_volume(api, key, "Bound"),
            _ if annotation(&volume, PROVISIONED_BY).is_some() && deletes(&volume) => {
                self.release(api, key, &volume)
            }
            _ => unbind(api, key),
        }
    }

    /// A volume whose claim is gone.
    fn release(&self, api: &Api, key: &Key, volume: &Value) -> Result<(), Status> {
        if !matches!(text(&volume["status"], "phase"), "Released" | "Failed") {
            set_volume(api, key, "Released")?;
        }
        let ours = self.drivers.provision && annotation(volume, PROVISIONED_BY).is_some();
        if ours && deletes(volume) { provision::destroy(api, key) } else { Ok(()) }
    }
}

impl Controller for Binder {
    type Item = Item;

    fn observe(&mut self, shelf: &str, change: &Change, queue: &mut Queue<Item>) {
        let object = &change.object;
        let value = object.value();
        match shelf {
            CLAIMS => {
                let bound = annotation(&value, BIND_COMPLETED).is_some();
                if change.deleted || bound {
                    self.waiting.remove(&object.key);
                } else {
                    self.waiting.insert(object.key.clone());
                }
                queue.add(Item::Claim(object.key.clone()));
                let volume = text(&value["spec"], "volumeName");
                if !volume.is_empty() {
                    queue.add(Item::Volume(Key::new("", volume)));
                }
            }
            VOLUMES => {
                queue.add(Item::Volume(object.key.clone()));
                match claim_of(&value) {
                    Some(claim) => queue.add(Item::Claim(claim)),
                    None => self.waiting.iter().for_each(|claim| queue.add(Item::Claim(claim.clone()))),
                }
            }
            CLASSES => self.waiting.iter().for_each(|claim| queue.add(Item::Claim(claim.clone()))),
            _ if change.deleted => {
                let volume = text(&value["spec"]["source"], "persistentVolumeName");
                queue.add(Item::Volume(Key::new("", volume)));
            }
            _ => {}
        }
    }

    fn reconcile(&mut self, api: &Api, item: &Item) -> Result<Next, Status> {
        match item {
            Item::Volume(key) => self.reconcile_volume(api, key)?,
            Item::Claim(key) => {
                let Some(claim) = api.store().get(CLAIMS, key) else { return Ok(Next::Done) };
                let value = claim.value();
                if annotation(&value, BIND_COMPLETED).is_some() {
                    self.bound(api, key, &value)?;
                } else if !claim.deleting {
                    self.unbound(api, key, &value)?;
                }
            }
        }
        Ok(Next::Done)
    }

    fn further(&mut self) -> Vec<(Item, Duration)> {
        std::mem::take(&mut self.further)
    }
}

/// Whether a volume goes with its claim.
fn deletes(volume: &Value) -> bool {
    text(&volume["spec"], "persistentVolumeReclaimPolicy") == "Delete"
}

/// The default class; of several the youngest, then the first.
fn default_class(api: &Api) -> Option<String> {
    let classes = api.store().list(CLASSES, "").objects;
    let classes = classes.iter().map(|class| class.value());
    let defaults = classes.filter(|class| annotation(class, DEFAULT_CLASS) == Some("true"));
    let best = defaults.min_by_key(|class| {
        let metadata = &class["metadata"];
        (std::cmp::Reverse(text(metadata, "creationTimestamp").to_owned()), text(metadata, "name").to_owned())
    })?;
    Some(text(&best["metadata"], "name").to_owned())
}

/// Binds both sides, volume first: whoever stops half-way finds the rest to be done.
fn bind(api: &Api, key: &Key, claim: &Value, volume: &Value) -> Result<(), Status> {
    let name = text(&volume["metadata"], "name").to_owned();
    let volume_key = Key::new("", &name);
    let metadata = &claim["metadata"];
    let bound = volume["spec"]["claimRef"]["uid"] == metadata["uid"];
    if !bound {
        amend(api, (VOLUMES, &volume_key, ""), MANAGER, |volume| {
            if !volume["spec"]["claimRef"].is_object() {
                volume["metadata"]["annotations"][BOUND_BY_CONTROLLER] = json!("yes");
            }
            volume["spec"]["claimRef"] = json!({
                "apiVersion": "v1", "kind": "PersistentVolumeClaim",
                "namespace": metadata["namespace"], "name": metadata["name"], "uid": metadata["uid"],
                "resourceVersion": metadata["resourceVersion"],
            });
        })?;
    }
    set_volume(api, &volume_key, "Bound")?;
    let settled = claim["spec"]["volumeName"] == *name && annotation(claim, BIND_COMPLETED).is_some();
    if !settled {
        amend(api, (CLAIMS, key, ""), MANAGER, |claim| {
            if claim["spec"]["volumeName"] != *name {
                claim["spec"]["volumeName"] = json!(name);
                claim["metadata"]["annotations"][BOUND_BY_CONTROLLER] = json!("yes");
            }
            claim["metadata"]["annotations"][BIND_COMPLETED] = json!("yes");
        })?;
    }
    set_claim(api, key, "Bound", Some(volume))
}

fn unbind(api: &Api, key: &Key) -> Result<(), Status> {
    amend(api, (VOLUMES, key, ""), MANAGER, |volume| {
        if annotation(volume, BOUND_BY_CONTROLLER).is_some() {
            volume["spec"]["claimRef"] = Value::Null;
            if let Some(annotations) = volume["metadata"]["annotations"].as_object_mut() {
                annotations.remove(BOUND_BY_CONTROLLER);
            }
        } else {
            volume["spec"]["claimRef"]["uid"] = Value::Null;
        }
    })?;
    set_volume(api, key, "Available")
}

fn set_volume(api: &Api, key: &Key, phase: &str) -> Result<(), Status> {
    amend(api, (VOLUMES, key, "status"), MANAGER, |volume| {
        if text(&volume["status"], "phase") != phase {
            volume["status"]["phase"] = json!(phase);
        }
    })
}

/// Sets the phase of a claim, and what it has of its volume.
fn set_claim(api: &Api, key: &Key, phase: &str, volume: Option<&Value>) -> Result<(), Status> {
    amend(api, (CLAIMS, key, "status"), MANAGER, |claim| {
        let status = &mut claim["status"];
        match volume {
            None => {
                status["accessModes"] = Value::Null;
                status["capacity"] = Value::Null;
            }
            Some(volume) => {
                status["accessModes"] = volume["spec"]["accessModes"].clone();
                if text(status, "phase") != phase {
                    status["capacity"] = volume["spec"]["capacity"].clone();
                    status["currentVolumeAttributesClassName"] =
                        volume["spec"]["volumeAttributesClassName"].clone();
                }
            }
        }
        status["phase"] = json!(phase);
    })
}

fn reference(claim: &Value) -> ObjectReference {
    let field = |name: &str| claim["metadata"][name].as_str().map(str::to_owned);
    ObjectReference {
        api_version: Some("v1".to_owned()),
        kind: Some("PersistentVolumeClaim".to_owned()),
        name: field("name"),
        namespace: field("namespace"),
        uid: field("uid"),
        resource_version: field("resourceVersion"),
        field_path: None,
    }
}
