//! Nodes that stay silent: told unknown, tainted, and their pods no longer counted as ready.
//!
//! A node is heard by its status and by its lease. Nothing polls: the moment at which a node will have been silent for
//! too long is known, and is waited for; it falls on one of the seconds at which upstream looks, so that nodes that fall
//! silent together are found together.

mod health;
mod taint;
mod zone;

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use k8s_openapi::api::core::v1::ObjectReference;
use mock_clock::Time;
use serde_json::{Value, json};

use self::health::{Health, Ready};
use self::zone::Zones;
use super::amend::{amend, condition};
use super::events::Recorder;
use super::frame::{Controller, Next};
use super::queue::Queue;
use super::residents::Residents;
use crate::api::{Api, stamp};
use crate::status::Status;
use crate::store::{Change, Key};

const MANAGER: &str = "node-controller";
const LEASES: &str = "leases.coordination.k8s.io";
pub(super) const SHELVES: &[&str] = &["nodes", LEASES, "pods"];

/// How often upstream looks at all nodes.
const LOOK: Duration = Duration::from_secs(5);
/// How soon after that it taints.
const TAINTS: Duration = Duration::from_millis(100);
/// At most so many pods are changed at a time.
const BATCH: usize = 100;

/// How long nodes may be silent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grace {
    /// A node that has been heard.
    pub(crate) heard: Duration,
    /// A node that has never been heard, since its creation.
    pub(crate) starting: Duration,
}

impl Default for Grace {
    fn default() -> Self {
        Self { heard: Duration::from_secs(50), starting: Duration::from_secs(60) }
    }
}

pub(super) struct Lifecycle {
    grace: Grace,
    nodes: BTreeMap<String, Health>,
    zones: Zones,
    residents: Residents,
    recorder: Recorder,
    further: Vec<(Item, Duration)>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Item {
    Node(String),
    Removed {
        name: String,
        uid: String,
    },
    /// A node may get its taint that evicts, as far as the zone allows.
    Evict(String),
    /// The pods of a node are not ready.
    Pods(String),
    /// A pod came to a node.
    Pod(Key),
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(name) | Self::Removed { name, .. } => f.write_str(name),
            Self::Evict(name) => write!(f, "taint of {name}"),
            Self::Pods(name) => write!(f, "pods of {name}"),
            Self::Pod(key) => key.fmt(f),
        }
    }
}

impl Lifecycle {
    pub(super) fn new(api: &Api, grace: Grace) -> Self {
        Self {
            grace,
            nodes: BTreeMap::new(),
            zones: Zones::default(),
            residents: Residents::new(api),
            recorder: Recorder::new(MANAGER),
            further: Vec::new(),
        }
    }

    fn observe_node(&mut self, change: &Change, queue: &mut Queue<Item>) {
        let name = change.object.key.name.to_string();
        let before = self.nodes.get(&name).map(|health| (health.zone.clone(), health.ready));
        let after = if change.deleted {
            if let Some(health) = self.nodes.remove(&name) {
                queue.add(Item::Removed { name: name.clone(), uid: health.uid });
            }
            None
        } else {
            let node = change.object.value();
            let health = Health::heard(self.nodes.remove(&name), &node, queue.now());
            let after = (health.zone.clone(), health.ready);
            self.nodes.insert(name.clone(), health);
            queue.add(Item::Node(name));
            Some(after)
        };
        if before == after {
            return;
        }
        let ready = |(zone, ready): (Option<String>, Ready)| Some((zone?, ready == Ready::True));
        let turned = self.zones.moved(before.and_then(ready), after.and_then(ready));
        if turned {
            let woken = self.zones.disruption() == zone::Disruption::Ended;
            for (name, health) in &mut self.nodes {
                if woken {
                    health.probed = queue.now();
                }
                if health.ready != Ready::True {
                    queue.add(Item::Node(name.clone()));
                }
            }
        }
    }

    /// When the node will have been silent for longer than it may.
    fn due(&self, health: &Health) -> Time {
        let grace = if health.ready == Ready::Never { self.grace.starting } else { self.grace.heard };
        let look = u64::try_from(LOOK.as_nanos()).unwrap_or(u64::MAX);
        Time::from_unix_nanos((health.probed + grace).unix_nanos() / look * look + look)
    }

    fn reconcile_node(&mut self, api: &Api, name: &str) -> Result<Next, Status> {
        let (Some(health), key) = (self.nodes.get(name), Key::new("", name)) else { return Ok(Next::Done) };
        let Some(node) = api.store().get("nodes", &key) else { return Ok(Next::Done) };
        let (node, now, due) = (node.value(), api.now(), self.due(health));
        if !health.registered {
            let message = format!("Node {name} event: Registered Node {name} in Controller");
            self.recorder.normal(api, &reference(name, &health.uid), "RegisteredNode", &message);
        }
        let (ready, uid) = (health.ready, health.uid.clone());
        if let Some(health) = self.nodes.get_mut(name) {
            health.registered = true;
        }
        if now >= due && ready != Ready::Unknown {
            health::silence(api, &key)?;
            if ready == Ready::True {
                let message = format!("Node {name} status is now: NodeNotReady");
                self.recorder.normal(api, &reference(name, &uid), "NodeNotReady", &message);
                self.further.push((Item::Pods(name.to_owned()), Duration::ZERO));
            }
            return Ok(Next::Done);
        }
        let evicts = self.taint(api, &key, &node, ready)?;
        if evicts {
            self.further.push((Item::Evict(name.to_owned()), TAINTS));
        }
        Ok(if ready == Ready::Unknown { Next::Done } else { Next::After(due - now) })
    }

