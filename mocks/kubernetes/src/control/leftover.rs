//! Pods that nobody will ever finish: on nodes that are gone, without a node, or finished and too many.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};

use super::amend::{Condition, amend, condition, erase, set_condition};
use super::frame::{Controller, Next};
use super::queue::Queue;
use super::residents::Residents;
use crate::api::{Api, Delete};
use crate::status::Status;
use crate::store::{Change, Key, Object};

const MANAGER: &str = "pod-garbage-collector";
pub(super) const SHELVES: &[&str] = &["nodes", "pods"];
/// How long a node must be missing.
const QUARANTINE: Duration = Duration::from_secs(40);
/// How often upstream looks.
const ROUND: Duration = Duration::from_secs(20);
/// So many finished pods may stay.
pub(super) const FINISHED_MAX: usize = 12_500;
/// At most so many pods are deleted at a time.
const BATCH: usize = 100;
const OUT_OF_SERVICE: &str = "node.kubernetes.io/out-of-service";

pub(super) struct Sweeper {
    api: Api,
    residents: Residents,
    /// Those that ended: the evicted first, then by birth.
    finished: BTreeSet<(bool, String, Key)>,
    finished_max: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Item {
    /// A node that is missing.
    Missing(String),
    /// The pods of a node that is out of service.
    OutOfService(String),
    /// A pod that is to go and may have nobody to let it.
    Going(Key),
    /// Finished pods are too many.
    TooMany,
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(node) | Self::OutOfService(node) => f.write_str(node),
            Self::Going(pod) => pod.fmt(f),
            Self::TooMany => f.write_str("finished pods"),
        }
    }
}

impl Sweeper {
    pub(super) fn new(api: &Api, finished_max: usize) -> Self {
        Self { api: api.clone(), residents: Residents::new(api), finished: BTreeSet::new(), finished_max }
    }

    fn node(&self, name: &str) -> Option<std::sync::Arc<Object>> {
        self.api.store().get("nodes", &Key::new("", name))
    }

    fn observe_pod(&mut self, change: &Change, queue: &mut Queue<Item>) {
        self.residents.observe(change);
        let pod = &change.object;
        let old = change.old.as_deref();
        let ended = |pod: &Object| matches!(self.residents.phase_of(pod), "Succeeded" | "Failed");
        if let Some(old) = old.filter(|old| ended(old))
            && (change.deleted || old.revision != pod.revision)
        {
            self.finished.remove(&finished(old));
        }
        if change.deleted {
            return;
        }
        if ended(pod) {
            self.finished.insert(finished(pod));
            if self.finished.len() > self.finished_max {
                queue.add(Item::TooMany);
            }
        }
        let node = self.residents.node_of(pod);
        if pod.deleting {
            queue.add(Item::Going(pod.key.clone()));
        }
        let came = old.is_none_or(|old| self.residents.node_of(old).is_empty());
        if came && !node.is_empty() && self.node(node).is_none() {
            queue.add_after(Item::Missing(node.to_owned()), QUARANTINE);
        }
    }

    /// Pods of a node that did not come back.
    fn sweep(&self, api: &Api, node: &str) -> Result<Next, Status> {
        if self.node(node).is_some() {
            return Ok(Next::Done);
        }
        let gone = Condition {
            kind: "DisruptionTarget",
            status: "True",
            reason: "DeletionByPodGC",
            message: "PodGC: node no longer exists",
        };
        let left = |key: &&Key| {
            api.store().get("pods", key).is_some_and(|pod| !(pod.deleting && self.is_marked(&pod)))
        };
        let pods: Vec<Key> = self.residents.on(node).filter(left).take(BATCH).cloned().collect();
        for pod in &pods {
            end(api, pod, Some(gone))?;
        }
        Ok(if pods.len() == BATCH { Next::After(Duration::ZERO) } else { Next::Done })
    }

