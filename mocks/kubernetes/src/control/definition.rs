//! Definitions of custom resources that go: their objects go first.

use std::collections::BTreeMap;
use std::time::Duration;

use super::amend::{Condition, amend, drop_finalizer, erase, set_condition};
use super::frame::{Controller, Next};
use super::queue::Queue;
use crate::api::{Api, CLEANUP, Delete};
use crate::status::Status;
use crate::store::{Change, Key};

const MANAGER: &str = "crd-finalizer";
const DEFINITIONS: &str = "customresourcedefinitions.apiextensions.k8s.io";
/// At most so many objects are deleted at a time.
const BATCH: usize = 100;

/// Waits for the objects of definitions that go.
#[derive(Default)]
pub(super) struct Undefiner {
    /// The shelf of each, which is the name of its definition.
    going: BTreeMap<String, Key>,
}

impl Controller for Undefiner {
    type Item = Key;

    fn observe(&mut self, shelf: &str, change: &Change, queue: &mut Queue<Key>) {
        let object = &change.object;
        if shelf == DEFINITIONS {
            if change.deleted || !object.deleting {
                self.going.remove(&*object.key.name);
            } else {
                self.going.insert(object.key.name.to_string(), object.key.clone());
                queue.add(object.key.clone());
            }
        } else if let Some(definition) = self.going.get(shelf) {
            queue.add(definition.clone());
        }
    }

    fn reconcile(&mut self, api: &Api, key: &Key) -> Result<Next, Status> {
        let Some(definition) = api.store().get(DEFINITIONS, key) else { return Ok(Next::Done) };
        let held = definition.value()["metadata"]["finalizers"]
            .as_array()
            .is_some_and(|list| list.iter().any(|found| found == CLEANUP));
        if !held || !definition.deleting {
            return Ok(Next::Done);
        }
        let shelf: &str = &key.name;
        let objects = api.store().list(shelf, "").objects;
        if objects.is_empty() {
            tell(api, key, ("False", "InstanceDeletionCompleted", "removed all instances"))?;
            amend(api, (DEFINITIONS, key, ""), MANAGER, |definition| drop_finalizer(definition, CLEANUP))?;
            return Ok(Next::Done);
        }
        tell(api, key, ("True", "InstanceDeletionInProgress", "CustomResource deletion is in progress"))?;
        let fresh: Vec<_> = objects.iter().filter(|object| !object.deleting).collect();
        for object in fresh.iter().take(BATCH) {
            erase(api, (shelf, &object.key), MANAGER, &Delete::background().only(&object.uid))?;
        }
        Ok(if fresh.len() > BATCH { Next::After(Duration::ZERO) } else { Next::Done })
    }
}

fn tell(api: &Api, key: &Key, (status, reason, message): (&str, &str, &str)) -> Result<(), Status> {
    amend(api, (DEFINITIONS, key, "status"), MANAGER, |definition| {
        set_condition(api, definition, Condition { kind: "Terminating", status, reason, message });
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::frame::EVERY_SHELF;
    use super::super::rig::Rig;
    use super::*;

    #[tokio::test]
    async fn a_definition_goes_after_its_objects() {
        let mut rig = Rig::new();
        rig.start(MANAGER, &[EVERY_SHELF], Undefiner::default);
        rig.put(
            "customresourcedefinitions",
            "",
            json!({
                "metadata": {"name": "gadgets.x.io"},
                "spec": {
                    "group": "x.io", "scope": "Namespaced",
                    "names": {"plural": "gadgets", "kind": "Gadget"},
                    "versions": [{
                        "name": "v1", "served": true, "storage": true,
                        "schema": {"openAPIV3Schema": {"type": "object"}},
                    }],
                },
            }),
        );
        rig.put("gadgets", "default", json!({"metadata": {"name": "a"}}));
        rig.put("gadgets", "default", json!({"metadata": {"name": "b", "finalizers": ["c/d"]}}));
        rig.delete("customresourcedefinitions", "", "gadgets.x.io", Delete::background());
        rig.settle().await;
        assert!(rig.get("gadgets", "default", "a").is_none());
        let definition = rig.get("customresourcedefinitions", "", "gadgets.x.io").unwrap();
        let terminating = super::super::amend::condition(&definition, "Terminating").unwrap();
        assert_eq!(terminating["status"], "True");
        rig.edit("gadgets", "default", "b", "", |gadget| gadget["metadata"]["finalizers"] = Value::Null);
        rig.settle().await;
        assert!(rig.get("customresourcedefinitions", "", "gadgets.x.io").is_none());
        assert!(rig.api.registry().resources().all(|resource| resource.plural != "gadgets"));
    }
}
