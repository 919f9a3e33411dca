//! A kubelet: the life of one machine from its boot to its end, stage by stage.
//!
//! It registers its node, tells how it is, and makes its lease; what renews the lease is the pulse of all kubelets, what
//! runs its pods stands with the pods.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Node;
use k8s_openapi::api::storage::v1::CSINode;
use kube::ResourceExt as _;
use kube::api::{Api, Patch, PatchParams, PostParams};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::injuries::Injury;
use super::node::{self, Health, Host};
use super::site::{Site, holds};
use crate::terms::Stage;

/// A kubelet and what it has to tell.
pub(super) struct Kubelet {
    pub(super) site: Arc<Site>,
    pub(super) host: Host,
    health: watch::Sender<Health>,
    /// Whether its machine is on.
    power: watch::Sender<bool>,
}

impl Kubelet {
    pub(super) fn new(site: Arc<Site>, host: Host, running: bool) -> Arc<Self> {
        let (health, power) = (watch::channel(Health::default()).0, watch::channel(running).0);
        Arc::new(Self { site, host, health, power })
    }

    /// The machine was switched on or off.
    pub(super) fn switch(&self, running: bool) {
        self.power.send_if_modified(|before| std::mem::replace(before, running) != running);
    }

    pub(super) fn name(&self) -> &str {
        &self.host.name
    }

    pub(super) fn pool(&self) -> Option<&str> {
        self.host.pool.as_deref()
    }

    pub(super) fn health(&self) -> watch::Receiver<Health> {
        self.health.subscribe()
    }

    /// Whether the pulse may speak for it: its node is registered, its machine on, and nobody keeps it silent.
    pub(super) fn speaks(&self) -> bool {
        self.health.borrow().uid.is_some() && *self.power.borrow() && !self.is_silenced()
    }

    fn is_silenced(&self) -> bool {
        let silent = self.site.injuries.find(|injury| is_silence(injury, self.name()));
        silent.inspect(|wound| wound.bite(self.name())).is_some()
    }

    /// Waits until it can reach the API server: its machine is on, and nobody keeps it silent.
    pub(super) async fn reaches(&self) {
        let mut power = self.power.subscribe();
        loop {
            // The sender lives in self.
            let _ = power.wait_for(|on| *on).await;
            self.site.injuries.without(self.name(), |injury| is_silence(injury, self.name())).await;
            if *self.power.borrow() {
                return;
            }
        }
    }

    async fn stage(&self, stage: Stage) {
        self.site.stage(stage, self.pool(), self.name()).await;
        self.reaches().await;
    }

    /// The life of the machine. It ends when it is aborted: the machine is gone.
    pub(super) async fn live(self: Arc<Self>) {
        if self.host.server.is_some() {
            self.reaches().await;
            self.stage(Stage::Boot).await;
            self.stage(Stage::Register).await;
        }
        self.register().await;
        if self.host.made.is_some() {
            // A node that somebody else has made does not say yet how it is.
            self.post().await;
        }
        if self.host.is_bought() {
            self.stage(Stage::Network).await;
        }
        let now = self.site.stamp();
        self.health.send_modify(|health| health.network = Some(now));
        self.post().await;
        if self.host.is_bought() {
            self.stage(Stage::CsiNode).await;
        }
        self.know_drivers().await;
        if self.host.is_bought() {
            self.stage(Stage::Ready).await;
        }
        let now = self.site.stamp();
        self.health.send_modify(|health| (health.ready, health.turned) = (true, now));
        self.post().await;
        self.keep_telling().await;
    }

