//! Which pods use which claims: of the many pods, only those that use any.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::control::leftover::contains;
use crate::store::{Change, Key};

#[derive(Debug, Default)]
pub(super) struct Consumers {
    pods: BTreeMap<Key, Consumer>,
    by_claim: BTreeMap<Key, BTreeSet<Key>>,
}

/// A pod that has a node and is not done.
#[derive(Debug)]
struct Consumer {
    node: String,
    claims: BTreeSet<Key>,
}

impl Consumers {
    /// A pod changed; the claims that concerns.
    pub(super) fn observe(&mut self, change: &Change) -> BTreeSet<Key> {
        let pod = &change.object;
        let mut concerned = BTreeSet::new();
        if let Some(before) = self.pods.remove(&pod.key) {
            for claim in before.claims {
                if let Some(users) = self.by_claim.get_mut(&claim) {
                    users.remove(&pod.key);
                    if users.is_empty() {
                        self.by_claim.remove(&claim);
                    }
                }
                concerned.insert(claim);
            }
        }
        if change.deleted || !contains(&pod.json, "\"persistentVolumeClaim\"") {
            return concerned;
        }
        let value = pod.value();
        let node = value["spec"]["nodeName"].as_str().unwrap_or_default().to_owned();
        let done = matches!(value["status"]["phase"].as_str(), Some("Succeeded" | "Failed"));
        if done || node.is_empty() {
            return concerned;
        }
        let volumes = value["spec"]["volumes"].as_array().into_iter().flatten();
        let name = |volume: &Value| volume["persistentVolumeClaim"]["claimName"].as_str().map(str::to_owned);
        let claims: BTreeSet<Key> =
            volumes.filter_map(name).map(|name| Key::new(&pod.key.namespace, &name)).collect();
        for claim in &claims {
            self.by_claim.entry(claim.clone()).or_default().insert(pod.key.clone());
            concerned.insert(claim.clone());
        }
        self.pods.insert(pod.key.clone(), Consumer { node, claims });
        concerned
    }

    pub(super) fn uses(&self, claim: &Key) -> bool {
        self.by_claim.contains_key(claim)
    }

    /// The claims that are used on a node.
    pub(super) fn on(&self, node: &str) -> BTreeSet<Key> {
        let here = self.pods.values().filter(|pod| pod.node == node);
        here.flat_map(|pod| &pod.claims).cloned().collect()
    }

    /// The nodes on which a claim is used.
    pub(super) fn nodes(&self, claim: &Key) -> BTreeSet<&str> {
        let pods = self.by_claim.get(claim).into_iter().flatten();
        pods.filter_map(|pod| Some(self.pods.get(pod)?.node.as_str())).collect()
    }
}
