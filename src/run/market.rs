//! Where the subject buys nodes, by its provider: the cloud, machine deployments in the cluster itself, or by way of claims.
//! What must be there before anything else, what is watched beside the rest, and who makes the machines.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Client;
use kube::api::{Api, PostParams};
use mock_clock::{Clock as _, VirtualClock};
use serde_json::json;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;

use super::stage::Stage;
use super::{Order, RunError};
use crate::cloud;
use crate::cluster::{Watched, define, install};
use crate::plan::Plan;
use crate::subject::Profile;
use crate::terms::{Karpenter, KarpenterCloud, MachineEvent, Pool, Provider, Timer};
use crate::world::{self, ClusterApi, Contract, World, karpenter};

/// The group of Cluster API.
const GROUP: &str = "cluster.x-k8s.io";

/// Karpenter's group.
const KARPENTER: &str = "karpenter.sh";

/// Where nodes are bought.
#[derive(Clone, Copy, Debug)]
pub(super) enum Market<'a> {
    /// At the cloud.
    Cloud,
    /// In machine deployments of this version.
    ClusterApi(Contract),
    /// By claims, of a Karpenter that is told of pools in this way.
    Karpenter(&'a Karpenter),
}

/// Makes what the provider needs of the cluster: definitions, those of the profile before ours.
pub(super) async fn found<'a>(
    client: &Client,
    clock: &VirtualClock,
    wanted: &Wanted<'a>,
) -> Result<Market<'a>, RunError> {
    define(client, clock, wanted.definitions).await.map_err(RunError::Cluster)?;
    let market = match (wanted.provider(), wanted.karpenter()) {
        (Provider::Clusterapi, _) => Market::ClusterApi(contract(client, clock).await?),
        (Provider::Karpenter, Some(karpenter)) => {
            let ours = karpenter::definitions(karpenter.api, karpenter.cloud);
            define(client, clock, &ours).await.map_err(RunError::Cluster)?;
            Market::Karpenter(karpenter)
        }
        (Provider::Karpenter, None) => {
            let why = "tell a Karpenter of pools: its profile has no `karpenter`, which says how";
            return Err(RunError::Pool(why.to_owned()));
        }
        (Provider::Hetzner, _) => Market::Cloud,
    };
    Ok(market)
}

/// Makes what the subject must find, in a cloud with this network.
pub(super) async fn equip(client: &Client, wanted: &Wanted<'_>, network: u64) -> Result<(), RunError> {
    let objects = wanted.profile.map(|profile| profile.objects(network)).unwrap_or_default();
    install(client, &objects).await.map_err(|(what, error)| RunError::Kube(what, error))
}

/// The version of Cluster API that the cluster prefers; ours is served from then on, if there was none.
async fn contract(client: &Client, clock: &VirtualClock) -> Result<Contract, RunError> {
    let groups = client.list_api_groups().await;
    let groups = groups.map_err(|error| RunError::Kube("ask for the groups of the API".to_owned(), error))?;
    let theirs = groups.groups.into_iter().find(|group| group.name == GROUP);
    let preferred = theirs.and_then(|group| group.preferred_version).map(|preferred| preferred.version);
    let contract = match preferred.as_deref() {
        Some("v1beta2") => Contract::V1beta2,
        _ => Contract::V1beta1,
    };
    define(client, clock, &world::definitions(contract)).await.map_err(RunError::Cluster)?;
    Ok(contract)
}

/// What market a run needs. Where nobody is under test, that is the cloud.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wanted<'a> {
    /// The profile of the subject: how it buys nodes, and what it must find.
    profile: Option<&'a Profile>,
    /// Custom resource definitions that somebody brings along, as texts.
    definitions: &'a [String],
}

impl<'a> Wanted<'a> {
    /// What the subject of an order needs.
    pub(super) fn of(order: &'a Order) -> Self {
        let Order { profile, definitions, .. } = order;
        Self { profile: Some(profile), definitions }
    }

    /// How nodes are bought there.
    pub(super) fn provider(&self) -> Provider {
        self.profile.map_or(Provider::Hetzner, |profile| profile.provider)
    }

    /// How the subject is told of pools, if it is Karpenter.
    pub(super) fn karpenter(&self) -> Option<&'a Karpenter> {
        self.profile?.karpenter.as_ref()
    }

    /// How a node says to which pool it belongs.
    pub(super) fn pool_label(&self) -> &'static str {
        self.provider().pool_label()
    }
}

