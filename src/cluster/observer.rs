//! The recorder's own watches: what happens in the cluster, whoever did it, becomes events of the history.
//!
//! Recorded is what checks need. Managed fields are left out, and so is what changes only timestamps: the heartbeats of
//! nodes and of their leases.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use kube::api::{Api, ApiResource, DynamicObject};
use kube::core::GroupVersionKind;
use kube::{Client, ResourceExt as _};
use mock_clock::VirtualClock;
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::live::{Live, NODE_LEASES};
use crate::history::{Change, ObjectEvent, What};
use crate::watch::{Sight, follow_as};

/// Takes what happens.
pub type Tell = Arc<dyn Fn(What) + Send + Sync>;

/// Something to watch: group, version, kind, and the namespace if it is only one.
pub type Watched = (&'static str, &'static str, &'static str, Option<&'static str>);

/// What is always watched.
const ALWAYS: [Watched; 7] = [
    ("", "v1", "Node", None),
    ("", "v1", "Pod", None),
    ("apps", "v1", "DaemonSet", None),
    ("policy", "v1", "PodDisruptionBudget", None),
    ("coordination.k8s.io", "v1", "Lease", None),
    ("", "v1", "ConfigMap", Some("kube-system")),
    ("", "v1", "Event", None),
];

/// The watches. Dropped, they end.
#[derive(Debug)]
pub struct Observer {
    live: Live,
    listed: watch::Receiver<usize>,
    kinds: usize,
    _watches: JoinSet<()>,
}

impl Observer {
    /// Watches from now on what is always watched, and these; and what else somebody `wants` to know of, which may be of a kind
    /// that there is not.
    pub fn start(
        client: &Client,
        clock: &VirtualClock,
        tell: &Tell,
        also: &[Watched],
        wants: &[ApiResource],
    ) -> Observer {
        let live = Live::default();
        let (listed, all_listed) = watch::channel(0);
        let (listed, nobody_waits) = (Arc::new(listed), Arc::new(watch::channel(0).0));
        let mut watches = JoinSet::new();
        let mut known: Vec<&str> = Vec::new();
        let all = ALWAYS.iter().chain(also).map(|&(group, version, kind, namespace)| {
            (ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind)), namespace, &listed)
        });
        let all: Vec<_> = all.chain(wants.iter().map(|it| (it.clone(), None, &nobody_waits))).collect();
        for (resource, namespace, listed) in &all {
            // One that is watched in one namespace is not watched in the others.
            if known.contains(&resource.kind.as_str()) {
                continue;
            }
            if namespace.is_none() {
                known.push(&resource.kind);
            }
            let api: Api<DynamicObject> = match namespace {
                Some(namespace) => Api::namespaced_with(client.clone(), namespace, resource),
                None => Api::all_with(client.clone(), resource),
            };
            let kind = resource.kind.clone();
            let eye = Eye { kind, live: live.clone(), tell: Arc::clone(tell), lists: AtomicUsize::new(0) };
            let (clock, listed, resource) = (clock.clone(), Arc::clone(listed), resource.clone());
            watches.spawn(async move {
                let mut see = |sight| eye.see(sight, &listed);
                follow_as(clock, api, &resource, &mut see).await;
            });
        }
        Observer { live, listed: all_listed, kinds: ALWAYS.len() + also.len(), _watches: watches }
    }

    /// The cluster as it is.
    pub fn live(&self) -> &Live {
        &self.live
    }

    /// Waits until all that there was at the beginning has been seen.
    pub async fn until_listed(&mut self) {
        // Whoever could end the wait otherwise lives as long as this.
        let _ = self.listed.wait_for(|listed| *listed == self.kinds).await;
    }
}

/// The watch of one kind.
struct Eye {
    kind: String,
    live: Live,
    tell: Tell,
    lists: AtomicUsize,
}

impl Eye {
    fn see(&self, sight: Sight<DynamicObject>, listed: &watch::Sender<usize>) {
        match sight {
            Sight::Added(object) => self.record(Change::Added, object),
            Sight::Modified(object) => self.record(Change::Modified, object),
            Sight::Deleted(object) => self.record(Change::Deleted, object),
            Sight::Listed => {
                if self.lists.fetch_add(1, Ordering::Relaxed) == 0 {
                    listed.send_modify(|count| *count += 1);
                }
            }
            Sight::Blind(why) => (self.tell)(What::Trouble(format!("failed to {why}"))),
        }
    }

    fn record(&self, change: Change, mut object: DynamicObject) {
        object.metadata.managed_fields = None;
        let (namespace, name) = (object.namespace().unwrap_or_default(), object.name_any());
        // An object of the API that cannot be written again does not exist.
        let mut object = serde_json::to_value(object).unwrap_or_default();
        if object["kind"].is_null() {
            object["kind"] = self.kind.as_str().into();
        }
        let is_node = self.kind == "Node" && change == Change::Modified;
        let before = is_node.then(|| self.live.object(&self.kind, &namespace, &name)).flatten();
        let quiet = match self.kind.as_str() {
            "Lease" => namespace == NODE_LEASES && change == Change::Modified,
            "Node" => {
                before.is_some_and(|before| without_heartbeat(before) == without_heartbeat(object.clone()))
            }
            _ => false,
        };
        let key = (namespace.clone(), name.clone());
        let last = (change != Change::Deleted).then(|| object.clone());
        // Whoever waits for it finds it in the history.
        if !quiet {
            let event = ObjectEvent { change, kind: self.kind.clone(), namespace, name, object };
            (self.tell)(What::Object(event));
        }
        self.live.put(&self.kind, key, last);
    }
}

/// A node without what changes with every heartbeat.
fn without_heartbeat(mut node: Value) -> Value {
    if let Some(metadata) = node["metadata"].as_object_mut() {
        metadata.remove("resourceVersion");
    }
    for condition in node["status"]["conditions"].as_array_mut().into_iter().flatten() {
        if let Some(condition) = condition.as_object_mut() {
            condition.remove("lastHeartbeatTime");
        }
    }
    node
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn node(version: &str, beat: &str, ready: &str) -> Value {
        json!({"metadata": {"name": "n", "resourceVersion": version},
            "status": {"conditions": [{"type": "Ready", "status": ready, "lastHeartbeatTime": beat}]}})
    }

    #[test]
    fn a_heartbeat_is_no_change_and_a_condition_is() {
        let before = without_heartbeat(node("1", "a", "True"));
        assert_eq!(before, without_heartbeat(node("2", "b", "True")));
        assert_ne!(before, without_heartbeat(node("2", "b", "False")));
    }
}
