//! The shell for Cluster API: machine deployments as pools, machines as servers, and writes of scales.
//!
//! A size is patched and never put whole, so that nobody who edits the deployment meanwhile is in the way. Who shall go is
//! marked before the size is reduced, and loses the mark if that fails.

mod read;

use std::collections::BTreeMap;
use std::sync::Arc;

use kube::api::{Api, ApiResource, DynamicObject, ListParams, Patch, PatchParams};
use kube::core::GroupVersionKind;
use mock_clock::Clock as _;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use crate::defect::Defect;
use crate::hetzner::CloudError;
use crate::kubernetes::{KubeClient, Refusal};
use crate::market::Goods;
use crate::settings::{Pool, Settings};
use read::Seen;

const GROUP: &str = "cluster.x-k8s.io";
/// The annotation of machines that are to go before others.
const MARK: &str = "cluster.x-k8s.io/delete-machine";

/// A client of it.
#[derive(Clone, Debug)]
pub(crate) struct ClusterApi {
    client: KubeClient,
    namespace: String,
    settings: Arc<Settings>,
    /// Sizes are read and written by one at a time.
    seen: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    version: Option<String>,
    seen: Seen,
    first_pools: Option<BTreeMap<String, Pool>>,
}

impl ClusterApi {
    pub(crate) fn new(settings: &Settings, client: KubeClient) -> Self {
        let named = settings.arguments.node_group_auto_discovery.iter();
        let mut parts =
            named.filter_map(|text| text.strip_prefix("clusterapi:")).flat_map(|text| text.split(','));
        let namespace =
            parts.find_map(|part| part.strip_prefix("namespace=")).unwrap_or("default").to_owned();
        let settings = Arc::new(settings.clone());
        Self { client, namespace, settings, seen: Arc::default() }
    }

    /// All there is, as it is now.
    pub(crate) async fn look(&self) -> Result<Goods, CloudError> {
        let version = self.version().await?;
        let deployments = self.list(&version, "MachineDeployment").await?;
        let sets = self.list(&version, "MachineSet").await?;
        let machines = self.list(&version, "Machine").await?;
        let seen = Seen::of(&deployments, &sets, &machines, &self.settings);
        let mut goods = seen.goods();
        let mut state = self.seen.lock().await;
        if self.settings.has(Defect::ReadsLimitsOnce) {
            let first = state.first_pools.get_or_insert_with(|| goods.pools.clone().unwrap_or_default());
            goods.pools = Some(first.clone());
        }
        state.seen = seen;
        Ok(goods)
    }

    /// One machine more.
    pub(crate) async fn grow(&self, pool: &Pool) -> Result<(), CloudError> {
        let state = self.seen.lock().await;
        let size = self.size(&state, &pool.name).await?;
        if size >= pool.max as u64 && !self.settings.has(Defect::IgnoresMax) {
            return Err(CloudError::Failed(format!(
                "{} has {size} machines, and may not have more",
                pool.name
            )));
        }
        self.resize(&state, &pool.name, size + 1).await
    }

    /// One machine less: this one.
    pub(crate) async fn shrink(&self, id: u64) -> Result<(), CloudError> {
        let state = self.seen.lock().await;
        let gone = || CloudError::Refused {
            status: 404,
            code: "not_found".into(),
            message: "no such machine".into(),
        };
        let machine = state.seen.machine(id).ok_or_else(gone)?.clone();
        let marks = !machine.name.is_empty() && !self.settings.has(Defect::LowersWithoutMarking);
        if marks {
            let mark = json!(self.client.clock.now().to_string());
            self.mark(&state, &machine.name, &mark).await?;
        }
        let size = self.size(&state, &machine.pool).await?;
        let reduced = self.resize(&state, &machine.pool, size.saturating_sub(1)).await;
        if reduced.is_err() && marks && !self.settings.has(Defect::LeavesMarks) {
            self.mark(&state, &machine.name, &Value::Null).await?;
        }
        reduced
    }

    async fn mark(&self, state: &State, machine: &str, mark: &Value) -> Result<(), CloudError> {
        let patch = json!({"metadata": {"annotations": {MARK: mark}}});
        let machines = self.api(state.version(), "Machine");
        let (params, patch) = (PatchParams::default(), Patch::Merge(patch));
        self.client.ask(machines.patch(machine, &params, &patch)).await.map(drop).map_err(refused)
    }

    async fn size(&self, state: &State, pool: &str) -> Result<u64, CloudError> {
        let deployments = self.api(state.version(), "MachineDeployment");
        let scale = self.client.ask(deployments.get_scale(pool)).await.map_err(refused)?;
        let size = scale.spec.and_then(|spec| spec.replicas).unwrap_or(0);
        Ok(u64::try_from(size).unwrap_or(0))
    }

    async fn resize(&self, state: &State, pool: &str, size: u64) -> Result<(), CloudError> {
        let deployments = self.api(state.version(), "MachineDeployment");
        let mut patch = json!({"spec": {"replicas": size}});
        if size == 0 && self.settings.has(Defect::OmitsZero) {
            patch = json!({"spec": {}});
        }
        if self.settings.has(Defect::TakesConflictsForFailures) {
            // Whoever insists on what was seen a while ago is refused when anybody has changed anything since.
            patch["metadata"]["resourceVersion"] = state.seen.version_of(pool).into();
        }
        let (params, patch) = (PatchParams::default(), Patch::Merge(patch));
        self.client.ask(deployments.patch_scale(pool, &params, &patch)).await.map(drop).map_err(refused)
    }

    async fn list(&self, version: &str, kind: &str) -> Result<Vec<DynamicObject>, CloudError> {
        let (api, params) = (self.api(version, kind), ListParams::default());
        let listed = self.client.ask(api.list(&params)).await;
        listed.map(|list| list.items).map_err(refused)
    }

    fn api(&self, version: &str, kind: &str) -> Api<DynamicObject> {
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(GROUP, version, kind));
        Api::namespaced_with(self.client.client.clone(), &self.namespace, &resource)
    }

    /// The version that the cluster prefers, asked for once.
    async fn version(&self) -> Result<String, CloudError> {
        let mut state = self.seen.lock().await;
        if let Some(version) = &state.version {
            return Ok(version.clone());
        }
        let groups = self.client.ask(self.client.client.list_api_groups()).await.map_err(refused)?;
        let group = groups.groups.into_iter().find(|group| group.name == GROUP);
        let preferred = group.and_then(|group| group.preferred_version).map(|preferred| preferred.version);
        let version =
            preferred.ok_or_else(|| CloudError::Failed(format!("the cluster serves no {GROUP}")))?;
        state.version = Some(version.clone());
        Ok(version)
    }
}

impl State {
    fn version(&self) -> &str {
        self.version.as_deref().unwrap_or("v1beta1")
    }
}

#[expect(clippy::needless_pass_by_value, reason = "errors are mapped by it")]
fn refused(refusal: Refusal) -> CloudError {
    match refusal.code {
        0 => CloudError::Lost(refusal.to_string()),
        status => CloudError::Refused { status, code: String::new(), message: refusal.to_string() },
    }
}
