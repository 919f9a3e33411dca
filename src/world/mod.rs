//! Those who turn a bought machine into a node, and keep it one: kubelets and the cloud controller. They speak plain
//! Kubernetes API, so they are the same on every cluster; all their waits are on the clock of the run.
//!
//! Machines come in as a stream of "is there, like this" and "is gone". What hurts is inflicted by the methods of [`World`],
//! and healed by dropping what they give. Which pods there are and where they go is the control plane's business.

mod cloud_controller;
mod cluster_api;
mod injuries;
pub mod karpenter;
mod kubelet;
mod node;
mod pods;
mod pulse;
mod roster;
mod site;
mod timetable;
mod workload;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use k8s_openapi::api::core::v1::{Node, Pod};
use kube::{Api, Client};
use mock_clock::{Clock as _, VirtualClock};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;

pub use cluster_api::{ClusterApi, Contract, Order, bounds, definitions};
pub use injuries::{FirstBite, Hurt};
pub use site::Trouble;
pub use timetable::Timetable;
pub use workload::{Apart, Budget, LABEL, LabelRequirement, Owner, Spread, Volume, Workload};

use crate::terms::{MachineEvent, Room, Stage, Taint};
use crate::watch::{Sight, follow};
use cloud_controller::CloudController;
use injuries::Injury;
use node::Host;
use roster::Roster;
use site::Site;

/// The world. Dropped, everything in it stops where it is.
pub struct World {
    site: Arc<Site>,
    roster: Arc<Roster>,
    _lives: JoinSet<()>,
}

/// A node that no cloud owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedNode {
    /// Its name.
    pub name: String,
    /// What it has room for.
    pub room: Room,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Its taints.
    pub taints: Vec<Taint>,
    /// Its provider id, if it has one.
    pub provider_id: Option<String>,
}

impl World {
    /// Starts it on the current tokio runtime: whatever comes in as a machine becomes a node from now on.
    pub fn start(
        client: Client,
        clock: VirtualClock,
        timetable: Timetable,
        machines: UnboundedReceiver<MachineEvent>,
        trouble: Trouble,
    ) -> World {
        let site = Arc::new(Site::new(client, clock, timetable, trouble));
        let roster = Arc::new(Roster::default());
        let controller = CloudController::new(Arc::clone(&site), Arc::clone(&roster));
        let mut lives = JoinSet::new();
        lives.spawn(hear(Arc::clone(&site), Arc::clone(&roster), machines));
        lives.spawn(pulse::beat(Arc::clone(&site), Arc::clone(&roster)));
        lives.spawn(watch_nodes(Arc::clone(&site), Arc::clone(&roster), Arc::clone(&controller)));
        lives.spawn(controller.work());
        lives.spawn(watch_pods(Arc::clone(&site), Arc::clone(&roster)));
        World { site, roster, _lives: lives }
    }

    /// A node that no cloud owns, ready at once.
    pub fn add_fixed_node(&self, fixed: &FixedNode) {
        let number = self.roster.kubelets().len();
        let host = Host {
            name: fixed.name.clone(),
            server: None,
            made: None,
            pool: None,
            labels: fixed.labels.clone(),
            taints: fixed.taints.clone(),
            room: fixed.room,
            architecture: "amd64".to_owned(),
            location: String::new(),
            address: format!("192.0.2.{}", number % 254 + 1),
            provider_id: fixed.provider_id.clone(),
        };
        self.roster.employ(&self.site, host, true);
    }

    /// Waits until so many kubelets say that they are ready.
    pub async fn until_ready(&self, count: usize) {
        let mut staff = self.roster.changes();
        loop {
            staff.borrow_and_update();
            let kubelets = self.roster.kubelets();
            if kubelets.len() < count {
                if staff.changed().await.is_err() {
                    return;
                }
                continue;
            }
            for kubelet in kubelets {
                let _ = kubelet.health().wait_for(node::Health::says_ready).await;
            }
            return;
        }
    }

    /// Asks the cluster for a workload.
    pub async fn deploy(&self, workload: &Workload) -> kube::Result<()> {
        workload.deploy(&self.site.client).await
    }

    /// Gives it another budget, or none.
    pub async fn set_budget(&self, workload: &Workload, budget: Option<Budget>) -> kube::Result<()> {
        workload.set_budget(&self.site.client, budget).await
    }

    /// Labels the pods of a workload that are there, or takes labels from them. Says how many there were.
    pub async fn label_pods(
        &self,
        workload: &Workload,
        labels: &BTreeMap<String, Option<String>>,
    ) -> kube::Result<usize> {
        workload.label_pods(&self.site.client, labels).await
    }

    /// Asks for more of the pods of a workload, or fewer.
    pub async fn scale(&self, workload: &Workload, pods: u32) -> kube::Result<()> {
        workload.scale(&self.site.client, pods).await
    }

    /// Takes it away.
    pub async fn remove(&self, workload: &Workload) -> kube::Result<()> {
        workload.remove(&self.site.client).await
    }
}

/// What can hurt. The pool is one, or all if left out.
impl World {
    /// Machines take so long for a stage, those that are in it included.
    pub fn slow_stage(
        &self,
        pool: Option<&str>,
        stage: Stage,
        takes: Duration,
        first_bite: FirstBite,
    ) -> Hurt {
        let injury = Injury::Stage { pool: pool.map(str::to_owned), stage, takes: Some(takes) };
        self.site.injuries.inflict(injury, first_bite)
    }

    /// Machines never become nodes.
    pub fn never_registers(&self, pool: Option<&str>, first_bite: FirstBite) -> Hurt {
        let injury = Injury::Stage { pool: pool.map(str::to_owned), stage: Stage::Register, takes: None };
        self.site.injuries.inflict(injury, first_bite)
    }

