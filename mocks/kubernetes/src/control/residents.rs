//! Which pods are on which node: keys and nothing more, for there may be very many.

use std::collections::{BTreeMap, BTreeSet};

use crate::api::Api;
use crate::registry::indexed;
use crate::store::{Change, Key, Object};

#[derive(Debug)]
pub(super) struct Residents {
    node: usize,
    phase: usize,
    by_node: BTreeMap<Box<str>, BTreeSet<Key>>,
}

impl Residents {
    pub(super) fn new(api: &Api) -> Self {
        let resource = api.resource::<k8s_openapi::api::core::v1::Pod>();
        let fields = indexed(&resource);
        let place = |name: &str| fields.iter().position(|field| *field == name).unwrap_or(usize::MAX);
        Self { node: place("spec.nodeName"), phase: place("status.phase"), by_node: BTreeMap::new() }
    }

    pub(super) fn observe(&mut self, change: &Change) {
        let node = self.node_of(&change.object);
        if node.is_empty() {
            return;
        }
        if !change.deleted {
            self.by_node.entry(node.into()).or_default().insert(change.object.key.clone());
            return;
        }
        if let Some(pods) = self.by_node.get_mut(node) {
            pods.remove(&change.object.key);
            if pods.is_empty() {
                self.by_node.remove(node);
            }
        }
    }

    /// The node of a pod; empty if it has none.
    pub(super) fn node_of<'a>(&self, pod: &'a Object) -> &'a str {
        pod.fields.get(self.node).map(AsRef::as_ref).unwrap_or_default()
    }

    pub(super) fn phase_of<'a>(&self, pod: &'a Object) -> &'a str {
        pod.fields.get(self.phase).map(AsRef::as_ref).unwrap_or_default()
    }

    pub(super) fn on(&self, node: &str) -> impl Iterator<Item = &Key> {
        self.by_node.get(node).into_iter().flatten()
    }
}
