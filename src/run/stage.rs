//! The stage of a run: cluster, cloud, world, door and subject, set up in this order and taken down in the other.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use kube::Client;
use mock_clock::{Clock as _, VirtualClock};

use super::healing::Healing;
use super::market::{self, Wanted};
use super::{Order, Place, RunError, expected, workload};
use crate::cloud::{self, Cloud};
use crate::cluster::{Access, Cluster, Observer};
use crate::door::Door;
use crate::fault::{Victims, Ward};
use crate::history::{AccountEvent, Recorder, What};
use crate::plan::{Plan, Workload};
use crate::subject::Replica;
use crate::terms::{Karpenter, Provider};
use crate::world::{ClusterApi, FixedNode, Timetable, World};

/// How long pods of the beginning may take to run; some never shall.
const STEADY: Duration = Duration::from_secs(90);
/// The next moment.
const MOMENT: Duration = Duration::from_millis(1);

/// All parts of a run, as they stand.
pub(super) struct Stage {
    pub(super) clock: VirtualClock,
    /// How the subject buys nodes.
    pub(super) provider: Provider,
    /// How a node says to which pool it belongs.
    pub(super) pool_label: &'static str,
    pub(super) karpenter: Option<Karpenter>,
    pub(super) recorder: Recorder,
    pub(super) client: Client,
    pub(super) access: Access,
    cluster: Box<dyn Cluster>,
    pub(super) cloud: Arc<Cloud>,
    pub(super) world: Arc<World>,
    pub(super) cluster_api: Option<ClusterApi>,
    pub(super) door: Arc<Door>,
    pub(super) observer: Observer,
    pub(super) healing: Healing,
    pub(super) cast: Cast,
    pub(super) workloads: BTreeMap<String, crate::world::Workload>,
}

/// The replicas of the subject, in their order.
#[derive(Clone, Default)]
pub(super) struct Cast {
    replicas: Arc<Mutex<Vec<Arc<Replica>>>>,
}

impl Cast {
    pub(super) fn add(&self, replica: Replica) {
        self.replicas.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::new(replica));
    }

    pub(super) fn replicas(&self) -> Vec<Arc<Replica>> {
        self.replicas.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Kills all of them for good.
    pub(super) async fn end(&self) {
        join_all(self.replicas().iter().map(|replica| replica.end())).await;
    }
}

impl Stage {
    /// Sets everything up but the subject, whose replicas will belong to `cast`, which outlives a stage that is left in
    /// the middle.
    pub(super) async fn set(
        clock: &VirtualClock,
        plan: &Plan,
        wanted: &Wanted<'_>,
        recorder: &Recorder,
        cast: &Cast,
        (cluster, access): (Box<dyn Cluster>, &Access),
    ) -> Result<Self, RunError> {
        let tell = {
            let recorder = recorder.clone();
            Arc::new(move |what: What| recorder.record(what))
        };
        let client = access.client().map_err(RunError::Cluster)?;
        let market = market::found(&client, clock, wanted).await?;
        let told = tell.clone() as crate::cluster::Tell;
        let also = expected::kinds(plan);
        let observer = Observer::start(&client, clock, &told, &market.kinds(), &also);
        let (seed, pools) = (plan.seed, market.of_the_cloud(plan));
        let cloud_order = cloud::Order { clock, seed, pools, buyer: wanted.provider(), tell };
        let (cloud, servers) = Cloud::start(cloud_order).await.map_err(RunError::Cloud)?;
        market::equip(&client, wanted, cloud.network()).await?;
        let (machines, to_market) = market.machines(servers);
        recorder.hide(cloud.token());
        let trouble = recorder.clone();
        let trouble = Arc::new(move |why: String| trouble.record(What::Trouble(format!("failed to {why}"))));
        let world = World::start(client.clone(), clock.clone(), Timetable::new(plan.seed), machines, trouble);
        for node in &plan.fixed_nodes {
            world.add_fixed_node(&fixed(node));
        }
        let cluster_api = market.start((&client, clock), &world, plan, to_market).await?;
        let initial: u32 = plan.pools.iter().map(|pool| pool.initial).sum();
        world.until_ready(plan.fixed_nodes.len() + initial as usize).await;
        market.hand_over((&client, clock), plan).await?;
        let door = Arc::new(Door::new(clock, recorder).map_err(RunError::Door)?);
        let (cloud, world) = (Arc::new(cloud), Arc::new(world));
        let victims = Victims {
            clock: clock.clone(),
            recorder: recorder.clone(),
            client: client.clone(),
            world: Arc::clone(&world),
            cloud: Arc::clone(&cloud),
            door: Arc::clone(&door),
        };
        let mut stage = Self {
            clock: clock.clone(),
            provider: wanted.provider(),
            pool_label: wanted.pool_label(),
            karpenter: wanted.karpenter().cloned(),
            recorder: recorder.clone(),
            client,
            access: access.clone(),
            cluster,
            cloud,
            world,
            cluster_api,
            door,
            observer,
            healing: Healing::new(clock, Ward::new(victims)),
            cast: cast.clone(),
            workloads: BTreeMap::new(),
        };
        stage.observer.until_listed().await;
        for workload in &plan.workloads {
            stage.deploy(workload).await?;
        }
        stage.calm(STEADY).await;
        Ok(stage)
    }

