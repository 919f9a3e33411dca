//! Volumes are attached to the nodes whose pods use them, and detached when the last is gone: the part of the
//! attach-detach controller and of the external attacher of every driver.
//!
//! Not simulated: that a kubelet unmounts first, and annotations by which nodes ask to be left alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use mock_clock::Time;
use serde_json::{Value, json};

use super::consumers::Consumers;
use super::facts::{claim_of, text};
use super::{ATTACHMENTS, CLAIMS, Drivers, VOLUMES};
use crate::api::{Api, Delete, Write};
use crate::control::amend::{amend, drop_finalizer, erase, resource};
use crate::control::frame::{Controller, Next};
use crate::control::queue::Queue;
use crate::status::Status;
use crate::store::{Change, Key};

const MANAGER: &str = "attachdetach-controller";
pub(crate) const SHELVES: &[&str] = &[VOLUMES, CLAIMS, "pods", "nodes", ATTACHMENTS];

pub(crate) struct Attacher {
    drivers: Drivers,
    consumers: Consumers,
    /// Our attachments of each volume.
    attachments: BTreeMap<String, BTreeSet<Key>>,
    /// Since when attachments are on their way.
    since: BTreeMap<Key, Time>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Item {
    /// What a claim wants attached.
    Claim(Key),
    Attachment(Key),
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Claim(key) | Self::Attachment(key) => key.fmt(f),
        }
    }
}

impl Attacher {
    pub(crate) fn new(drivers: Drivers) -> Self {
        Self {
            drivers,
            consumers: Consumers::default(),
            attachments: BTreeMap::new(),
            since: BTreeMap::new(),
        }
    }

    fn observe_attachment(&mut self, change: &Change, queue: &mut Queue<Item>) {
        let key = &change.object.key;
        let volume = text(&change.object.value()["spec"]["source"], "persistentVolumeName").to_owned();
        let ours = self.attachments.entry(volume.clone()).or_default();
        if change.deleted {
            ours.remove(key);
            if ours.is_empty() {
                self.attachments.remove(&volume);
            }
            self.since.remove(key);
        } else {
            ours.insert(key.clone());
            queue.add(Item::Attachment(key.clone()));
        }
    }

    /// Attaches a claim's volume wherever it is used.
    fn attach(&self, api: &Api, claim_key: &Key) -> Result<(), Status> {
        let Some(claim) = api.store().get(CLAIMS, claim_key).map(|claim| claim.value()) else {
            return Ok(());
        };
        let name = text(&claim["spec"], "volumeName");
        let Some(volume) = api.store().get(VOLUMES, &Key::new("", name)).map(|volume| volume.value()) else {
            return Ok(());
        };
        let csi = &volume["spec"]["csi"];
        let bound = volume["spec"]["claimRef"]["uid"] == claim["metadata"]["uid"];
        if !csi.is_object() || !bound || !must_attach(api, text(csi, "driver")) {
            return Ok(());
        }
        let Some(resource) = resource(api, ATTACHMENTS) else { return Ok(()) };
        for node in self.consumers.nodes(claim_key) {
            let key = Key::new("", &name_of(csi, node));
            let there = api.store().get(ATTACHMENTS, &key).is_some();
            if there || api.store().get("nodes", &Key::new("", node)).is_none() {
                continue;
            }
            let body = json!({
                "metadata": {"name": &*key.name, "finalizers": [finalizer(text(csi, "driver"))]},
                "spec": {
                    "attacher": csi["driver"], "nodeName": node, "source": {"persistentVolumeName": name},
                },
            });
            api.create(&resource, "", body, &Write::by(MANAGER))?;
        }
        Ok(())
    }

    /// Whether a pod on the node uses the volume.
    fn needed(&self, volume: &Value, node: &str) -> bool {
        claim_of(volume).is_some_and(|claim| self.consumers.nodes(&claim).contains(node))
    }

