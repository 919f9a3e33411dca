//! The stage of a run: cluster, cloud, world, door and subject, set up in this order and taken down in the other.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use kube::Client;
use mock_clock::{Clock as _, Time, VirtualClock};

use super::{Order, RunError, workload};
use crate::cloud::{self, Cloud};
use crate::cluster::{Access, Cluster, Embedded, Observer};
use crate::door::{Door, Upstream, Way};
use crate::fault::{Victims, Ward};
use crate::history::{AccountEvent, Recorder, What};
use crate::plan::{Plan, Workload};
use crate::subject::{Circumstances, Flavour, Launch, Replica};
use crate::terms::Api;
use crate::world::{FixedNode, Timetable, World};

/// The host that subjects without an endpoint option call.
const CLOUD_HOST: &str = "api.hetzner.cloud";

/// How long pods of the beginning may take to run; some never shall.
const STEADY: Duration = Duration::from_secs(90);

/// All parts of a run, as they stand.
pub(super) struct Stage {
    pub(super) clock: VirtualClock,
    pub(super) recorder: Recorder,
    pub(super) client: Client,
    cluster: Box<dyn Cluster>,
    pub(super) cloud: Arc<Cloud>,
    pub(super) world: Arc<World>,
    pub(super) door: Arc<Door>,
    pub(super) observer: Observer,
    pub(super) ward: Ward,
    pub(super) replicas: Vec<Arc<Replica>>,
    pub(super) workloads: BTreeMap<String, crate::world::Workload>,
    /// Faults that heal by themselves.
    pub(super) healings: Vec<(Time, String)>,
}

