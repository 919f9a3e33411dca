//! Cluster API: from a machine deployment by way of sets and machines to the machines that kubelets run on, and back.
//!
//! Controllers as the real ones, small: they speak plain Kubernetes API, wait on the clock of the run, and decide from what
//! they see. What they make of a machine goes out as a stream, and the rest of the world makes a node of it. No clusters, no
//! bootstrap providers, no health checks, no machine pools.

mod deployment;
mod drain;
mod founding;
mod infrastructure;
mod kinds;
mod machine;
mod reading;
mod rounds;
mod set;
mod shelf;
mod shop;

use std::fmt;
use std::sync::Arc;

use kube::api::{Api, DynamicObject, Patch, PatchParams};
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinSet;

pub use founding::bounds;
pub use kinds::Contract;

use super::World;
use crate::terms::{MachineEvent, Pool};
use crate::watch::{Sight, follow_as};
use kinds::Kind;
use shop::Shop;

/// What a Cluster API is to be like.
pub struct Order<'a> {
    /// The version it serves.
    pub contract: Contract,
    /// The pools, each of which becomes a machine deployment.
    pub pools: &'a [Pool],
    /// Takes the machines.
    pub machines: UnboundedSender<MachineEvent>,
}

/// Running controllers. Dropped, they stop where they are.
pub struct ClusterApi {
    shop: Arc<Shop>,
    _lives: JoinSet<()>,
}

impl ClusterApi {
    /// Founds the pools, and starts the controllers. The definitions must be served by then.
    pub async fn start(world: &World, order: Order<'_>) -> kube::Result<ClusterApi> {
        let shop = Arc::new(Shop::new(Arc::clone(&world.site), &order));
        founding::found(&shop).await?;
        let mut lives = JoinSet::new();
        for kind in Kind::WATCHED {
            lives.spawn(look(Arc::clone(&shop), kind));
        }
        lives.spawn(deployment::work(Arc::clone(&shop)));
        lives.spawn(set::work(Arc::clone(&shop)));
        lives.spawn(machine::work(Arc::clone(&shop)));
        lives.spawn(infrastructure::work(Arc::clone(&shop)));
        Ok(ClusterApi { shop, _lives: lives })
    }

    /// Changes the machine deployment that is a pool, by hand.
    pub async fn change_deployment(&self, pool: &str, patch: &serde_json::Value) -> kube::Result<()> {
        let api = self.shop.api(Kind::Deployment);
        api.patch(pool, &PatchParams::default(), &Patch::Merge(patch)).await.map(drop)
    }

    /// How many machines there are by pool.
    pub fn machines_by_pool(&self) -> std::collections::BTreeMap<String, u32> {
        let mut count = std::collections::BTreeMap::new();
        for machine in self.shop.shelf.all(Kind::Machine) {
            *count.entry(reading::pool_of(&machine).unwrap_or_default().to_owned()).or_default() += 1;
        }
        count
    }

    /// Tells each time that something has changed.
    pub fn changes(&self) -> tokio::sync::watch::Receiver<u64> {
        self.shop.shelf.changes()
    }
}

impl fmt::Debug for ClusterApi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClusterApi").field("machines", &self.machines_by_pool()).finish_non_exhaustive()
    }
}

/// The definitions of a version, as their files write them.
pub fn definitions(contract: Contract) -> [&'static str; 6] {
    macro_rules! files {
        ($version:literal) => {
            [
                include_str!(concat!(
                    "../../../fixtures/crds/cluster-api/",
                    $version,
                    "/machinedeployments.yaml"
                )),
                include_str!(concat!("../../../fixtures/crds/cluster-api/", $version, "/machinesets.yaml")),
                include_str!(concat!("../../../fixtures/crds/cluster-api/", $version, "/machines.yaml")),
                include_str!(concat!("../../../fixtures/crds/cluster-api/", $version, "/machinepools.yaml")),
                include_str!(concat!(
                    "../../../fixtures/crds/cluster-api/",
                    $version,
                    "/hollowmachines.yaml"
                )),
                include_str!(concat!(
                    "../../../fixtures/crds/cluster-api/",
                    $version,
                    "/hollowmachinetemplates.yaml"
                )),
            ]
        };
    }
    match contract {
        Contract::V1beta1 => files!("v1beta1"),
        Contract::V1beta2 => files!("v1beta2"),
    }
}

/// Puts on the shelf whatever happens to the objects of a kind.
async fn look(shop: Arc<Shop>, kind: Kind) {
    let resource = kind.resource(shop.contract);
    let api: Api<DynamicObject> = Api::all_with(shop.site.client.clone(), &resource);
    let mut see = |sight| match sight {
        Sight::Added(object) | Sight::Modified(object) => shop.shelf.put(kind, object),
        Sight::Deleted(object) => shop.shelf.remove(kind, &object),
        Sight::Listed => {}
        Sight::Blind(why) => (shop.site.trouble)(why),
    };
    follow_as(shop.site.clock.clone(), api, &resource, &mut see).await;
}