    fn reconcile_attachment(&mut self, api: &Api, key: &Key) -> Result<Next, Status> {
        let Some(object) = api.store().get(ATTACHMENTS, key) else { return Ok(Next::Done) };
        let attachment = object.value();
        let spec = &attachment["spec"];
        let (driver, node) = (text(spec, "attacher"), text(spec, "nodeName"));
        let name = text(&spec["source"], "persistentVolumeName");
        let volume = api.store().get(VOLUMES, &Key::new("", name)).map(|volume| volume.value());
        // Only what was made here is taken back: others may attach by hand.
        let ours = volume.as_ref().is_none_or(|volume| *key.name == *name_of(&volume["spec"]["csi"], node));
        let attached = attachment["status"]["attached"] == true;
        if object.deleting {
            if let Some(wait) =
                self.wait(api, key, if attached { self.drivers.detach } else { Duration::ZERO })
            {
                return Ok(Next::After(wait));
            }
            let finalizer = finalizer(driver);
            amend(api, (ATTACHMENTS, key, ""), MANAGER, |found| drop_finalizer(found, &finalizer))?;
            return Ok(Next::Done);
        }
        let needed = volume.as_ref().is_some_and(|volume| self.needed(volume, node));
        if ours && !needed {
            self.since.remove(key);
            erase(api, (ATTACHMENTS, key), MANAGER, &Delete::background())?;
            return Ok(Next::Done);
        }
        if attached {
            self.since.remove(key);
            return Ok(Next::Done);
        }
        if let Some(wait) = self.wait(api, key, self.drivers.attach) {
            return Ok(Next::After(wait));
        }
        amend(api, (ATTACHMENTS, key, "status"), MANAGER, |found| found["status"]["attached"] = json!(true))?;
        Ok(Next::Done)
    }

    /// How long the driver still takes.
    fn wait(&mut self, api: &Api, key: &Key, takes: Duration) -> Option<Duration> {
        let due = *self.since.entry(key.clone()).or_insert(api.now()) + takes;
        if due > api.now() {
            return Some(due - api.now());
        }
        self.since.remove(key);
        None
    }
}

impl Controller for Attacher {
    type Item = Item;

    fn observe(&mut self, shelf: &str, change: &Change, queue: &mut Queue<Item>) {
        let key = &change.object.key;
        match shelf {
            "pods" => {
                for claim in self.consumers.observe(change) {
                    queue.add(Item::Claim(claim));
                }
            }
            CLAIMS => queue.add(Item::Claim(key.clone())),
            VOLUMES => {
                if let Some(claim) = claim_of(&change.object.value()) {
                    queue.add(Item::Claim(claim));
                }
                for attachment in self.attachments.get(&*key.name).into_iter().flatten() {
                    queue.add(Item::Attachment(attachment.clone()));
                }
            }
            "nodes" => {
                // A pod may be bound to a node before the node is there.
                if change.old.is_none() {
                    for claim in self.consumers.on(&key.name) {
                        queue.add(Item::Claim(claim));
                    }
                }
            }
            _ => self.observe_attachment(change, queue),
        }
    }

    fn reconcile(&mut self, api: &Api, item: &Item) -> Result<Next, Status> {
        let key = match item {
            Item::Attachment(key) => return self.reconcile_attachment(api, key),
            Item::Claim(key) => key,
        };
        self.attach(api, key)?;
        let claim = api.store().get(CLAIMS, key).map(|claim| claim.value()).unwrap_or_default();
        let volume = text(&claim["spec"], "volumeName");
        let attachments: Vec<Key> = self.attachments.get(volume).into_iter().flatten().cloned().collect();
        let mut next = Next::Done;
        for attachment in attachments {
            if let Next::After(wait) = self.reconcile_attachment(api, &attachment)? {
                next = match next {
                    Next::After(earlier) => Next::After(earlier.min(wait)),
                    Next::Done => Next::After(wait),
                };
            }
        }
        Ok(next)
    }
}

/// Drivers may say that there is nothing to attach.
fn must_attach(api: &Api, driver: &str) -> bool {
    let found = api.store().get("csidrivers.storage.k8s.io", &Key::new("", driver));
    found.is_none_or(|driver| driver.value()["spec"]["attachRequired"] != false)
}

fn finalizer(driver: &str) -> String {
    format!("external-attacher/{}", driver.replace('.', "-"))
}

/// The name of an attachment follows from what is attached where. Upstream takes another hash.
fn name_of(csi: &Value, node: &str) -> String {
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    let hash = |salt: &str| {
        let parts = [salt, text(csi, "volumeHandle"), "\0", text(csi, "driver"), "\0", node];
        let bytes = parts.iter().flat_map(|part| part.bytes());
        bytes.fold(BASIS, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME))
    };
    format!("csi-{:032x}{:032x}", hash("a"), hash("b"))
}
