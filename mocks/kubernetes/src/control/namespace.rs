//! Namespaces that go: everything in them goes first, and pods before anything else.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::Value;

use super::amend::{Condition, amend, erase, set_condition};
use super::frame::{Controller, Next};
use super::queue::Queue;
use crate::api::{Api, Delete};
use crate::status::Status;
use crate::store::{Change, Key, Object};

const MANAGER: &str = "namespace-controller";
const FINALIZER: &str = "kubernetes";
/// At most so many objects are deleted at a time.
const BATCH: usize = 100;

/// The conditions, in their order, with reason and message when all is well.
const WELL: [(&str, &str, &str); 5] = [
    ("NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered"),
    (
        "NamespaceDeletionGroupVersionParsingFailure",
        "ParsedGroupVersions",
        "All legacy kube types successfully parsed",
    ),
    (
        "NamespaceDeletionContentFailure",
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    ("NamespaceContentRemaining", "ContentRemoved", "All content successfully removed"),
    ("NamespaceFinalizersRemaining", "ContentHasNoFinalizers", "All content-preserving finalizers finished"),
];

/// Waits for what is in terminating namespaces.
#[derive(Default)]
pub(super) struct Emptier {
    terminating: BTreeSet<Key>,
}

impl Controller for Emptier {
    type Item = Key;

    fn observe(&mut self, shelf: &str, change: &Change, queue: &mut Queue<Key>) {
        let object = &change.object;
        let namespace = if shelf == "namespaces" {
            if change.deleted {
                self.terminating.remove(&object.key);
                return;
            }
            if object.deleting {
                self.terminating.insert(object.key.clone());
            }
            object.key.clone()
        } else {
            Key::new("", &object.key.namespace)
        };
        if self.terminating.contains(&namespace) {
            queue.add(namespace);
        }
    }

    fn reconcile(&mut self, api: &Api, key: &Key) -> Result<Next, Status> {
        let Some(namespace) = api.store().get("namespaces", key) else { return Ok(Next::Done) };
        let namespace = namespace.value();
        let finalizers = namespace["spec"]["finalizers"].as_array();
        let held = finalizers.is_some_and(|list| list.iter().any(|found| found == FINALIZER));
        if !held || !namespace["metadata"]["deletionTimestamp"].is_string() {
            return Ok(Next::Done);
        }
        let content = Content::of(api, &key.name);
        let (erased, error) = content.erase(api);
        if erased == BATCH {
            return Ok(Next::After(Duration::ZERO));
        }
        let remains = if erased == 0 { content } else { Content::of(api, &key.name) };
        remains.report(api, key, error.as_ref())?;
        match error {
            Some(error) => Err(error),
            None if remains.is_empty() => finalize(api, key).map(|()| Next::Done),
            None => Ok(Next::Done),
        }
    }
}

fn finalize(api: &Api, key: &Key) -> Result<(), Status> {
    amend(api, ("namespaces", key, "finalize"), MANAGER, |namespace| {
        if let Some(list) = namespace["spec"]["finalizers"].as_array_mut() {
            list.retain(|found| found != FINALIZER);
        }
    })
}

/// What is still in a namespace: shelf, resource, objects.
struct Content {
    /// As conditions call the resource, and what of it is there.
    resources: BTreeMap<String, (String, Vec<std::sync::Arc<Object>>)>,
    pods: bool,
}

impl Content {
    /// Pods alone as long as there are any, then everything.
    fn of(api: &Api, namespace: &str) -> Self {
        let registry = api.registry();
        let mut resources = BTreeMap::new();
        let pods = !api.store().list("pods", namespace).objects.is_empty();
        let mut seen = BTreeSet::new();
        for resource in registry.resources() {
            let counts = resource.namespaced
                && resource.allows("delete")
                && (!pods || resource.shelf == "pods")
                && seen.insert(resource.shelf.as_str());
            if !counts {
                continue;
            }
            let objects = api.list(resource, namespace);
            if !objects.is_empty() {
                let name = format!("{}.{}", resource.plural, resource.group);
                resources.insert(name, (resource.shelf.clone(), objects));
            }
        }
        Self { resources, pods }
    }

    fn is_empty(&self) -> bool {
        self.resources.is_empty()
    }

    /// Deletes some of what is not yet going: how many, and why it stopped.
    fn erase(&self, api: &Api) -> (usize, Option<Status>) {
        let objects = self
            .resources
            .values()
            .flat_map(|(shelf, objects)| objects.iter().map(move |object| (shelf, object)))
            .filter(|(_, object)| !object.deleting);
        let mut erased = 0;
        for (shelf, object) in objects.take(BATCH) {
            let delete = Delete::background().only(&object.uid);
            if let Err(status) = erase(api, (shelf, &object.key), MANAGER, &delete) {
                return (erased, Some(status));
            }
            erased += 1;
        }
        (erased, None)
    }

    /// Tells in the conditions of the namespace what holds it.
    fn report(&self, api: &Api, key: &Key, error: Option<&Status>) -> Result<(), Status> {
        let failure =
            error.map(|error| format!("Failed to delete all resource types, 1 remaining: {}", error.message));
        let (content, finalizers) = (self.content(), self.finalizers());
        amend(api, ("namespaces", key, "status"), MANAGER, |namespace| {
            for (kind, reason, message) in WELL {
                let bad = match kind {
                    "NamespaceDeletionContentFailure" => {
                        failure.as_deref().map(|why| ("ContentDeletionFailed", why))
                    }
                    "NamespaceContentRemaining" => content.as_deref().map(|why| ("SomeResourcesRemain", why)),
                    "NamespaceFinalizersRemaining" => {
                        finalizers.as_deref().map(|why| ("SomeFinalizersRemain", why))
                    }
                    _ => None,
                };
                let status = if bad.is_some() { "True" } else { "False" };
                let (reason, message) = bad.unwrap_or((reason, message));
                set_condition(api, namespace, Condition { kind, status, reason, message });
            }
        })
    }

    /// As upstream, pods are not yet counted while they alone are being deleted.
    fn content(&self) -> Option<String> {
        if self.pods || self.resources.is_empty() {
            return None;
        }
        let one = |(name, (_, objects)): (&String, &(String, Vec<_>))| {
            format!("{name} has {} resource instances", objects.len())
        };
        let all: Vec<String> = self.resources.iter().map(one).collect();
        Some(format!("Some resources are remaining: {}", all.join(", ")))
    }

    fn finalizers(&self) -> Option<String> {
        if self.pods {
            return None;
        }
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let held =
            self.resources.values().flat_map(|(_, objects)| objects).filter(|object| object.finalizers);
        for object in held {
            for finalizer in object.value()["metadata"]["finalizers"].as_array().into_iter().flatten() {
                let name = Value::as_str(finalizer).unwrap_or_default();
                *counts.entry(name.to_owned()).or_default() += 1;
            }
        }
        if counts.is_empty() {
            return None;
        }
        let all: Vec<String> =
            counts.iter().map(|(name, count)| format!("{name} in {count} resource instances")).collect();
        Some(format!("Some content in the namespace has finalizers remaining: {}", all.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::frame::EVERY_SHELF;
    use super::super::rig::Rig;
    use super::*;

    #[tokio::test]
    async fn a_namespace_goes_when_it_is_empty() {
        let mut rig = Rig::new();
        rig.start(MANAGER, &[EVERY_SHELF], Emptier::default);
        rig.put("namespaces", "", json!({"metadata": {"name": "x"}}));
        for number in 0..250 {
            rig.put("configmaps", "x", json!({"metadata": {"name": format!("c{number}")}}));
        }
        rig.put("secrets", "x", json!({"metadata": {"name": "s", "finalizers": ["a/b"]}}));
        rig.put("secrets", "default", json!({"metadata": {"name": "s"}}));
        let pod = json!({
            "metadata": {"name": "p"},
            "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]},
        });
        rig.put("pods", "x", pod);
        rig.delete("namespaces", "", "x", Delete::background());
        rig.settle().await;
        assert!(rig.get("pods", "x", "p").unwrap()["metadata"]["deletionTimestamp"].is_string());
        assert!(rig.get("configmaps", "x", "c0").is_some(), "pods go first");
        rig.delete("pods", "x", "p", Delete::now());
        rig.settle().await;
        assert!(rig.get("configmaps", "x", "c0").is_none());
        let namespace = rig.get("namespaces", "", "x").unwrap();
        let message =
            |kind: &str| super::super::amend::condition(&namespace, kind).unwrap()["message"].clone();
        assert_eq!(
            message("NamespaceContentRemaining"),
            "Some resources are remaining: secrets. has 1 resource instances"
        );
        assert_eq!(
            message("NamespaceFinalizersRemaining"),
            "Some content in the namespace has finalizers remaining: a/b in 1 resource instances"
        );
        rig.edit("secrets", "x", "s", "", |secret| secret["metadata"]["finalizers"] = Value::Null);
        rig.settle().await;
        assert!(rig.get("namespaces", "", "x").is_none());
        assert!(rig.get("secrets", "default", "s").is_some());
    }
}