    /// Starts the subject.
    pub(super) async fn start(&self, order: &Order) -> Result<(), RunError> {
        for number in 0..order.plan.replicas {
            self.start_replica(order, number).await?;
        }
        Ok(())
    }

    /// Where people find what there is.
    pub(super) fn place(&self) -> Place {
        Place {
            kubeconfig: self.access.kubeconfig.clone(),
            cluster: self.access.url.clone(),
            cloud: self.cloud.url(),
            token: self.cloud.token().to_owned(),
        }
    }

    /// Waits until no pod waits that could run; not for ever, for some never shall.
    async fn calm(&self, at_most: Duration) {
        let live = self.observer.live();
        let mut changes = live.changes();
        let steady = async {
            // What was just deployed is not seen before this moment is over.
            self.clock.sleep(MOMENT).await;
            loop {
                changes.borrow_and_update();
                let pods = live.all_pods();
                if pods.pending == pods.unschedulable || changes.changed().await.is_err() {
                    return;
                }
            }
        };
        let _ = self.clock.timeout(at_most, steady).await;
    }

    pub(super) async fn deploy(&mut self, workload: &Workload) -> Result<(), RunError> {
        let made = workload::made(workload);
        let what = format!("make the workload {}", workload.name);
        self.world.deploy(&made).await.map_err(|e| RunError::Kube(what, e))?;
        self.workloads.insert(workload.name.clone(), made);
        Ok(())
    }

    pub(super) async fn scale(&mut self, name: &str, pods: u32) -> Result<(), RunError> {
        let Some(workload) = self.workloads.get(name) else { return Ok(()) };
        self.world.scale(workload, pods).await.map_err(|e| RunError::Kube(format!("scale {name}"), e))
    }

    pub(super) async fn remove(&mut self, name: &str) -> Result<(), RunError> {
        let Some(workload) = self.workloads.get(name) else { return Ok(()) };
        self.world.remove(workload).await.map_err(|e| RunError::Kube(format!("remove {name}"), e))
    }

    /// What is there at the end.
    pub(super) fn account(&self) -> AccountEvent {
        let live = self.observer.live();
        AccountEvent {
            pending_pods: live.all_pods().pending,
            stray_leases: u32::try_from(live.stray_leases()).unwrap_or(u32::MAX),
            cost_millis: self.cloud.cost_millis(),
            never_bit: self.healing.ward().never_bit().to_vec(),
            servers: self.machines_by_pool(),
            nodes: live.nodes_by(self.pool_label),
        }
    }

    /// Ends everything, the subject first.
    pub(super) async fn strike(self) {
        let Self { cast, cluster, healing, door, world, cluster_api, observer, .. } = self;
        join_all(cast.replicas().iter().map(|replica| replica.stop())).await;
        drop((healing, cluster_api, world, observer));
        if let Some(door) = Arc::into_inner(door) {
            door.close().await;
        }
        cluster.stop().await;
    }
}

fn fixed(node: &crate::plan::FixedNode) -> FixedNode {
    FixedNode {
        name: node.name.clone(),
        room: crate::terms::Room { cpu_milli: node.cpu_milli, memory_mib: node.memory_mib },
        labels: node.labels.clone(),
        taints: node.taints.clone(),
        provider_id: node.provider_id.clone(),
    }
}
