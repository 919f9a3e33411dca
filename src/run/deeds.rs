//! What somebody does by hand: to nodes, to the subject, and when a fault's time is over.

use std::sync::Arc;

use k8s_openapi::api::core::v1::Node;
use kube::api::{Api, DeleteParams, Patch, PatchParams};
use mock_clock::{Clock as _, Time};
use serde_json::json;

use super::RunError;
use super::stage::Stage;
use crate::cloud::POOL;
use crate::plan::{NodeDeed, Span, SubjectDeed};

impl Stage {
    /// Does something to one node of a pool; the seed draws which.
    pub(super) async fn do_to_node(
        &mut self,
        deed: &NodeDeed,
        pool: &str,
        seed: u64,
    ) -> Result<(), RunError> {
        let names: Vec<String> = self.observer.live().nodes(POOL, pool).into_keys().collect();
        let Some(drawn) =
            usize::try_from(seed % (names.len().max(1) as u64)).ok().and_then(|at| names.get(at))
        else {
            return Ok(());
        };
        let nodes: Api<Node> = Api::all(self.client.clone());
        let patch = match deed {
            NodeDeed::Cordon => json!({"spec": {"unschedulable": true}}),
            NodeDeed::Uncordon => json!({"spec": {"unschedulable": null}}),
            NodeDeed::Taint(taint) => {
                let taint = json!({"key": taint.key, "value": taint.value, "effect": taint.effect});
                json!({"spec": {"taints": [taint]}})
            }
            NodeDeed::Annotate { key, value } => json!({"metadata": {"annotations": {key.clone(): value}}}),
            NodeDeed::Delete => {
                let done = nodes.delete(drawn, &DeleteParams::default()).await;
                return done.map(drop).map_err(|e| RunError::Kube(format!("delete node {drawn}"), e));
            }
        };
        let done = nodes.patch(drawn, &PatchParams::default(), &Patch::Strategic(patch)).await;
        done.map(drop).map_err(|e| RunError::Kube(format!("change node {drawn}"), e))
    }

    /// Does something to the subject.
    pub(super) async fn do_to_subject(&mut self, deed: &SubjectDeed) {
        match deed {
            SubjectDeed::Kill => self.replicas.iter().take(1).for_each(|replica| replica.kill()),
            SubjectDeed::Restart => self.replicas.iter().take(1).for_each(|replica| replica.restart()),
            SubjectDeed::Pause(span) => {
                let Some(replica) = self.replicas.first().map(Arc::clone) else { return };
                replica.pause();
                if let Span::Fixed(period) = span {
                    self.clock.sleep(period.0).await;
                }
                replica.resume();
            }
            SubjectDeed::KillLeader => {
                let holder = self.observer.live().object("Lease", "kube-system", "cluster-autoscaler");
                let holder =
                    holder.and_then(|lease| lease["spec"]["holderIdentity"].as_str().map(str::to_owned));
                let leads = |host: &str| holder.as_deref().is_some_and(|holder| holder.starts_with(host));
                let leader = self.replicas.iter().find(|replica| leads(replica.host()));
                if let Some(replica) = leader.or(self.replicas.first()) {
                    replica.kill();
                }
            }
        }
    }

    /// Heals a fault at a moment.
    pub(super) fn heal_later(&mut self, name: &str, at: Time) {
        self.healings.push((at, name.to_owned()));
    }

    /// Heals what is due.
    pub(super) fn heal_due(&mut self) {
        let now = self.clock.now();
        let (due, later) = std::mem::take(&mut self.healings).into_iter().partition(|(at, _)| *at <= now);
        self.healings = later;
        let due: Vec<(Time, String)> = due;
        for (_, name) in due {
            self.ward.heal(&name);
        }
    }
}
