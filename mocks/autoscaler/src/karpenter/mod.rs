//! Karpenter in small: claims for pods that wait, nodes for claims, and an end for both. Correct by Karpenter's documents, with
//! its kwok provider: whoever launches a claim makes the node itself.
//!
//! ```text
//!   watches ─▶ Sight ─▶ lifecycle, termination, provision, disrupt ─▶ writes
//! ```
//!
//! All that it must not forget stands in objects; what stands in [`Memory`] it finds out again. It knows no spot machines, no
//! zones, no minimum of values, no expiry of budgets by schedule, and weighs no preferences.

mod disrupt;
mod lifecycle;
mod machines;
mod objects;
mod provision;
mod termination;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::apps::v1::DaemonSet;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1;
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::api::storage::v1::VolumeAttachment;
use kube::api::{Api, DeleteParams, Patch, PatchParams};
use mock_clock::{Clock as _, Time};
use serde_json::{Value, json};

use crate::defect::Defect;
use crate::health::Health;
use crate::kubernetes::{Cache, KubeClient, Refusal, read};
use crate::settings::Settings;
use crate::view::{Budget, Pod};
use objects::{DISRUPTED, DO_NOT_DISRUPT, NodeClaim, NodePool};

/// How often everything is looked at.
const TICK: Duration = Duration::from_secs(1);
/// How often is looked for nodes to disrupt.
const DISRUPTION: Duration = Duration::from_secs(10);
const NODE_LEASES: &str = "kube-node-lease";

/// Karpenter, from the first look to the end of the process.
pub(crate) struct Karpenter {
    settings: Arc<Settings>,
    client: KubeClient,
    pods: Cache<v1::Pod>,
    nodes: Cache<v1::Node>,
    budgets: Cache<PodDisruptionBudget>,
    daemons: Cache<DaemonSet>,
    pools: Cache<NodePool>,
    claims: Cache<NodeClaim>,
    attachments: Cache<VolumeAttachment>,
    leases: Cache<Lease>,
    memory: Memory,
}

/// What is remembered from look to look.
#[derive(Debug, Default)]
struct Memory {
    began: Option<Time>,
    /// Pods that wait, and since when they are known to.
    waiting: BTreeMap<String, Time>,
    /// Nodes that a pod is meant for, and until when.
    nominated: BTreeMap<String, Time>,
    /// The pods of each node, and when they last changed.
    tenants: BTreeMap<String, (BTreeSet<String>, Time)>,
    /// Claims that may go, and since when.
    candidates: BTreeMap<String, Time>,
    /// Claims whose nodes are tainted until their replacement is there.
    commands: BTreeMap<String, disrupt::Command>,
    /// Pods that could not be evicted, and when that is tried again.
    refused: BTreeMap<String, Time>,
    next_disruption: Option<Time>,
}

/// Everything as the caches have it.
struct Sight {
    now: Time,
    pods: Vec<Pod>,
    nodes: BTreeMap<String, v1::Node>,
    budgets: Vec<Budget>,
    daemons: Vec<Pod>,
    pools: BTreeMap<String, NodePool>,
    claims: BTreeMap<String, NodeClaim>,
    attached: BTreeSet<String>,
}

impl Sight {
    /// The node of a claim.
    fn node_of(&self, claim: &NodeClaim) -> Option<&v1::Node> {
        let id = claim.provider_id()?;
        self.nodes
            .values()
            .find(|node| node.spec.as_ref().and_then(|spec| spec.provider_id.as_deref()) == Some(id))
    }

    /// Pods that make a node needed.
    fn tenants<'s>(&'s self, node: &'s str) -> impl Iterator<Item = &'s Pod> {
        self.pods
            .iter()
            .filter(move |pod| pod.node.as_deref() == Some(node) && !pod.ended && !is_resident(pod))
    }

    /// Whether disruption budgets keep a pod where it is: one that lets none go, or more than one, which no eviction passes.
    fn is_blocked(&self, pod: &Pod) -> bool {
        let mut budgets = self.budgets.iter().filter(|budget| budget.covers(pod));
        budgets.next().is_some_and(|first| first.allowed < 1 || budgets.next().is_some())
    }
}

