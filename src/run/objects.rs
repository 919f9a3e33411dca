//! What somebody does by hand to workloads that run, and to any object of the cluster.

use kube::Discovery;
use kube::api::{Api, DeleteParams, DynamicObject, PostParams};
use kube::discovery::{ApiResource, Scope};
use serde_json::Value;

use super::RunError;
use super::stage::Stage;
use crate::plan::{BudgetEdit, ObjectName, WorkloadEdit};
use crate::world::Budget;

impl Stage {
    /// Changes a workload. Says so if nothing could be.
    pub(super) async fn change(&mut self, edit: &WorkloadEdit) -> Result<Option<String>, RunError> {
        let WorkloadEdit { workload: name, pods, budget, labels } = edit;
        let Some(workload) = self.workloads.get(name) else {
            return Ok(Some(format!("nothing was done: there is no workload {name}")));
        };
        let failed = |e| RunError::Kube(format!("change the workload {name}"), e);
        if let Some(budget) = budget {
            let budget = match *budget {
                BudgetEdit::None => None,
                BudgetEdit::MaxUnavailable(away) => Some(Budget::MaxUnavailable(away)),
                BudgetEdit::MinAvailable(there) => Some(Budget::MinAvailable(there)),
            };
            self.world.set_budget(workload, budget).await.map_err(failed)?;
        }
        let mut labelled = 1;
        if !labels.is_empty() {
            labelled = self.world.label_pods(workload, labels).await.map_err(failed)?;
        }
        if let Some(pods) = pods {
            self.scale(name, *pods).await?;
        }
        Ok((labelled == 0).then(|| format!("no pod was labelled: none of {name} is there")))
    }

    /// Makes an object by hand. Says why if it is refused.
    pub(super) async fn create(&self, object: &Value) -> Result<Option<String>, RunError> {
        let kind = object["kind"].as_str().unwrap_or_default();
        let namespace = object["metadata"]["namespace"].as_str();
        let written: DynamicObject = match serde_json::from_value(object.clone()) {
            Ok(written) => written,
            Err(error) => return Ok(Some(format!("nothing was done: this is no object: {error}"))),
        };
        let Some(api) = self.api_of(kind, namespace).await? else { return Ok(Some(unknown(kind))) };
        let done = api.create(&PostParams::default(), &written).await;
        Self::refused(done.map(drop), || format!("create {kind}"))
    }

    /// Deletes an object by hand. Says why if it is not there, or stays.
    pub(super) async fn delete(&self, of: &ObjectName) -> Result<Option<String>, RunError> {
        let ObjectName { kind, name, namespace } = of;
        let Some(api) = self.api_of(kind, namespace.as_deref()).await? else {
            return Ok(Some(unknown(kind)));
        };
        let done = api.delete(name, &DeleteParams::background()).await;
        Self::refused(done.map(drop), || format!("delete {kind} {name}"))
    }

    /// Where objects of a kind are, whatever its group, if the cluster has that kind.
    async fn api_of(
        &self,
        kind: &str,
        namespace: Option<&str>,
    ) -> Result<Option<Api<DynamicObject>>, RunError> {
        let failed = |e| RunError::Kube("ask the cluster which kinds it has".to_owned(), e);
        let found = Discovery::new(self.client.clone()).run().await.map_err(failed)?;
        let kinds = found.groups().flat_map(kube::discovery::ApiGroup::recommended_resources);
        let Some((resource, more)) = kinds.into_iter().find(|(resource, _)| resource.kind == kind) else {
            return Ok(None);
        };
        Ok(Some(self.api_for(&resource, &more.scope, namespace)))
    }

    fn api_for(&self, resource: &ApiResource, scope: &Scope, namespace: Option<&str>) -> Api<DynamicObject> {
        match scope {
            Scope::Cluster => Api::all_with(self.client.clone(), resource),
            Scope::Namespaced => {
                Api::namespaced_with(self.client.clone(), namespace.unwrap_or("default"), resource)
            }
        }
    }

    /// What the cluster says against it; anything else that goes wrong is the harness' own.
    fn refused(done: kube::Result<()>, what: impl FnOnce() -> String) -> Result<Option<String>, RunError> {
        match done {
            Ok(()) => Ok(None),
            Err(kube::Error::Api(status)) => Ok(Some(format!("nothing was done: {}", status.message))),
            Err(error) => Err(RunError::Kube(what(), error)),
        }
    }
}

fn unknown(kind: &str) -> String {
    format!("nothing was done: the cluster has no kind {kind}")
}
