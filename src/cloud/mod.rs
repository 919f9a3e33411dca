//! The cloud of a run: the Hetzner mock on the run's clock, furnished as autoscalers need it, with the servers that there are
//! at the beginning.
//!
//! What becomes of servers goes into the history and out as machines; troubles and deeds come in as the mock writes them. What
//! clients are answered is the mock's business, and TLS the door's.

mod furniture;
mod servers;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use mock_clock::{Time, VirtualClock};
use mock_hetzner::catalogue::{Architecture, Catalogue};
use mock_hetzner::{Deed, Kind, Trouble};
use serde_json::Value;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;

use crate::history::What;
use crate::terms::{MachineEvent, Pool, Provider, Room};

pub use furniture::{IMAGE, NETWORK, SSH_KEY};
pub use mock_hetzner::TroubleId;

/// Takes what happens.
pub type Tell = Arc<dyn Fn(What) + Send + Sync>;

/// What a cloud is to be like.
pub struct Order<'a> {
    /// The clock of the run.
    pub clock: &'a VirtualClock,
    /// What everything is drawn from.
    pub seed: u64,
    /// The pools: labels, taints and rooms of their machines, and how many there are at the beginning.
    pub pools: &'a [Pool],
    /// Who has bought the servers of the beginning.
    pub buyer: Provider,
    /// Takes what happens.
    pub tell: Tell,
}

/// A running cloud. Dropped, it is gone.
pub struct Cloud {
    mock: Arc<mock_hetzner::Cloud>,
    token: String,
    network: u64,
    /// What servers of the beginning are called, by what scenarios call them, whoever has bought them.
    names: BTreeMap<String, String>,
    _watch: JoinSet<()>,
}

impl Cloud {
    /// Starts it, and waits until the servers of the beginning are on. The stream tells all machines, these included.
    pub async fn start(order: Order<'_>) -> Result<(Cloud, UnboundedReceiver<MachineEvent>), CloudError> {
        let token = mock_hetzner::drawn_token(order.seed);
        let own = mock_hetzner::drawn_token(!order.seed);
        let builder = mock_hetzner::Cloud::builder().clock(order.clock.clone()).seed(order.seed);
        let builder = builder.catalogue(furniture::catalogue(order.pools));
        let started = builder.token(&token).token(&own).start().await.map_err(CloudError::Start)?;
        let cloud = Arc::new(started);
        let (watch, machines) = servers::watch(&cloud, order.pools, order.tell);
        let network = furniture::furnish(&cloud, &own)?;
        furniture::fill(&cloud, &own, order.pools, (order.buyer, network))?;
        furniture::until_all_are_on(&cloud).await;
        let named = |pool: &Pool| {
            let (said, called) = (pool.first_machines(Provider::Hetzner), pool.first_machines(order.buyer));
            said.zip(called).collect::<Vec<_>>()
        };
        let names = order.pools.iter().flat_map(named).collect();
        Ok((Cloud { mock: cloud, token, network, names, _watch: watch }, machines))
    }

    /// Where it listens, with the version of the API.
    pub fn url(&self) -> String {
        self.mock.url()
    }

    /// The token of the subject.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// The network that servers are in.
    pub fn network(&self) -> u64 {
        self.network
    }

    /// Something goes wrong from now on, as the mock writes its troubles.
    pub fn hurt(&self, trouble: &Value) -> Result<TroubleId, CloudError> {
        let trouble: Trouble =
            trouble.to_string().parse().map_err(|error| CloudError::Trouble(format!("{error}")))?;
        let done = self.mock.with(|engine, now| engine.inject(now, trouble));
        done.map_err(|error| CloudError::Trouble(error.to_string()))
    }

    /// It goes wrong no more. Says how often it has bitten.
    pub fn heal(&self, trouble: TroubleId) -> u64 {
        self.mock.with(|engine, now| engine.heal(now, trouble));
        self.bites(trouble)
    }

    /// How often a trouble has bitten.
    pub fn bites(&self, trouble: TroubleId) -> u64 {
        self.mock.with(|engine, now| {
            let reports = engine.troubles(now);
            reports.iter().find(|report| report.id == trouble).map_or(0, |report| report.bites)
        })
    }