    async fn register(&self) {
        let nodes: Api<Node> = Api::all(self.site.client.clone());
        let careless = |injury: &Injury| matches!(injury, Injury::NoCloudProvider { pool } if holds(pool.as_deref(), self.pool()));
        let wound = self.host.server.and_then(|_| self.site.injuries.find(careless));
        if let Some(wound) = &wound {
            wound.bite(self.name());
        }
        let now = self.site.stamp();
        let mut health = Health { registered: Some(now.clone()), turned: now.clone(), ..Health::default() };
        let uid = if let Some(uid) = &self.host.made {
            uid.clone()
        } else {
            let external = self.host.server.is_some() && wound.is_none();
            let node = node::registration(&self.host, external, &health, &now);
            let made = self.create(&nodes, &node).await;
            // A node of this name that is there already is taken over, as by a kubelet that was started again.
            let made = match made {
                Some(node) => Some(node),
                None => self.site.call("read a node", || nodes.get(self.name())).await,
            };
            made.and_then(|node| node.uid()).unwrap_or_default()
        };
        let leases: Api<Lease> = Api::namespaced(self.site.client.clone(), "kube-node-lease");
        self.create(&leases, &node::lease(self.name(), &uid, &self.site.stamp_micros())).await;
        health.uid = Some(uid);
        self.health.send_replace(health);
    }

    async fn know_drivers(&self) {
        let uid = self.health.borrow().uid.clone().unwrap_or_default();
        let drivers: Api<CSINode> = Api::all(self.site.client.clone());
        self.create(&drivers, &node::csi_node(&self.host, &uid)).await;
        if self.host.server.is_some() {
            let nodes: Api<Node> = Api::all(self.site.client.clone());
            let labels = Patch::Merge(
                json!({"metadata": {"labels": {"csi.hetzner.cloud/location": self.host.location}}}),
            );
            let params = PatchParams::default();
            self.site.call("label a node", || nodes.patch(self.name(), &params, &labels)).await;
        }
        self.health.send_modify(|health| health.csi = true);
        self.post().await;
    }

    async fn create<K>(&self, api: &Api<K>, object: &Value) -> Option<K>
    where
        K: Clone + serde::Serialize + serde::de::DeserializeOwned + std::fmt::Debug,
    {
        let object: K = match serde_json::from_value(object.clone()) {
            Ok(object) => object,
            Err(error) => {
                (self.site.trouble)(format!("write an object of node {}: {error}", self.name()));
                return None;
            }
        };
        let params = PostParams::default();
        self.site.call("create an object of a node", || api.create(&params, &object)).await
    }

    /// Tells how it is, as a kubelet does at each change and every five minutes.
    pub(super) async fn post(&self) {
        let nodes: Api<Node> = Api::all(self.site.client.clone());
        let conditions = self.health.borrow().conditions(&self.site.stamp());
        let patch = Patch::Strategic(json!({"status": {"conditions": conditions}}));
        let params = PatchParams::default();
        self.site.call("tell how a node is", || nodes.patch_status(self.name(), &params, &patch)).await;
    }

    /// From now on only faults and switches change anything.
    async fn keep_telling(&self) {
        let mut changes = self.site.injuries.changes();
        let mut power = self.power.subscribe();
        loop {
            let was_mute = self.is_silenced() || !*power.borrow_and_update();
            self.reaches().await;
            let turned = self.turn();
            if turned || was_mute {
                self.post().await;
            }
            tokio::select! {
                _ = changes.changed() => {}
                _ = power.changed() => {}
            }
        }
    }

    /// Is ready, or not, as it should be at the moment. Says whether that is a change.
    fn turn(&self) -> bool {
        let wound = self.site.injuries.find(|injury| {
            matches!(injury, Injury::Flapping { pool, off } if Some(pool.as_str()) == self.pool() && off.load(Ordering::Relaxed))
        });
        let flapping = wound.inspect(|wound| wound.bite(self.name())).is_some();
        let now = self.site.stamp();
        self.health.send_if_modified(|health| {
            let turned = std::mem::replace(&mut health.flapping, flapping) != flapping;
            if turned {
                health.turned = now;
            }
            turned
        })
    }
}

/// Whether kubelets without a voice include this one.
fn is_silence(injury: &Injury, name: &str) -> bool {
    matches!(injury, Injury::Silent { nodes } if nodes.contains(name))
}
