//! What somebody does by hand: to nodes, and to the subject.

use k8s_openapi::api::core::v1::Node;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, Patch, PatchParams};
use kube::core::GroupVersionKind;
use mock_clock::Clock as _;
use serde_json::json;

use super::RunError;
use super::stage::Stage;
use crate::plan::{GroupDeed, NodeDeed, PoolEdit, Span, SubjectDeed};
use crate::subject::LeaseName;
use crate::world::bounds;

impl Stage {
    /// Does something to one node of a pool; the seed draws which. Says so if there is nobody or nothing to do it to.
    pub(super) async fn do_to_node(
        &mut self,
        deed: &NodeDeed,
        pool: &str,
        seed: u64,
    ) -> Result<Option<String>, RunError> {
        let names: Vec<String> = self.observer.live().nodes(self.pool_label, pool).into_keys().collect();
        let Some(drawn) =
            usize::try_from(seed % (names.len().max(1) as u64)).ok().and_then(|at| names.get(at))
        else {
            return Ok(Some(format!("nothing was done: no node of {pool} is there")));
        };
        let nodes: Api<Node> = Api::all(self.client.clone());
        let patch = match deed {
            NodeDeed::Cordon => json!({"spec": {"unschedulable": true}}),
            NodeDeed::Uncordon => json!({"spec": {"unschedulable": null}}),
            NodeDeed::Taint(taint) => {
                let taint = json!({"key": taint.key, "value": taint.value, "effect": taint.effect});
                json!({"spec": {"taints": [taint]}})
            }
            NodeDeed::Untaint(key) => {
                let node =
                    nodes.get(drawn).await.map_err(|e| RunError::Kube(format!("read node {drawn}"), e))?;
                let taints = node.spec.and_then(|spec| spec.taints).unwrap_or_default();
                if !taints.iter().any(|taint| taint.key == *key) {
                    return Ok(Some(format!("nothing was done: {drawn} has no taint {key}")));
                }
                let kept: Vec<_> = taints.into_iter().filter(|taint| taint.key != *key).collect();
                let patch = json!({"spec": {"taints": kept}, "metadata": {"resourceVersion": node.metadata.resource_version}});
                let done = nodes.patch(drawn, &PatchParams::default(), &Patch::Merge(patch)).await;
                return done.map(|_| None).map_err(|e| RunError::Kube(format!("change node {drawn}"), e));
            }
            NodeDeed::Annotate { key, value } => json!({"metadata": {"annotations": {key.clone(): value}}}),
            NodeDeed::Delete => {
                let done = nodes.delete(drawn, &DeleteParams::default()).await;
                return done.map(|_| None).map_err(|e| RunError::Kube(format!("delete node {drawn}"), e));
            }
        };
        let done = nodes.patch(drawn, &PatchParams::default(), &Patch::Strategic(patch)).await;
        done.map(|_| None).map_err(|e| RunError::Kube(format!("change node {drawn}"), e))
    }

    /// Does something to the machine deployment that is a pool.
    pub(super) async fn do_to_group(&self, deed: &GroupDeed, pool: &str) -> Result<(), RunError> {
        let Some(cluster_api) = &self.cluster_api else { return Ok(()) };
        let patch = match deed {
            GroupDeed::RollOut => {
                let version = format!("v1.35.{}", self.clock.now().unix_nanos() / 1_000_000_000 % 1_000_000);
                json!({"spec": {"template": {"spec": {"version": version}}}})
            }
            GroupDeed::Replicas(count) => json!({"spec": {"replicas": count}}),
            GroupDeed::Limits { min, max } => json!({"metadata": {"annotations": bounds(*min, *max)}}),
            GroupDeed::Annotate { key, value } => json!({"metadata": {"annotations": {key.clone(): value}}}),
        };
        let done = cluster_api.change_deployment(pool, &patch).await;
        done.map_err(|e| RunError::Kube(format!("change the machine deployment {pool}"), e))
    }

    /// Changes the object of a pool.
    pub(super) async fn edit_pool(&self, edit: &PoolEdit) -> Result<(), RunError> {
        let Some(karpenter) = &self.karpenter else { return Ok(()) };
        let kind = GroupVersionKind::gvk("karpenter.sh", karpenter.api.word(), "NodePool");
        let pools: Api<DynamicObject> = Api::all_with(self.client.clone(), &ApiResource::from_gvk(&kind));
        let mut patch = json!({});
        if let Some(label) = &edit.label {
            patch["spec"]["template"]["metadata"]["labels"][&label.key] = json!(label.value);
        }
        if let Some(weight) = edit.weight {
            patch["spec"]["weight"] = json!(weight);
        }
        let done = pools.patch(&edit.name, &PatchParams::default(), &Patch::Merge(patch)).await;
        done.map(drop).map_err(|e| RunError::Kube(format!("change pool {}", edit.name), e))
    }

    /// Does something to the subject: to its first replica, or to the one that leads.
    pub(super) async fn do_to_subject(&mut self, deed: &SubjectDeed, lease: Option<&LeaseName>) {
        let replicas = self.cast.replicas();
        let Some(first) = replicas.first() else { return };
        match deed {
            SubjectDeed::Kill => first.kill(),
            SubjectDeed::Restart => first.restart(),
            SubjectDeed::Pause(span) => {
                first.pause();
                if let Span::Fixed(period) = span {
                    self.clock.sleep(period.0).await;
                }
                first.resume();
            }
            SubjectDeed::KillLeader => {
                let holder = lease.and_then(|lease| self.holder(lease));
                let leader = replicas.iter().find(|replica| holder.as_deref() == Some(replica.host()));
                leader.unwrap_or(first).lose();
            }
        }
    }
}