fn is_resident(pod: &Pod) -> bool {
    matches!(pod.owner, crate::view::Owner::DaemonSet | crate::view::Owner::Mirror)
}

fn is_pinned(pod: &Pod) -> bool {
    pod.annotations.get(DO_NOT_DISRUPT).is_some_and(|value| value == "true")
}

fn name_of(node: &v1::Node) -> &str {
    node.metadata.name.as_deref().unwrap_or_default()
}

fn has_taint(node: &v1::Node, key: &str) -> bool {
    node.spec.iter().flat_map(|spec| spec.taints.iter().flatten()).any(|taint| taint.key == key)
}

fn is_ready(node: &v1::Node) -> bool {
    let conditions = node.status.iter().flat_map(|status| status.conditions.iter().flatten());
    conditions.into_iter().any(|it| it.type_ == "Ready" && it.status == "True")
}

impl Karpenter {
    pub(crate) async fn start(settings: Arc<Settings>, client: KubeClient) -> Self {
        macro_rules! cache {
            () => {
                Cache::start(
                    Api::all(client.client.clone()),
                    client.clock.clone(),
                    settings.has(Defect::NeverListsAgain),
                )
            };
        }
        let leases = Api::namespaced(client.client.clone(), NODE_LEASES);
        let karpenter = Self {
            pods: cache!(),
            nodes: cache!(),
            budgets: cache!(),
            daemons: cache!(),
            pools: cache!(),
            claims: cache!(),
            attachments: cache!(),
            leases: Cache::start(leases, client.clock.clone(), false),
            memory: Memory::default(),
            settings,
            client,
        };
        while !karpenter.is_filled() {
            karpenter.client.clock.sleep(Duration::from_millis(100)).await;
        }
        karpenter
    }

    fn is_filled(&self) -> bool {
        self.pods.is_filled()
            && self.nodes.is_filled()
            && self.budgets.is_filled()
            && self.daemons.is_filled()
            && self.pools.is_filled()
            && self.claims.is_filled()
            && self.attachments.is_filled()
            && self.leases.is_filled()
    }

    /// Looks and acts for ever.
    pub(crate) async fn run(&mut self, health: &Health) {
        health.begin();
        let clock = self.client.clock.clone();
        self.memory.began = Some(clock.now());
        self.let_go().await;
        loop {
            let began = clock.now();
            health.active();
            if let Err(refusal) = self.once().await {
                tracing::warn!("failed to act: {refusal}");
            }
            health.success();
            clock.sleep_until(began + TICK).await;
        }
    }

    /// A predecessor may have died after it had chosen a node: the node is let go until it is chosen again.
    async fn let_go(&self) {
        if self.has(Defect::LeavesDisruptionTaint) {
            return;
        }
        let sight = self.look();
        for claim in sight.claims.values().filter(|claim| !claim.is_ending()) {
            if let Some(node) = sight.node_of(claim).filter(|node| has_taint(node, DISRUPTED))
                && let Err(refusal) = self.client.untaint(name_of(node), DISRUPTED, false).await
            {
                tracing::warn!("failed to let a node go: {refusal}");
            }
        }
    }

    async fn once(&mut self) -> Result<(), Refusal> {
        let sight = self.look();
        self.note_tenants(&sight);
        if self.has(Defect::TouchesForeignNodes) {
            self.touch_foreign(&sight).await?;
        }
        self.lifecycle(&sight).await?;
        self.terminate(&sight).await?;
        self.provision(&sight).await?;
        if self.memory.next_disruption.is_none_or(|next| next <= sight.now) {
            self.memory.next_disruption = Some(sight.now + DISRUPTION);
            self.disrupt(&sight).await?;
        }
        self.carry_on(&sight).await?;
        self.collect_leases().await
    }

