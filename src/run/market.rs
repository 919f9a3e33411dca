//! Where the subject buys nodes, by its provider: the cloud, or machine deployments in the cluster itself. What must be there
//! before anything else, what is watched beside the rest, and who makes the machines.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Client;
use kube::api::{Api, PostParams};
use mock_clock::VirtualClock;
use serde_json::json;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;

use super::RunError;
use super::stage::Stage;
use crate::cluster::{Watched, define};
use crate::plan::Plan;
use crate::terms::{MachineEvent, Pool, Provider};
use crate::world::{self, ClusterApi, Contract, World};

/// The group of Cluster API.
const GROUP: &str = "cluster.x-k8s.io";

/// Where nodes are bought.
#[derive(Clone, Copy, Debug)]
pub(super) enum Market {
    /// At the cloud.
    Cloud,
    /// In machine deployments of this version.
    ClusterApi(Contract),
}

/// Makes what the provider needs of the cluster: definitions, those of the profile before ours.
pub(super) async fn found(
    client: &Client,
    clock: &VirtualClock,
    wanted: &Wanted<'_>,
) -> Result<Market, RunError> {
    define(client, clock, wanted.definitions).await.map_err(RunError::Cluster)?;
    if wanted.provider != Provider::Clusterapi {
        return Ok(Market::Cloud);
    }
    let groups = client.list_api_groups().await;
    let groups = groups.map_err(|error| RunError::Kube("ask for the groups of the API".to_owned(), error))?;
    let theirs = groups.groups.into_iter().find(|group| group.name == GROUP);
    let preferred = theirs.and_then(|group| group.preferred_version).map(|preferred| preferred.version);
    let contract = match preferred.as_deref() {
        Some("v1beta2") => Contract::V1beta2,
        _ => Contract::V1beta1,
    };
    define(client, clock, &world::definitions(contract)).await.map_err(RunError::Cluster)?;
    Ok(Market::ClusterApi(contract))
}

/// What market a run needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'a> {
    /// How nodes are bought there.
    pub(super) provider: Provider,
    /// Custom resource definitions that somebody brings along, as texts.
    pub(super) definitions: &'a [String],
}

impl Market {
    /// What is watched beside the rest.
    pub(super) fn kinds(self) -> Vec<Watched> {
        let Market::ClusterApi(contract) = self else { return Vec::new() };
        ["MachineDeployment", "MachineSet", "Machine"]
            .map(|kind| (GROUP, contract.version(), kind, None))
            .to_vec()
    }

    /// The pools that are the cloud's.
    pub(super) fn of_the_cloud(self, plan: &Plan) -> &[Pool] {
        match self {
            Market::Cloud => &plan.pools,
            Market::ClusterApi(_) => &[],
        }
    }

    /// What the world makes nodes of, and where those put it that are not the cloud's.
    pub(super) fn machines(
        self,
        servers: UnboundedReceiver<MachineEvent>,
    ) -> (UnboundedReceiver<MachineEvent>, Option<UnboundedSender<MachineEvent>>) {
        match self {
            Market::Cloud => (servers, None),
            Market::ClusterApi(_) => {
                let (sender, machines) = unbounded_channel();
                (machines, Some(sender))
            }
        }
    }

    /// Starts those who make them.
    pub(super) async fn start(
        self,
        world: &World,
        plan: &Plan,
        machines: Option<UnboundedSender<MachineEvent>>,
    ) -> Result<Option<ClusterApi>, RunError> {
        let (Market::ClusterApi(contract), Some(machines)) = (self, machines) else { return Ok(None) };
        let order = world::Order { contract, pools: &plan.pools, machines };
        let started = ClusterApi::start(world, order).await;
        started.map(Some).map_err(|error| RunError::Kube("found the machine deployments".to_owned(), error))
    }
}

impl Stage {
    /// How many machines there are by pool; those of no pool under an empty name.
    pub(super) fn machines_by_pool(&self) -> BTreeMap<String, u32> {
        match &self.cluster_api {
            Some(cluster_api) => cluster_api.machines_by_pool(),
            None => self.cloud.servers_by_pool(),
        }
    }

    /// Tells each time that machines have changed.
    pub(super) fn machine_changes(&self) -> watch::Receiver<u64> {
        match &self.cluster_api {
            Some(cluster_api) => cluster_api.changes(),
            None => self.cloud.changes(),
        }
    }
}

/// The priorities of pools, as the priority expander reads them.
pub(super) async fn tell_priorities(client: &Client, plan: &Plan) -> Result<(), RunError> {
    let mut by_priority: BTreeMap<i32, Vec<&str>> = BTreeMap::new();
    for pool in &plan.pools {
        if let Some(priority) = pool.priority {
            by_priority.entry(priority).or_default().push(&pool.name);
        }
    }
    if by_priority.is_empty() {
        return Ok(());
    }
    // Groups of the cloud are called by their names, those of the cluster by kind, namespace and name.
    let line = |name: &&str| format!("  - ^(.*/)?{name}$\n");
    let entry = |(priority, names): (i32, Vec<&str>)| {
        format!("{priority}:\n{}", names.iter().map(line).collect::<String>())
    };
    let text: String = by_priority.into_iter().map(entry).collect();
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "kube-system");
    let map =
        json!({"metadata": {"name": "cluster-autoscaler-priority-expander"}, "data": {"priorities": text}});
    let what = "make the map of priorities".to_owned();
    let map =
        serde_json::from_value(map).map_err(|e| RunError::Kube(what.clone(), kube::Error::SerdeError(e)))?;
    maps.create(&PostParams::default(), &map).await.map(drop).map_err(|e| RunError::Kube(what, e))
}