    /// Nodes are not ready and ready in turn, for so long each.
    pub fn flapping(&self, pool: &str, every: Duration, first_bite: FirstBite) -> Hurt {
        let off = Arc::new(AtomicBool::new(true));
        let injury = Injury::Flapping { pool: pool.to_owned(), off: Arc::clone(&off) };
        let mut hurt = self.site.injuries.inflict(injury, first_bite);
        let site = Arc::clone(&self.site);
        let turns = tokio::spawn(async move {
            loop {
                site.clock.sleep(every).await;
                off.fetch_xor(true, Ordering::Relaxed);
                site.injuries.touch();
            }
        });
        hurt.task = Some(turns.abort_handle());
        hurt
    }

    /// Kubelets are silent: so many of the pool's nodes that there are, the first by name; all of them, if left out.
    pub fn silent_kubelets(&self, pool: &str, nodes: Option<u32>, first_bite: FirstBite) -> Hurt {
        let kubelets = self.roster.kubelets();
        let names =
            kubelets.iter().filter(|kubelet| kubelet.pool() == Some(pool)).map(|it| it.name().to_owned());
        let count = nodes.map_or(usize::MAX, |nodes| nodes as usize);
        self.site.injuries.inflict(Injury::Silent { nodes: names.take(count).collect() }, first_bite)
    }

    /// Kubelets that register run without `--cloud-provider=external`: their nodes never get a provider id.
    pub fn no_cloud_provider(&self, pool: Option<&str>, first_bite: FirstBite) -> Hurt {
        let injury = Injury::NoCloudProvider { pool: pool.map(str::to_owned) };
        self.site.injuries.inflict(injury, first_bite)
    }

    /// Kubelets of nodes that go from now on live on, and make leases that nobody owns.
    pub fn zombie_kubelets(&self, pool: Option<&str>, first_bite: FirstBite) -> Hurt {
        self.site.injuries.inflict(Injury::Zombie { pool: pool.map(str::to_owned) }, first_bite)
    }

    /// The cloud controller is gone.
    pub fn controller_down(&self, first_bite: FirstBite) -> Hurt {
        self.site.injuries.inflict(Injury::ControllerDown, first_bite)
    }

    /// Pods of a workload ignore that they should end.
    pub fn pod_never_ends(&self, workload: &str, first_bite: FirstBite) -> Hurt {
        self.site.injuries.inflict(Injury::NeverEnds { workload: workload.to_owned() }, first_bite)
    }

    /// Controllers of Cluster API wait so long before they do anything.
    pub fn slow_cluster_api(&self, pool: Option<&str>, takes: Duration, first_bite: FirstBite) -> Hurt {
        let injury = Injury::SlowClusterApi { pool: pool.map(str::to_owned), takes };
        self.site.injuries.inflict(injury, first_bite)
    }

    /// Sets of a pool can make no machines.
    pub fn machines_refused(&self, pool: &str, first_bite: FirstBite) -> Hurt {
        self.site.injuries.inflict(Injury::MachinesRefused { pool: pool.to_owned() }, first_bite)
    }

    /// The infrastructure makes nothing of the machines of a pool.
    pub fn machines_withheld(&self, pool: &str, first_bite: FirstBite) -> Hurt {
        self.site.injuries.inflict(Injury::MachinesWithheld { pool: pool.to_owned() }, first_bite)
    }

    /// The infrastructure says that it has failed to make the machines of a pool.
    pub fn machines_fail(&self, pool: &str, first_bite: FirstBite) -> Hurt {
        self.site.injuries.inflict(Injury::MachinesFail { pool: pool.to_owned() }, first_bite)
    }

    /// The machine deployment of a pool is paused.
    pub fn paused_group(&self, pool: &str, first_bite: FirstBite) -> Hurt {
        self.site.injuries.inflict(Injury::Paused { pool: pool.to_owned() }, first_bite)
    }

    /// The clock on the wall is fast by so many seconds, or slow: in everything that kubelets tell.
    pub fn wrong_clock(&self, by_s: i64, first_bite: FirstBite) -> Hurt {
        self.site.injuries.inflict(Injury::Skew { by_s }, first_bite)
    }
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").field("kubelets", &self.roster.kubelets().len()).finish_non_exhaustive()
    }
}

async fn hear(site: Arc<Site>, roster: Arc<Roster>, mut machines: UnboundedReceiver<MachineEvent>) {
    while let Some(event) = machines.recv().await {
        roster.hear(&site, event);
    }
}

async fn watch_nodes(site: Arc<Site>, roster: Arc<Roster>, controller: Arc<CloudController>) {
    let nodes: Api<Node> = Api::all(site.client.clone());
    follow(site.clock.clone(), nodes, |sight| match sight {
        Sight::Blind(why) => (site.trouble)(why),
        sight => {
            karpenter::see(&site, &roster, &sight);
            controller.see(sight);
        }
    })
    .await;
}

async fn watch_pods(site: Arc<Site>, roster: Arc<Roster>) {
    let pods: Api<Pod> = Api::all(site.client.clone());
    let ward = |pod: &Pod| roster.ward(pod.spec.as_ref()?.node_name.as_deref()?);
    follow(site.clock.clone(), pods, |sight| match sight {
        Sight::Added(pod) | Sight::Modified(pod) => {
            if let Some(ward) = ward(&pod) {
                ward.see(pod);
            }
        }
        Sight::Deleted(pod) => {
            if let Some(ward) = ward(&pod) {
                ward.miss(&pod);
            }
        }
        Sight::Listed => {}
        Sight::Blind(why) => (site.trouble)(why),
    })
    .await;
}