    fn look(&self) -> Sight {
        let nodes = self.nodes.read(Clone::clone);
        let claims = self.claims.read(Clone::clone);
        let pools = self.pools.read(Clone::clone);
        let attached = self.attachments.read(|attachment| attachment.spec.node_name.clone());
        Sight {
            now: self.client.clock.now(),
            pods: self.pods.read(read::pod),
            nodes: nodes.into_iter().map(|node| (name_of(&node).to_owned(), node)).collect(),
            budgets: self.budgets.read(read::budget),
            daemons: self.daemons.read(read::daemon),
            pools: pools.into_iter().map(|pool| (pool.name().to_owned(), pool)).collect(),
            claims: claims.into_iter().map(|claim| (claim.name().to_owned(), claim)).collect(),
            attached: attached.into_iter().collect(),
        }
    }

    fn has(&self, defect: Defect) -> bool {
        self.settings.has(defect)
    }

    async fn touch_foreign(&self, sight: &Sight) -> Result<(), Refusal> {
        let label = |node: &mut v1::Node| {
            let before = node
                .metadata
                .labels
                .get_or_insert_default()
                .insert("karpenter.sh/seen".into(), "true".into());
            before.is_none()
        };
        let foreign = |node: &&v1::Node| {
            node.metadata.labels.as_ref().is_none_or(|labels| !labels.contains_key(objects::POOL))
        };
        for node in sight.nodes.values().filter(foreign) {
            self.client.change_node(name_of(node), label).await?;
        }
        Ok(())
    }

    /// When the pods of nodes last changed.
    fn note_tenants(&mut self, sight: &Sight) {
        for name in sight.nodes.keys() {
            let there: BTreeSet<String> =
                sight.tenants(name).filter(|pod| !pod.ending).map(Pod::key).collect();
            match self.memory.tenants.get_mut(name) {
                Some((before, _)) if *before == there => {}
                Some(known) => *known = (there, sight.now),
                None => drop(self.memory.tenants.insert(name.clone(), (there, sight.now))),
            }
        }
        self.memory.tenants.retain(|name, _| sight.nodes.contains_key(name));
    }

    async fn patch_claim(&self, name: &str, patch: Value, status: bool) -> Result<(), Refusal> {
        let claims: Api<NodeClaim> = Api::all(self.client.client.clone());
        let (params, patch) = (PatchParams::default(), Patch::Merge(patch));
        let done = async {
            if status {
                claims.patch_status(name, &params, &patch).await
            } else {
                claims.patch(name, &params, &patch).await
            }
        };
        self.client.ask(done).await.map(drop)
    }

    async fn delete_claim(&self, name: &str) -> Result<(), Refusal> {
        let claims: Api<NodeClaim> = Api::all(self.client.client.clone());
        self.client.ask(claims.delete(name, &DeleteParams::default())).await.map(drop)
    }

    /// Sets a condition, and whatever else of a status.
    async fn say(&self, claim: &NodeClaim, condition: &str, mut status: Value) -> Result<(), Refusal> {
        let mut conditions = claim.status["conditions"].as_array().cloned().unwrap_or_default();
        conditions.retain(|it| it["type"] != condition);
        conditions.push(json!({"type": condition, "status": "True", "reason": condition, "message": "",
            "lastTransitionTime": self.client.clock.now().to_string()}));
        status["conditions"] = json!(conditions);
        self.patch_claim(claim.name(), json!({"status": status}), true).await
    }

    /// Takes a condition away.
    async fn unsay(&self, claim: &NodeClaim, condition: &str) -> Result<(), Refusal> {
        let mut conditions = claim.status["conditions"].as_array().cloned().unwrap_or_default();
        conditions.retain(|it| it["type"] != condition);
        self.patch_claim(claim.name(), json!({"status": {"conditions": conditions}}), true).await
    }

    /// Leases of nodes that nobody owns are nobody's.
    async fn collect_leases(&self) -> Result<(), Refusal> {
        if self.has(Defect::LeavesLeases) {
            return Ok(());
        }
        let leases: Api<Lease> = Api::namespaced(self.client.client.clone(), NODE_LEASES);
        let stray = self.leases.read(|lease| {
            let owned = lease.metadata.owner_references.as_ref().is_some_and(|owners| !owners.is_empty());
            (!owned).then(|| lease.metadata.name.clone().unwrap_or_default())
        });
        for name in stray.into_iter().flatten() {
            self.client.ask(leases.delete(&name, &DeleteParams::default())).await?;
        }
        Ok(())
    }
}
