//! The end of a claim and its node: tainted, drained, detached, gone.

use std::time::Duration;

use k8s_openapi::api::core::v1;
use kube::api::{Api, DeleteParams, Patch, PatchParams};
use mock_clock::Time;
use serde_json::{Value, json};

use super::objects::{DISRUPTED, FINALIZER, NodeClaim, at};
use super::{Karpenter, Sight, has_taint, is_pinned, name_of};
use crate::defect::Defect;
use crate::kubernetes::Refusal;
use crate::settings::span;
use crate::view::{Pod, Taint};

/// After so long a refused eviction is tried again.
const AGAIN: Duration = Duration::from_secs(10);

impl Karpenter {
    pub(super) async fn terminate(&mut self, sight: &Sight) -> Result<(), Refusal> {
        for claim in sight.claims.values() {
            let node = sight.node_of(claim);
            let node_ends = node.is_some_and(|node| node.metadata.deletion_timestamp.is_some());
            if !claim.is_ending() {
                if node_ends && !self.has(Defect::LeavesClaimsOfDeletedNodes) {
                    self.delete_claim(claim.name()).await?;
                }
                continue;
            }
            match node {
                Some(node) if !node_ends => self.client.delete_node(name_of(node)).await?,
                Some(node) => self.end(sight, claim, node).await?,
                None if self.has(Defect::NeverLetsGo) => {}
                None => self.release(claim.name(), &json!({"metadata": {"finalizers": null}})).await?,
            }
        }
        Ok(())
    }

    async fn end(&mut self, sight: &Sight, claim: &NodeClaim, node: &v1::Node) -> Result<(), Refusal> {
        let name = name_of(node);
        if !has_taint(node, DISRUPTED) {
            self.client.taint(name, DISRUPTED, "NoSchedule", false).await?;
        }
        let began = claim.metadata.deletion_timestamp.as_ref().map(at);
        let grace = claim.spec["terminationGracePeriod"].as_str().and_then(|text| span(text).ok());
        let deadline = began.zip(grace).map(|(began, grace)| began + grace);
        let deadline = deadline.filter(|_| !self.has(Defect::DrainsForEver));
        let mut left = 0;
        for pod in leavers(sight, name) {
            left += 1;
            self.ask_to_leave(sight, pod, deadline).await?;
        }
        let attached = sight.attached.contains(name) && !self.has(Defect::IgnoresAttachments);
        let over = deadline.is_some_and(|deadline| sight.now >= deadline);
        if (left == 0 && !attached) || over {
            let nodes: Api<v1::Node> = Api::all(self.client.client.clone());
            let kept: Vec<&String> = node
                .metadata
                .finalizers
                .iter()
                .flatten()
                .filter(|finalizer| *finalizer != FINALIZER)
                .collect();
            let patch = Patch::Merge(json!({"metadata": {"finalizers": kept}}));
            self.client.ask(nodes.patch(name, &PatchParams::default(), &patch)).await?;
        }
        Ok(())
    }

    async fn ask_to_leave(
        &mut self,
        sight: &Sight,
        pod: &Pod,
        deadline: Option<Time>,
    ) -> Result<(), Refusal> {
        let key = pod.key();
        if pod.ending || self.memory.refused.get(&key).is_some_and(|again| sight.now < *again) {
            return Ok(());
        }
        let force = deadline.is_some_and(|deadline| sight.now + Duration::from_secs(pod.grace_s) >= deadline);
        if force || self.has(Defect::KillsPods) {
            let left = deadline.map_or(pod.grace_s, |deadline| (deadline - sight.now).as_secs()).max(1);
            return self.kill(pod, u32::try_from(left).unwrap_or(u32::MAX)).await;
        }
        if is_pinned(pod) && !self.has(Defect::EvictsPinnedPods) {
            return Ok(());
        }
        match self.client.evict(&key, pod.grace_s).await {
            Ok(()) => {}
            Err(refusal) if matches!(refusal.code, 404 | 409) => {}
            Err(refusal) if refusal.code == 429 => drop(self.memory.refused.insert(key, sight.now + AGAIN)),
            Err(refusal) => return Err(refusal),
        }
        Ok(())
    }

    async fn kill(&self, pod: &Pod, grace_s: u32) -> Result<(), Refusal> {
        let pods: Api<v1::Pod> = Api::namespaced(self.client.client.clone(), &pod.namespace);
        let params = DeleteParams { grace_period_seconds: Some(grace_s), ..DeleteParams::default() };
        match self.client.ask(pods.delete(&pod.name, &params)).await {
            Err(refusal) if refusal.code == 404 => Ok(()),
            done => done.map(drop),
        }
    }

    async fn release(&self, claim: &str, patch: &Value) -> Result<(), Refusal> {
        match self.patch_claim(claim, patch.clone(), false).await {
            Err(refusal) if refusal.code == 404 => Ok(()),
            done => done,
        }
    }
}

/// Pods that must be gone before the node may go: not those that tolerate its end.
fn leavers<'s>(sight: &'s Sight, node: &'s str) -> impl Iterator<Item = &'s Pod> {
    let taint = Taint { key: DISRUPTED.to_owned(), value: String::new(), effect: "NoSchedule".to_owned() };
    sight.tenants(node).filter(move |pod| !pod.tolerates(std::slice::from_ref(&taint)))
}
