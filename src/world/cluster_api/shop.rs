//! What every controller of Cluster API works with: the shelf, the writes that go by it, and what slows them down.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use kube::api::{Api, DeleteParams, DynamicObject, Patch, PatchParams, PostParams};
use mock_clock::Clock as _;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

use super::Order;
use super::kinds::{Contract, Kind, NAMESPACE};
use super::shelf::Shelf;
use crate::terms::{MachineEvent, Pool};
use crate::world::injuries::Injury;
use crate::world::site::{Site, holds};

/// What every controller works with.
pub(super) struct Shop {
    pub(super) site: Arc<Site>,
    pub(super) shelf: Shelf,
    pub(super) contract: Contract,
    pub(super) pools: Vec<Pool>,
    pub(super) machines: UnboundedSender<MachineEvent>,
    /// The ids of machines, and how many each set has made: for their names.
    last_id: AtomicU64,
    made: Mutex<BTreeMap<String, u64>>,
}

impl Shop {
    pub(super) fn new(site: Arc<Site>, order: &Order<'_>) -> Self {
        Self {
            site,
            shelf: Shelf::default(),
            contract: order.contract,
            pools: order.pools.to_vec(),
            machines: order.machines.clone(),
            last_id: AtomicU64::new(0),
            made: Mutex::default(),
        }
    }

    pub(super) fn next_id(&self) -> u64 {
        self.last_id.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// How many machines a set has made before this one.
    pub(super) fn count_up(&self, set: &str) -> u64 {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let count = made.entry(set.to_owned()).or_default();
        *count += 1;
        *count - 1
    }

    pub(super) fn pool(&self, name: &str) -> Option<&Pool> {
        self.pools.iter().find(|pool| pool.name == name)
    }

    pub(super) fn api(&self, kind: Kind) -> Api<DynamicObject> {
        let resource = kind.resource(self.contract);
        match kind {
            Kind::Node => Api::all_with(self.site.client.clone(), &resource),
            _ => Api::namespaced_with(self.site.client.clone(), NAMESPACE, &resource),
        }
    }

    /// Makes an object; its API version and kind are added.
    pub(super) async fn create(&self, kind: Kind, mut object: Value) -> Option<DynamicObject> {
        let resource = kind.resource(self.contract);
        object["apiVersion"] = json!(resource.api_version);
        object["kind"] = json!(resource.kind);
        let object: DynamicObject = match serde_json::from_value(object) {
            Ok(object) => object,
            Err(error) => {
                (self.site.trouble)(format!("write an object of the kind {}: {error}", kind.name()));
                return None;
            }
        };
        let (api, params) = (self.api(kind), PostParams::default());
        let what = format!("make an object of the kind {}", kind.name());
        let made = self.site.call(&what, || api.create(&params, &object)).await?;
        self.shelf.put(kind, made.clone());
        Some(made)
    }

    /// Changes an object.
    pub(super) async fn patch(&self, kind: Kind, name: &str, patch: &Value) -> Option<DynamicObject> {
        let (api, params, patch) = (self.api(kind), PatchParams::default(), Patch::Merge(patch));
        let what = format!("change {} {name}", kind.name());
        let changed = self.site.call(&what, || api.patch(name, &params, &patch)).await?;
        self.shelf.put(kind, changed.clone());
        Some(changed)
    }

    /// Tells how an object is, if that is not what it says.
    pub(super) async fn tell(&self, kind: Kind, object: &DynamicObject, status: &Value) {
        if says(&object.data["status"], status) {
            return;
        }
        let name = object.metadata.name.as_deref().unwrap_or_default();
        let (api, params) = (self.api(kind), PatchParams::default());
        let patch = Patch::Merge(json!({"status": status}));
        let what = format!("tell how {} {name} is", kind.name());
        if let Some(changed) = self.site.call(&what, || api.patch_status(name, &params, &patch)).await {
            self.shelf.put(kind, changed);
        }
    }

    /// Tells an object to go.
    pub(super) async fn delete(&self, kind: Kind, name: &str) {
        let (api, params) = (self.api(kind), DeleteParams::default());
        let what = format!("delete {} {name}", kind.name());
        let deleted = self.site.call(&what, || api.delete(name, &params)).await;
        #[expect(
            clippy::redundant_closure_for_method_calls,
            reason = "its type is of a crate that is not used here"
        )]
        let there = deleted.and_then(|answer| answer.left());
        // What is gone at once is told by the watch.
        if let Some(object) = there.filter(|it| it.metadata.deletion_timestamp.is_some()) {
            self.shelf.put(kind, object);
        }
    }

    /// What a controller waits before it does something: nothing, unless it is slow.
    pub(super) async fn pace(&self, pool: &str, whom: &str) {
        let slow = |injury: &Injury| matches!(injury, Injury::SlowClusterApi { pool: of, .. } if holds(of.as_deref(), Some(pool)));
        let begun = self.site.clock.now();
        let mut changes = self.site.injuries.changes();
        let mut bitten = false;
        while let Some(wound) = self.site.injuries.find(slow) {
            if !std::mem::replace(&mut bitten, true) {
                wound.bite(whom);
            }
            let Injury::SlowClusterApi { takes, .. } = wound.injury else { return };
            tokio::select! {
                _ = self.site.clock.sleep_until(begun + takes) => return,
                _ = changes.changed() => {}
            }
        }
    }
}

/// Whether a status says all of this already.
fn says(status: &Value, all: &Value) -> bool {
    match (status, all) {
        (Value::Object(status), Value::Object(all)) => {
            all.iter().all(|(key, value)| says(status.get(key).unwrap_or(&Value::Null), value))
        }
        (status, all) => status == all,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_says_what_it_holds_whatever_else_it_holds() {
        let status =
            json!({"replicas": 1, "deprecated": {"v1beta1": {"readyReplicas": 1}}, "phase": "Running"});
        assert!(says(&status, &json!({"replicas": 1, "deprecated": {"v1beta1": {"readyReplicas": 1}}})));
        assert!(!says(&status, &json!({"replicas": 2})) && !says(&status, &json!({"other": 0})));
        assert!(says(&status, &json!({"other": null})));
    }
}
