//! The end of a node: tainted, emptied, and its server deleted; or left as it was, if that is not possible.

use std::time::Duration;

use mock_clock::Clock as _;

use super::Hands;
use crate::decide::{Removal, TO_BE_DELETED};
use crate::defect::Defect;
use crate::kubernetes::{Refusal, Told};
use crate::memory::Outcome;

const DELAY_DELETION: &str = "delay-deletion.cluster-autoscaler.kubernetes.io/";
/// How often an eviction is tried, and how often is looked whether pods have gone.
const EVICT_AGAIN: Duration = Duration::from_secs(10);
const LOOK_AGAIN: Duration = Duration::from_secs(5);
/// What pods get beyond their grace.
const HEADROOM: Duration = Duration::from_secs(30);

impl Hands {
    pub(super) async fn remove(self, removal: Removal) {
        tracing::info!("removing {} with {} pods", removal.node, removal.pods.len());
        let node = removal.node.clone();
        match self.try_to_remove(&removal).await {
            Ok(()) => {
                if self.settings.has(Defect::DeletesNodeObject) {
                    let _ = self.client.delete_node(&node).await;
                }
                self.tell(Outcome::Removed { node, server: removal.server });
            }
            Err(why) => {
                tracing::warn!("failed to remove {node}: {why}");
                self.events.tell(
                    Told::Node(&node),
                    "ScaleDownFailed",
                    format!("failed to delete node: {why}"),
                );
                if !self.settings.has(Defect::LeavesTaintOnFailure) {
                    self.restore(&node).await;
                }
                if self.settings.has(Defect::ForgetsFailedRemovals) {
                    self.tell(Outcome::Removed { node, server: removal.server });
                } else {
                    self.tell(Outcome::NotRemoved { node });
                }
            }
        }
    }

    async fn try_to_remove(&self, removal: &Removal) -> Result<(), String> {
        let arguments = &self.settings.arguments;
        let clock = &self.client.clock;
        if self.settings.has(Defect::EvictsBeforeTainting) {
            self.evict_all(removal).await?;
        }
        let cordon = arguments.cordon_node_before_terminating;
        let tainted = self.client.taint(&removal.node, TO_BE_DELETED, "NoSchedule", cordon).await;
        tainted.map_err(|refusal| format!("taint it: {refusal}"))?;
        clock.sleep(arguments.node_delete_delay_after_taint).await;
        if removal.pods.is_empty() {
            let arrived = self.caches.has_guests(&removal.node, arguments.expendable_pods_priority_cutoff);
            if arrived && !self.settings.has(Defect::DeletesThoughPodArrived) {
                return Err("a pod has arrived meanwhile".to_owned());
            }
        } else {
            self.evict_all(removal).await?;
        }
        self.evict_daemons(removal).await;
        self.wait_for_permission(&removal.node).await;
        self.market.delete(removal.server).await.map_err(|e| format!("delete server {}: {e}", removal.server))
    }

    /// Evicts the pods and waits until they are gone.
    async fn evict_all(&self, removal: &Removal) -> Result<(), String> {
        let arguments = &self.settings.arguments;
        let clock = &self.client.clock;
        let deadline = clock.now() + arguments.max_pod_eviction_time;
        let mut left = removal.pods.clone();
        let mut longest = Duration::ZERO;
        loop {
            let mut refused = Vec::new();
            for pod in left {
                let grace_s = self.caches.grace_s(&pod).min(arguments.max_graceful_termination_sec);
                longest = longest.max(Duration::from_secs(grace_s));
                match self.evict(&pod, grace_s).await {
                    Err(refusal) if refusal.code != 404 => refused.push((pod, refusal.to_string())),
                    _ => {}
                }
            }
            let Some((pod, why)) = refused.first() else { break };
            if clock.now() + EVICT_AGAIN > deadline {
                if self.settings.has(Defect::DeletesDespiteFailedEvictions) {
                    return Ok(());
                }
                self.events.tell(Told::Pod(pod), "ScaleDownFailed", format!("failed to evict: {why}"));
                return Err(format!("evict {pod}: {why}"));
            }
            left = refused.into_iter().map(|(pod, _)| pod).collect();
            clock.sleep(EVICT_AGAIN).await;
        }
        self.wait_until_gone(removal, longest + HEADROOM).await
    }

    async fn evict(&self, pod: &str, grace_s: u64) -> Result<(), Refusal> {
        if self.settings.has(Defect::IgnoresBudgets) {
            return self.client.delete_pod(pod).await;
        }
        self.client.evict(pod, grace_s).await
    }

    /// Waits for pods to end, but no longer than `patience`: then they end with the node, as the documents say.
    async fn wait_until_gone(&self, removal: &Removal, patience: Duration) -> Result<(), String> {
        let clock = &self.client.clock;
        let deadline = clock.now() + patience;
        loop {
            let mut there = None;
            for pod in &removal.pods {
                // Who cannot be asked after is believed to be there.
                if self.client.is_on(pod, &removal.node).await.unwrap_or(true) {
                    there = Some(pod);
                    break;
                }
            }
            let Some(pod) = there else { return Ok(()) };
            if clock.now() >= deadline {
                if self.settings.has(Defect::WaitsForPodsForEver) {
                    return Err(format!("{pod} does not end"));
                }
                tracing::warn!("{pod} has not ended within {patience:?} and ends with its node");
                return Ok(());
            }
            clock.sleep_until((clock.now() + LOOK_AGAIN).min(deadline)).await;
        }
    }

    /// Daemons are asked once, and not waited for.
    async fn evict_daemons(&self, removal: &Removal) {
        for pod in &removal.daemons {
            if let Err(refusal) = self.client.evict(pod, 30).await {
                tracing::debug!("failed to evict {pod}: {refusal}");
            }
        }
    }

    /// Waits for annotations that delay the end, but not for ever.
    async fn wait_for_permission(&self, name: &str) {
        if self.settings.has(Defect::IgnoresDelayDeletion) {
            return;
        }
        let clock = &self.client.clock;
        let deadline = clock.now() + self.settings.arguments.node_deletion_delay_timeout;
        loop {
            let node = self.client.node(name).await.ok().flatten();
            let annotations = node.and_then(|node| node.metadata.annotations).unwrap_or_default();
            if !annotations.keys().any(|key| key.starts_with(DELAY_DELETION)) || clock.now() >= deadline {
                return;
            }
            clock.sleep_until((clock.now() + LOOK_AGAIN).min(deadline)).await;
        }
    }

    /// Gives the node back to the scheduler; as long as that takes.
    pub(crate) async fn restore(&self, node: &str) {
        let uncordon = self.settings.arguments.cordon_node_before_terminating;
        loop {
            match self.client.untaint(node, TO_BE_DELETED, uncordon).await {
                Err(refusal) if refusal.code != 404 => {
                    tracing::warn!("failed to take the taint of {node} away: {refusal}");
                    self.client.clock.sleep(EVICT_AGAIN).await;
                }
                _ => return,
            }
        }
    }
}
