//! Where machines are bought and given back: the cloud, or machine deployments of the cluster. One face for both.

use std::collections::BTreeMap;

use mock_clock::VirtualClock;

use crate::cluster_api::ClusterApi;
use crate::hetzner::{CloudError, Hetzner, Listed};
use crate::kubernetes::KubeClient;
use crate::settings::{Pool, Settings};
use crate::view::{Offer, Server};

/// One of the two.
#[derive(Clone, Debug)]
pub(crate) enum Market {
    Cloud(Box<Hetzner>),
    Deployments(ClusterApi),
}

/// What there is, as it was last seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Goods {
    /// The pools, where they are not those of the command line.
    pub(crate) pools: Option<BTreeMap<String, Pool>>,
    pub(crate) servers: Vec<Server>,
    pub(crate) offers: BTreeMap<String, Offer>,
    /// Pools of which nothing is given back for now.
    pub(crate) kept: Vec<String>,
}

impl Market {
    pub(crate) fn new(settings: &Settings, client: &KubeClient, clock: VirtualClock) -> Result<Self, String> {
        if settings.is_of_deployments() {
            return Ok(Market::Deployments(ClusterApi::new(settings, client.clone())));
        }
        Hetzner::new(settings.clone(), clock).map(|hetzner| Market::Cloud(Box::new(hetzner)))
    }

    pub(crate) async fn look(&self, listed: &mut Listed) -> Result<Goods, CloudError> {
        match self {
            Market::Cloud(hetzner) => {
                let servers = hetzner.servers(listed).await?;
                let offers = hetzner.offers(listed).await?;
                Ok(Goods { servers, offers, ..Goods::default() })
            }
            Market::Deployments(deployments) => deployments.look().await,
        }
    }

    /// The network that servers shall be in, if one was configured.
    pub(crate) async fn network(&self) -> Result<Option<u64>, CloudError> {
        match self {
            Market::Cloud(hetzner) => hetzner.network().await,
            Market::Deployments(_) => Ok(None),
        }
    }

    /// Buys a machine; gives its id, where that is known at once.
    pub(crate) async fn buy(
        &self,
        pool: &Pool,
        name: &str,
        offer: &Offer,
        network: Option<u64>,
    ) -> Result<Option<u64>, CloudError> {
        match self {
            Market::Cloud(hetzner) => hetzner.buy(pool, name, offer, network).await.map(Some),
            Market::Deployments(deployments) => deployments.grow(pool).await.map(|()| None),
        }
    }

    /// Gives a machine back.
    pub(crate) async fn delete(&self, id: u64) -> Result<(), CloudError> {
        match self {
            Market::Cloud(hetzner) => hetzner.delete(id).await,
            Market::Deployments(deployments) => deployments.shrink(id).await,
        }
    }

    /// Gives back what did not come to be. If that fails, it is seen and found to have no node.
    pub(crate) async fn take_back(&self, id: u64) {
        match self {
            Market::Cloud(hetzner) => hetzner.take_back(id).await,
            Market::Deployments(deployments) => drop(deployments.shrink(id).await),
        }
    }
}
