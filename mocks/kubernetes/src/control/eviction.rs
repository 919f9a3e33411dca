//! Pods on nodes whose taints they do not tolerate, or not for long.

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::api::core::v1::ObjectReference;
use mock_clock::Time;
use serde_json::Value;

use super::amend::{Condition, amend, erase, set_condition};
use super::events::Recorder;
use super::frame::{Controller, Next};
use super::queue::Queue;
use super::residents::Residents;
use crate::api::{Api, Delete};
use crate::status::Status;
use crate::store::{Change, Key};

const MANAGER: &str = "taint-eviction-controller";
pub(super) const SHELVES: &[&str] = &["nodes", "pods"];

pub(super) struct Evictor {
    residents: Residents,
    /// The taints that evict, of nodes that have any.
    taints: BTreeMap<Box<str>, Vec<Value>>,
    /// Since when pods are to go, of those that are.
    since: BTreeMap<Key, Time>,
    recorder: Recorder,
}

impl Evictor {
    pub(super) fn new(api: &Api) -> Self {
        Self {
            residents: Residents::new(api),
            taints: BTreeMap::new(),
            since: BTreeMap::new(),
            recorder: Recorder::new(MANAGER),
        }
    }

    fn observe_node(&mut self, change: &Change, queue: &mut Queue<Key>) {
        let name = &*change.object.key.name;
        if change.deleted {
            self.taints.remove(name);
            return;
        }
        let taints = evicting(&change.object.value());
        let same = self.taints.get(name).map_or(taints.is_empty(), |known| *known == taints);
        if same {
            return;
        }
        if taints.is_empty() {
            self.taints.remove(name);
        } else {
            self.taints.insert(name.into(), taints);
        }
        self.residents.on(name).for_each(|pod| queue.add(pod.clone()));
    }

    /// The pod stays after all.
    fn cancel(&mut self, api: &Api, key: &Key) {
        if self.since.remove(key).is_some() {
            self.tell(api, key, &format!("Cancelling deletion of Pod {key}"));
        }
    }

    fn tell(&mut self, api: &Api, key: &Key, message: &str) {
        let about = ObjectReference {
            api_version: Some("v1".to_owned()),
            kind: Some("Pod".to_owned()),
            name: Some(key.name.to_string()),
            namespace: Some(key.namespace.to_string()),
            ..ObjectReference::default()
        };
        self.recorder.normal(api, &about, "TaintManagerEviction", message);
    }

    fn evict(&mut self, api: &Api, key: &Key) -> Result<(), Status> {
        self.since.remove(key);
        self.tell(api, key, &format!("Marking for deletion Pod {key}"));
        amend(api, ("pods", key, "status"), MANAGER, |pod| {
            let condition = Condition {
                kind: "DisruptionTarget",
                status: "True",
                reason: "DeletionByTaintManager",
                message: "Taint manager: deleting due to NoExecute taint",
            };
            set_condition(api, pod, condition);
        })?;
        erase(api, ("pods", key), MANAGER, &Delete::default())
    }
}

impl Controller for Evictor {
    /// A pod.
    type Item = Key;

    fn observe(&mut self, shelf: &str, change: &Change, queue: &mut Queue<Key>) {
        if shelf == "nodes" {
            self.observe_node(change, queue);
            return;
        }
        self.residents.observe(change);
        let pod = &change.object;
        if change.deleted {
            self.since.remove(&pod.key);
        } else if self.taints.contains_key(self.residents.node_of(pod)) {
            queue.add(pod.key.clone());
        }
    }

    fn reconcile(&mut self, api: &Api, key: &Key) -> Result<Next, Status> {
        let Some(pod) = api.store().get("pods", key).filter(|pod| !pod.deleting) else {
            self.since.remove(key);
            return Ok(Next::Done);
        };
        let node = self.residents.node_of(&pod);
        let Some(taints) = self.taints.get(node) else {
            // Nobody calls an eviction off because the node is gone: the collector of pods will see to it.
            if api.store().get("nodes", &Key::new("", node)).is_some() {
                self.cancel(api, key);
            }
            return Ok(Next::Done);
        };
        let value = pod.value();
        match patience(taints, &value["spec"]["tolerations"]) {
            Patience::None => self.evict(api, key).map(|()| Next::Done),
            Patience::Endless => {
                self.cancel(api, key);
                Ok(Next::Done)
            }
            Patience::For(wait) => {
                let due = *self.since.entry(key.clone()).or_insert(api.now()) + wait;
                if due <= api.now() {
                    return self.evict(api, key).map(|()| Next::Done);
                }
                Ok(Next::After(due - api.now()))
            }
        }
    }
}