impl Stage {
    /// Sets everything up; the subject is started last, on a cluster that is steady.
    pub(super) async fn set(
        clock: &VirtualClock,
        order: &Order,
        recorder: &Recorder,
    ) -> Result<Self, RunError> {
        let plan = &order.plan;
        let tell = {
            let recorder = recorder.clone();
            Arc::new(move |what: What| recorder.record(what))
        };
        let mut cluster: Box<dyn Cluster> = Box::new(Embedded::new(plan.seed));
        let access = cluster.start(clock).await.map_err(RunError::Cluster)?;
        let client = access.client().map_err(RunError::Cluster)?;
        let observer = Observer::start(&client, clock, &(tell.clone() as crate::cluster::Tell));
        let cloud_order = cloud::Order { clock, seed: plan.seed, pools: &plan.pools, tell };
        let (cloud, machines) = Cloud::start(cloud_order).await.map_err(RunError::Cloud)?;
        recorder.hide(cloud.token());
        let trouble = recorder.clone();
        let trouble = Arc::new(move |why: String| trouble.record(What::Trouble(format!("failed to {why}"))));
        let world = World::start(client.clone(), clock.clone(), Timetable::new(plan.seed), machines, trouble);
        for node in &plan.fixed_nodes {
            world.add_fixed_node(&fixed(node));
        }
        let initial: u32 = plan.pools.iter().map(|pool| pool.initial).sum();
        world.until_ready(plan.fixed_nodes.len() + initial as usize).await;
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
            recorder: recorder.clone(),
            client,
            cluster,
            cloud,
            world,
            door,
            observer,
            ward: Ward::new(victims),
            replicas: Vec::new(),
            workloads: BTreeMap::new(),
            healings: Vec::new(),
        };
        stage.observer.until_listed().await;
        for workload in &plan.workloads {
            stage.deploy(workload).await?;
        }
        stage.calm(STEADY).await;
        for number in 0..plan.replicas {
            let replica = stage.start_subject(order, &access, number).await?;
            stage.replicas.push(replica);
        }
        Ok(stage)
    }

    /// Opens the door for one replica, and starts it.
    async fn start_subject(
        &self,
        order: &Order,
        access: &Access,
        number: u32,
    ) -> Result<Arc<Replica>, RunError> {
        let directory = order.directory.join(format!("subject-{number}"));
        fs::create_dir_all(&directory).map_err(|e| RunError::File(directory.clone(), e))?;
        let upstream = Upstream::new(&access.url, Some(&access.ca_pem)).map_err(RunError::Door)?;
        let kubernetes = self
            .door
            .encrypted(Way::new(number, Api::Kubernetes, &upstream))
            .await
            .map_err(RunError::Door)?;
        let cloud_url = self.cloud.url();
        let root = cloud_url.trim_end_matches("/v1").to_owned();
        let upstream = Upstream::new(&root, None).map_err(RunError::Door)?;
        let way = Way::new(number, Api::Cloud, &upstream);
        let cloud = match order.profile.flavour {
            Flavour::Endpoint => self.door.plain(way).await,
            Flavour::Proxy => self.door.proxy(way, CLOUD_HOST).await,
        };
        let cloud = cloud.map_err(RunError::Door)?;
        let write = |name: &str, text: &str| {
            let path = directory.join(name);
            fs::write(&path, text).map_err(|e| RunError::File(path.clone(), e))?;
            Ok::<_, RunError>(path.display().to_string())
        };
        let authority = self.door.authority_pem();
        let token = access.subject_token.as_deref().unwrap_or_default();
        self.recorder.hide(token);
        let ca = write("ca.pem", authority)?;
        let kubeconfig =
            write("kubeconfig", &kubeconfig(token, &format!("https://{kubernetes}"), authority))?;
        let host = format!("subject-{number}");
        let filled = order.profile.fill(&Circumstances {
            kubeconfig: &kubeconfig,
            cloud: &format!("http://{cloud}/v1"),
            token: self.cloud.token(),
            host: &host,
            port: free_port(),
            directory: &directory.display().to_string(),
            ca: &ca,
            proxy: &format!("http://{cloud}"),
            pools: &order.plan.pools,
            options: &order.plan.options,
            timers: &order.plan.timers,
        });
        let filled = filled.map_err(RunError::Fill)?;
        for (name, text) in &filled.files {
            write(name, text)?;
        }
        let arguments = order.before.iter().cloned().chain(filled.arguments).collect();
        let launch = Launch {
            program: order.program.clone(),
            arguments,
            environment: filled.environment,
            directory,
            host,
        };
        Replica::start(number, launch, &self.clock, &self.recorder).map_err(RunError::Subject)
    }

    /// Waits until the subject has come to itself.
    pub(super) async fn settle(&mut self, plan: &Plan, well: Duration) {
        let scan =
            plan.timers.get(&crate::terms::Timer::ScanInterval).map_or(Duration::from_secs(10), |it| it.0);
        self.clock.sleep((scan * 2).min(well)).await;
    }

    /// Waits until no pod waits that could run; not for ever, for some never shall.
    async fn calm(&self, at_most: Duration) {
        let live = self.observer.live();
        let mut changes = live.changes();
        let steady = async {
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
            never_bit: self.ward.never_bit().to_vec(),
            servers: self.cloud.servers_by_pool(),
            nodes: live.nodes_by(cloud::POOL),
        }
    }

    /// Ends everything, the subject first.
    pub(super) async fn strike(self) {
        let Self { replicas, cluster, ward, door, world, observer, .. } = self;
        let stopped = tokio::task::spawn_blocking(move || replicas.iter().for_each(|replica| replica.stop()));
        let _ = stopped.await;
        drop((ward, world, observer));
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

/// The kubeconfig of the subject: through the door.
fn kubeconfig(token: &str, url: &str, authority: &str) -> String {
    let authority = base64::prelude::BASE64_STANDARD.encode(authority);
    format!(
        "apiVersion: v1
kind: Config
current-context: run
clusters:
- name: run
  cluster: {{server: {url:?}, certificate-authority-data: {authority}}}
contexts:
- name: run
  context: {{cluster: run, user: subject, namespace: kube-system}}
users:
- name: subject
  user: {{token: {token}}}
"
    )
}

/// A port that is free just now.
fn free_port() -> u16 {
    let bound = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    bound.map_or(0, |address| address.port())
}