    /// Brings taints where conditions want them; whether the taint that evicts is still to come.
    fn taint(&self, api: &Api, key: &Key, node: &Value, ready: Ready) -> Result<bool, Status> {
        let evicting = taint::evicting(node);
        let wanted = match ready {
            Ready::False => Some(taint::NOT_READY),
            Ready::Unknown => Some(taint::UNREACHABLE),
            Ready::True | Ready::Never => None,
        };
        let wanted = wanted.filter(|_| self.zones.disruption() != zone::Disruption::Everywhere);
        // A taint that is there is exchanged at once; the first is rationed.
        let now_wanted = wanted.filter(|_| !evicting.is_empty());
        taint::bring(api, key, node, now_wanted)?;
        Ok(wanted.is_some() && evicting.is_empty())
    }

    fn evict(&mut self, api: &Api, name: &str) -> Result<Next, Status> {
        let Some(health) = self.nodes.get(name) else { return Ok(Next::Done) };
        let wanted = match health.ready {
            Ready::False => taint::NOT_READY,
            Ready::Unknown => taint::UNREACHABLE,
            Ready::True | Ready::Never => return Ok(Next::Done),
        };
        let key = Key::new("", name);
        let Some(node) = api.store().get("nodes", &key).map(|node| node.value()) else {
            return Ok(Next::Done);
        };
        if !taint::evicting(&node).is_empty() {
            return Ok(Next::Done);
        }
        let zone = health.zone.clone().unwrap_or_default();
        match self.zones.allow(&zone, api.now()) {
            zone::Ration::Now => taint::bring(api, &key, &node, Some(wanted)).map(|()| Next::Done),
            zone::Ration::At(time) => Ok(Next::After(time - api.now())),
            zone::Ration::Never => Ok(Next::Done),
        }
    }

    fn reconcile_pods(&mut self, api: &Api, name: &str) -> Result<Next, Status> {
        if self.nodes.get(name).is_none_or(|health| health.ready == Ready::True) {
            return Ok(Next::Done);
        }
        let pods: Vec<Key> = self.residents.on(name).cloned().collect();
        let mut changed = 0;
        for key in pods {
            changed += usize::from(self.unready(api, &key)?);
            if changed == BATCH {
                return Ok(Next::After(Duration::ZERO));
            }
        }
        Ok(Next::Done)
    }

    /// A pod on a node that is not ready is not ready; whether it was.
    fn unready(&mut self, api: &Api, key: &Key) -> Result<bool, Status> {
        let Some(pod) = api.store().get("pods", key) else { return Ok(false) };
        let value = pod.value();
        if condition(&value, "Ready").is_none_or(|ready| ready["status"] == "False") {
            return Ok(false);
        }
        amend(api, ("pods", key, "status"), MANAGER, |pod| {
            let now = stamp(api.now());
            let conditions = pod["status"]["conditions"].as_array_mut().into_iter().flatten();
            for ready in conditions.filter(|condition| condition["type"] == "Ready") {
                ready["status"] = json!("False");
                ready["lastTransitionTime"] = json!(now);
            }
        })?;
        let about = ObjectReference {
            kind: Some("Pod".to_owned()),
            namespace: Some(key.namespace.to_string()),
            ..reference(&key.name, &pod.uid)
        };
        self.recorder.warning(api, &about, "NodeNotReady", "Node is not ready");
        Ok(true)
    }
}

impl Controller for Lifecycle {
    type Item = Item;

    fn observe(&mut self, shelf: &str, change: &Change, queue: &mut Queue<Item>) {
        let object = &change.object;
        match shelf {
            "nodes" => self.observe_node(change, queue),
            LEASES => {
                if &*object.key.namespace == "kube-node-lease"
                    && let Some(health) = self.nodes.get_mut(&*object.key.name)
                {
                    health.renewed(&object.value(), queue.now());
                }
            }
            _ => {
                self.residents.observe(change);
                let node = self.residents.node_of(object);
                let came = !node.is_empty()
                    && !change.deleted
                    && change.old.as_ref().is_none_or(|old| self.residents.node_of(old).is_empty());
                if came
                    && let Some(health) = self.nodes.get(node)
                    && matches!(health.ready, Ready::False | Ready::Unknown)
                {
                    queue.add(Item::Pod(object.key.clone()));
                }
            }
        }
    }

    fn reconcile(&mut self, api: &Api, item: &Item) -> Result<Next, Status> {
        match item {
            Item::Node(name) => self.reconcile_node(api, name),
            Item::Removed { name, uid } => {
                let message = format!("Node {name} event: Removing Node {name} from Controller");
                self.recorder.normal(api, &reference(name, uid), "RemovingNode", &message);
                Ok(Next::Done)
            }
            Item::Evict(name) => self.evict(api, name),
            Item::Pods(name) => self.reconcile_pods(api, name),
            Item::Pod(key) => self.unready(api, key).map(|_| Next::Done),
        }
    }

    fn further(&mut self) -> Vec<(Item, Duration)> {
        std::mem::take(&mut self.further)
    }
}

fn reference(name: &str, uid: &str) -> ObjectReference {
    ObjectReference {
        api_version: Some("v1".to_owned()),
        kind: Some("Node".to_owned()),
        name: Some(name.to_owned()),
        uid: Some(uid.to_owned()),
        ..ObjectReference::default()
    }
}

#[cfg(test)]
mod tests;