    /// When a trouble has bitten first.
    pub fn first_bite(&self, trouble: TroubleId) -> Option<Time> {
        self.mock.with(|engine, now| {
            let reports = engine.troubles(now);
            reports.iter().find(|report| report.id == trouble).and_then(|report| report.first_bite)
        })
    }

    /// Something is done by hand, as the mock writes its deeds.
    pub fn deed(&self, deed: &Value) -> Result<(), CloudError> {
        let mut deed = deed.clone();
        for field in ["which", "server"] {
            if let Some(called) = deed[field].as_str().and_then(|said| self.names.get(said)) {
                deed[field] = called.clone().into();
            }
        }
        let deed: Deed = serde_json::from_value(deed.clone())
            .map_err(|error| CloudError::Deed(format!("read {deed}: {error}")))?;
        let done = self.mock.with(|engine, now| engine.by_hand(now, &deed));
        done.map_err(|error| CloudError::Deed(error.to_string()))
    }

    /// How many servers there are by pool; those of no pool under an empty name.
    pub fn servers_by_pool(&self) -> BTreeMap<String, u32> {
        self.mock.with(|engine, _| {
            let mut count = BTreeMap::new();
            for server in engine.servers() {
                let pool = Provider::pool_named(server.labels).cloned();
                *count.entry(pool.unwrap_or_default()).or_default() += 1;
            }
            count
        })
    }

    /// How many servers of a pool have a status, by its word.
    pub fn servers_in(&self, pool: &str, status: &str) -> u32 {
        self.mock.with(|engine, _| {
            let of_pool = |labels| Provider::pool_named(labels).is_some_and(|of| of == pool);
            let there =
                engine.servers().filter(|it| it.status.word() == status && of_pool(it.labels)).count();
            u32::try_from(there).unwrap_or(u32::MAX)
        })
    }

    /// Tells each time that something has changed.
    pub fn changes(&self) -> tokio::sync::watch::Receiver<u64> {
        self.mock.changes()
    }

    /// What all servers have cost until now, in thousandths of a euro.
    pub fn cost_millis(&self) -> u64 {
        let cost = self.mock.with(|engine, now| {
            let servers = engine.ledger().entries().filter(|entry| entry.kind == Kind::Server);
            servers.map(|entry| entry.cost(now)).sum::<mock_hetzner::Money>()
        });
        // Three decimals, and then without the point.
        format!("{cost:.3}").replace('.', "").parse().unwrap_or(0)
    }

    /// The mock itself, for whoever shows it to people.
    pub fn mock(&self) -> &mock_hetzner::Cloud {
        &self.mock
    }
}

impl fmt::Debug for Cloud {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.mock.fmt(f)
    }
}

/// What a server of this type has room for, if it is sold.
pub fn room(server_type: &str) -> Option<Room> {
    let catalogue = Catalogue::builtin();
    let sold = catalogue.server_type(server_type)?;
    // The API tells gigabytes, some of them with a fraction; whole mebibytes all of them.
    let memory_mib = format!("{:.0}", sold.memory * 1024.0).parse().ok()?;
    Some(Room { cpu_milli: sold.cores * 1000, memory_mib })
}

/// How nodes call the architecture of this type.
fn architecture(catalogue: &Catalogue, server_type: &str) -> &'static str {
    match catalogue.server_type(server_type).map(|sold| sold.architecture) {
        Some(Architecture::Arm) => "arm64",
        _ => "amd64",
    }
}

/// Why something cannot be done with the cloud. Reads after "failed to".
#[derive(Debug)]
#[non_exhaustive]
pub enum CloudError {
    /// It does not start.
    Start(mock_hetzner::StartError),
    /// It does not sell what a pool needs, or not so many.
    Furniture(String),
    /// No such trouble.
    Trouble(String),
    /// It cannot be done by hand.
    Deed(String),
}

impl fmt::Display for CloudError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(error) => write!(f, "start the cloud: {error}"),
            Self::Furniture(why) | Self::Trouble(why) | Self::Deed(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for CloudError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Start(error) => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rooms_are_those_that_the_cloud_sells() {
        assert_eq!(room("cx33"), Some(Room { cpu_milli: 4000, memory_mib: 8192 }));
        assert_eq!(room("none"), None);
    }
}