    /// What finalizers hold is marked once and then theirs to let go.
    fn is_marked(&self, pod: &Object) -> bool {
        matches!(self.residents.phase_of(pod), "Succeeded" | "Failed") && pod.finalizers
    }

    fn let_go(&self, api: &Api, key: &Key) -> Result<(), Status> {
        let Some(pod) = api.store().get("pods", key).filter(|pod| pod.deleting) else { return Ok(()) };
        let node = self.residents.node_of(&pod);
        let alone = match self.node(node) {
            _ if node.is_empty() => true,
            Some(node) => is_out_of_service(&node.value()),
            None => false,
        };
        if alone && !self.is_marked(&pod) { end(api, key, None) } else { Ok(()) }
    }
}

impl Controller for Sweeper {
    type Item = Item;

    fn observe(&mut self, shelf: &str, change: &Change, queue: &mut Queue<Item>) {
        if shelf != "nodes" {
            self.observe_pod(change, queue);
            return;
        }
        let node = &change.object;
        let name = node.key.name.to_string();
        if change.deleted {
            if self.residents.on(&name).next().is_some() {
                queue.add_after(Item::Missing(name), QUARANTINE);
            }
        } else if contains(&node.json, OUT_OF_SERVICE) {
            queue.add(Item::OutOfService(name));
        }
    }

    fn reconcile(&mut self, api: &Api, item: &Item) -> Result<Next, Status> {
        match item {
            Item::Missing(node) => return self.sweep(api, node),
            Item::Going(pod) => self.let_go(api, pod)?,
            Item::OutOfService(node) => {
                let pods: Vec<Key> = self.residents.on(node).cloned().collect();
                for pod in &pods {
                    self.let_go(api, pod)?;
                }
            }
            Item::TooMany => {
                let excess = self.finished.len().saturating_sub(self.finished_max);
                let pods: Vec<Key> =
                    self.finished.iter().take(excess.min(BATCH)).map(|(.., key)| key.clone()).collect();
                for pod in &pods {
                    end(api, pod, None)?;
                }
                if excess > BATCH {
                    return Ok(Next::After(ROUND));
                }
            }
        }
        Ok(Next::Done)
    }
}

/// Whether the text is somewhere in the JSON: cheaper than to read it.
pub(super) fn contains(json: &[u8], text: &str) -> bool {
    json.windows(text.len()).any(|window| window == text.as_bytes())
}

fn is_out_of_service(node: &Value) -> bool {
    let ready = condition(node, "Ready").is_some_and(|ready| ready["status"] == "True");
    let mut taints = node["spec"]["taints"].as_array().into_iter().flatten();
    !ready && taints.any(|taint| taint["key"] == OUT_OF_SERVICE)
}

/// Where a finished pod stands in the order in which they go.
fn finished(pod: &Object) -> (bool, String, Key) {
    let value = pod.value();
    let evicted = value["status"]["reason"] == "Evicted";
    let born = value["metadata"]["creationTimestamp"].as_str().unwrap_or_default();
    (!evicted, born.to_owned(), pod.key.clone())
}

/// A pod ends by decree: failed, and gone at once.
fn end(api: &Api, key: &Key, why: Option<Condition<'_>>) -> Result<(), Status> {
    amend(api, ("pods", key, "status"), MANAGER, |pod| {
        if !matches!(pod["status"]["phase"].as_str(), Some("Succeeded" | "Failed")) {
            pod["status"]["phase"] = json!("Failed");
            pod["status"]["observedGeneration"] = pod["metadata"]["generation"].clone();
            if let Some(why) = why {
                set_condition(api, pod, why);
            }
        }
    })?;
    erase(api, ("pods", key), MANAGER, &Delete::now())
}

#[cfg(test)]
mod tests {
    use super::super::rig::Rig;
    use super::*;

    fn rig(finished_max: usize) -> Rig {
        let mut rig = Rig::new();
        let api = rig.api.clone();
        rig.start(MANAGER, SHELVES, move || Sweeper::new(&api, finished_max));
        rig
    }