impl Market<'_> {
    /// What is watched beside the rest.
    pub(super) fn kinds(self) -> Vec<Watched> {
        match self {
            Market::Cloud => Vec::new(),
            Market::ClusterApi(contract) => ["MachineDeployment", "MachineSet", "Machine"]
                .map(|kind| (GROUP, contract.version(), kind, None))
                .to_vec(),
            Market::Karpenter(karpenter) => ["NodePool", "NodeClaim"]
                .map(|kind| (KARPENTER, karpenter.api.word(), kind, None))
                .into_iter()
                .chain([("storage.k8s.io", "v1", "VolumeAttachment", None)])
                .collect(),
        }
    }

    /// The pools that are the cloud's.
    pub(super) fn of_the_cloud(self, plan: &Plan) -> &[Pool] {
        match self {
            Market::Cloud => &plan.pools,
            Market::Karpenter(karpenter) if karpenter.cloud == KarpenterCloud::Hetzner => &plan.pools,
            Market::ClusterApi(_) | Market::Karpenter(_) => &[],
        }
    }

    /// What the world makes nodes of, and where those put it that are not the cloud's.
    pub(super) fn machines(
        self,
        servers: UnboundedReceiver<MachineEvent>,
    ) -> (UnboundedReceiver<MachineEvent>, Option<UnboundedSender<MachineEvent>>) {
        match self {
            Market::Cloud | Market::Karpenter(_) => (servers, None),
            Market::ClusterApi(_) => {
                let (sender, machines) = unbounded_channel();
                (machines, Some(sender))
            }
        }
    }

    /// Makes the pools that are objects, and starts those who make machines of them.
    pub(super) async fn start(
        self,
        (client, clock): (&Client, &VirtualClock),
        world: &World,
        plan: &Plan,
        machines: Option<UnboundedSender<MachineEvent>>,
    ) -> Result<Option<ClusterApi>, RunError> {
        match self {
            Market::Karpenter(karpenter) => furnish((client, clock), karpenter, plan).await?,
            Market::Cloud | Market::ClusterApi(_) => tell_priorities(client, plan).await?,
        }
        let (Market::ClusterApi(contract), Some(machines)) = (self, machines) else { return Ok(None) };
        let order = world::Order { contract, pools: &plan.pools, machines };
        let started = ClusterApi::start(world, order).await;
        started.map(Some).map_err(|error| RunError::Kube("found the machine deployments".to_owned(), error))
    }

    /// Makes the nodes of the beginning, which are there by now, those of the subject: Karpenter's are claimed and registered.
    pub(super) async fn hand_over(
        self,
        (client, clock): (&Client, &VirtualClock),
        plan: &Plan,
    ) -> Result<(), RunError> {
        let Market::Karpenter(told) = self else { return Ok(()) };
        if told.cloud == KarpenterCloud::Kwok {
            return Ok(());
        }
        let now = clock.now().to_string();
        let done = karpenter::adopt(client, &plan.pools, told, &now).await;
        done.map_err(|(what, error)| RunError::Kube(what, error))
    }
}

impl Stage {
    /// How many machines there are by pool; those of no pool under an empty name.
    pub(super) fn machines_by_pool(&self) -> BTreeMap<String, u32> {
        match &self.cluster_api {
            Some(cluster_api) => cluster_api.machines_by_pool(),
            // The node is the machine, but for those that are nobody's to buy.
            None if self.karpenter.as_ref().is_some_and(|told| told.cloud == KarpenterCloud::Kwok) => {
                let mut nodes = self.observer.live().nodes_by(self.pool_label);
                nodes.remove("");
                nodes
            }
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

/// Makes Karpenter's pools, and those of the nodes they begin with that no cloud makes.
async fn furnish(
    (client, clock): (&Client, &VirtualClock),
    told: &Karpenter,
    plan: &Plan,
) -> Result<(), RunError> {
    let pools = &plan.pools;
    let unneeded = plan.timers.get(&Timer::UnneededTime).copied().unwrap_or_default();
    let failed = |(what, error)| RunError::Kube(what, error);
    let objects = karpenter::node_pools(pools, told, unneeded, &cloud::room).map_err(RunError::Pool)?;
    install(client, &objects).await.map_err(failed)?;
    let now = clock.now().to_string();
    match told.cloud {
        KarpenterCloud::Kwok => {
            karpenter::settle(client, pools, told, &cloud::room, &now).await.map_err(failed)
        }
        KarpenterCloud::Hetzner => Ok(()),
    }
}

/// The priorities of pools, as the priority expander reads them.
async fn tell_priorities(client: &Client, plan: &Plan) -> Result<(), RunError> {
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