fn evicting(node: &Value) -> Vec<Value> {
    let taints = node["spec"]["taints"].as_array().into_iter().flatten();
    taints.filter(|taint| taint["effect"] == "NoExecute").cloned().collect()
}

/// How long a pod stays on a node.
#[derive(Debug, PartialEq, Eq)]
enum Patience {
    None,
    For(Duration),
    Endless,
}

/// The shortest time for which each taint is tolerated by the first toleration that fits it.
fn patience(taints: &[Value], tolerations: &Value) -> Patience {
    let tolerations = tolerations.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut shortest: Option<i64> = None;
    for taint in taints {
        let Some(fits) = tolerations.iter().find(|toleration| tolerates(toleration, taint)) else {
            return Patience::None;
        };
        if let Some(seconds) = fits["tolerationSeconds"].as_i64() {
            shortest = Some(shortest.map_or(seconds, |shortest| shortest.min(seconds)).max(0));
        }
    }
    match shortest {
        None => Patience::Endless,
        Some(seconds) => Patience::For(Duration::from_secs(u64::try_from(seconds).unwrap_or_default())),
    }
}

fn tolerates(toleration: &Value, taint: &Value) -> bool {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (key, effect) = (text(&toleration["key"]), text(&toleration["effect"]));
    let fits = (effect.is_empty() || taint["effect"] == *effect) && (key.is_empty() || taint["key"] == *key);
    fits && match toleration["operator"].as_str().unwrap_or_default() {
        "Exists" => true,
        "" | "Equal" => text(&toleration["value"]) == text(&taint["value"]),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::amend::condition;
    use super::super::rig::Rig;
    use super::*;

    fn pod(name: &str, tolerations: &Value) -> Value {
        json!({
            "metadata": {"name": name},
            "spec": {
                "nodeName": "n", "tolerations": tolerations,
                "containers": [{"name": "c", "image": "i"}],
            },
        })
    }

    fn going(rig: &Rig, name: &str) -> bool {
        rig.get("pods", "default", name).is_none_or(|pod| pod["metadata"]["deletionTimestamp"].is_string())
    }

    #[tokio::test]
    async fn pods_go_when_their_patience_ends() {
        let mut rig = Rig::new();
        let api = rig.api.clone();
        rig.start(MANAGER, SHELVES, move || Evictor::new(&api));
        rig.put("nodes", "", json!({"metadata": {"name": "n"}}));
        rig.put("pods", "default", pod("none", &json!([])));
        rig.put("pods", "default", pod("endless", &json!([{"operator": "Exists"}])));
        let short =
            json!([{"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 10}]);
        rig.put("pods", "default", pod("short", &short));
        let long =
            json!([{"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 20}]);
        rig.put("pods", "default", pod("lucky", &long));
        rig.settle().await;
        assert!(!going(&rig, "none"));
        let taint = |taints: Value| {
            rig.edit("nodes", "", "n", "", |node| node["spec"]["taints"] = taints.clone());
        };
        taint(json!([{"key": "k", "effect": "NoExecute"}]));
        rig.settle().await;
        assert!(going(&rig, "none"));
        let none = rig.get("pods", "default", "none").unwrap();
        assert_eq!(condition(&none, "DisruptionTarget").unwrap()["reason"], "DeletionByTaintManager");
        rig.pass(9).await;
        assert!(!going(&rig, "short"));
        rig.pass(1).await;
        assert!(going(&rig, "short"));
        taint(json!([]));
        rig.pass(30).await;
        assert!(!going(&rig, "lucky") && !going(&rig, "endless"));
        assert_eq!(rig.reasons(), ["TaintManagerEviction"; 3], "two went, one was spared");
    }
}