    fn pod(name: &str, node: &str) -> Value {
        json!({
            "metadata": {"name": name, "finalizers": ["a/b"]},
            "spec": {"nodeName": node, "containers": [{"name": "c", "image": "i"}]},
        })
    }

    #[tokio::test]
    async fn pods_of_vanished_nodes_fail_after_a_quarantine() {
        let rig = rig(10);
        rig.put("nodes", "", json!({"metadata": {"name": "n"}}));
        rig.put("nodes", "", json!({"metadata": {"name": "back"}}));
        rig.put("pods", "default", pod("p", "n"));
        rig.put("pods", "default", pod("q", "back"));
        rig.put("pods", "default", pod("never", "nowhere"));
        rig.settle().await;
        rig.delete("nodes", "", "n", &Delete::background());
        rig.delete("nodes", "", "back", &Delete::background());
        rig.pass(39).await;
        assert_eq!(rig.get("pods", "default", "p").unwrap()["status"]["phase"], "Pending");
        rig.put("nodes", "", json!({"metadata": {"name": "back"}}));
        rig.pass(2).await;
        for name in ["p", "never"] {
            let pod = rig.get("pods", "default", name).unwrap();
            assert_eq!(pod["status"]["phase"], "Failed");
            assert_eq!(condition(&pod, "DisruptionTarget").unwrap()["reason"], "DeletionByPodGC");
            assert!(pod["metadata"]["deletionTimestamp"].is_string());
        }
        assert_eq!(rig.get("pods", "default", "q").unwrap()["status"]["phase"], "Pending");
    }

    #[tokio::test]
    async fn what_finalizers_hold_is_swept_once() {
        let rig = rig(10);
        for number in 0..=BATCH {
            rig.put("pods", "default", pod(&format!("p{number:03}"), "nowhere"));
        }
        rig.pass(41).await;
        let going = |name: &str| {
            rig.get("pods", "default", name).unwrap()["metadata"]["deletionTimestamp"].is_string()
        };
        assert!(going("p000") && going(&format!("p{BATCH:03}")), "no batch stands in the way of the next");
    }

    #[tokio::test]
    async fn pods_without_a_kubelet_are_let_go() {
        let rig = rig(10);
        let taint = json!([{"key": OUT_OF_SERVICE, "effect": "NoExecute"}]);
        rig.put("nodes", "", json!({"metadata": {"name": "out"}, "spec": {"taints": taint}}));
        rig.put("nodes", "", json!({"metadata": {"name": "fine"}}));
        let mut light = pod("out", "out");
        light["metadata"]["finalizers"] = Value::Null;
        rig.put("pods", "default", light);
        rig.put("pods", "default", pod("homeless", ""));
        rig.put("pods", "default", pod("fine", "fine"));
        for name in ["out", "homeless", "fine"] {
            rig.delete("pods", "default", name, &Delete::default());
        }
        rig.settle().await;
        assert!(rig.get("pods", "default", "out").is_none());
        assert_eq!(rig.get("pods", "default", "homeless").unwrap()["status"]["phase"], "Failed");
        assert_eq!(rig.get("pods", "default", "fine").unwrap()["status"]["phase"], "Pending");
    }

    #[tokio::test]
    async fn of_finished_pods_the_oldest_go() {
        let rig = rig(2);
        rig.put("nodes", "", json!({"metadata": {"name": "n"}}));
        for name in ["d", "c", "b", "a"] {
            let mut pod = pod(name, "n");
            pod["metadata"]["finalizers"] = Value::Null;
            rig.put("pods", "default", pod);
            rig.edit("pods", "default", name, "status", |pod| pod["status"]["phase"] = json!("Succeeded"));
            rig.pass(1).await;
        }
        let left = ["a", "b", "c", "d"].map(|name| rig.get("pods", "default", name).is_some());
        assert_eq!(left, [true, true, false, false]);
    }
}
