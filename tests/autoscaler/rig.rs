//! A control plane, a cloud, and machines that become nodes, all on one clock; and the autoscaler beside them.
//!
//! The nodes are simple: they boot, register, run what is bound to them, and vanish with their server.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use base64::Engine as _;
use futures_util::TryStreamExt as _;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Event, Node, Pod};
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Client, Config, ResourceExt as _};
use mock_clock::{Clock as _, Foreign, Time, VirtualClock};
use mock_hetzner::{Cloud, Request};
use mock_kubernetes::ControlPlane;
use serde_json::{Value, json};

/// Makes this very binary the autoscaler.
pub(crate) const ROLE: &str = "SCALEPROOF_TEST_AUTOSCALER";
/// A foreign autoscaler to be run through the same tests.
pub(crate) const FOREIGN: &str = "SCALEPROOF_TEST_FOREIGN_AUTOSCALER";
const BOOT: Duration = Duration::from_secs(30);
/// How long anything is waited for, in virtual time.
const LIMIT: Duration = Duration::from_secs(3 * 3600);

pub(crate) struct Rig {
    pub(crate) clock: VirtualClock,
    pub(crate) plane: ControlPlane,
    pub(crate) cloud: Cloud,
    pub(crate) client: Client,
    directory: PathBuf,
    subjects: Vec<Subject>,
}

enum Subject {
    Ours(Child),
    Foreign(Foreign),
}

impl Drop for Subject {
    fn drop(&mut self) {
        match self {
            Subject::Ours(child) => {
                let _ = child.kill();
                let _ = child.wait();
            }
            Subject::Foreign(foreign) => {
                let _ = foreign.kill();
                let _ = foreign.wait();
            }
        }
    }
}

impl Rig {
    pub(crate) async fn start(name: &str) -> Self {
        let clock = VirtualClock::idle_skip().unwrap();
        let plane = ControlPlane::builder().clock(clock.clone()).without("node-lifecycle-controller");
        let plane = plane.start().await.unwrap();
        let cloud = Cloud::builder().clock(clock.clone()).token("secret").start().await.unwrap();
        let config = Kubeconfig::from_yaml(&plane.kubeconfig()).unwrap();
        let config = Config::from_custom_kubeconfig(config, &KubeConfigOptions::default()).await.unwrap();
        let client = Client::try_from(config).unwrap();
        let directory = std::env::temp_dir().join(format!(
            "autoscaler-{name}-{}-{}",
            std::process::id(),
            plane.address().port()
        ));
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join("kubeconfig"), plane.kubeconfig()).unwrap();
        tokio::spawn(run_pods(client.clone(), clock.clone()));
        let rig = Self { clock, plane, cloud, client, directory, subjects: Vec::new() };
        rig.register(
            "control-plane",
            "other://1",
            &[json!({"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"})],
        )
        .await;
        rig
    }

    /// Nodes come and go with their servers.
    pub(crate) fn machines_boot(&self) -> impl Future<Output = ()> + use<'_> {
        let mut changes = self.cloud.changes();
        async move {
            let mut booting: BTreeMap<String, Time> = BTreeMap::new();
            let mut registered: BTreeMap<String, u64> = BTreeMap::new();
            loop {
                let servers = self.servers();
                let names: BTreeSet<String> = servers.iter().map(|server| text(server, "name")).collect();
                for server in servers.iter().filter(|server| server["status"] == "running") {
                    let name = text(server, "name");
                    if !registered.contains_key(&name) {
                        booting.entry(name).or_insert(self.clock.now() + BOOT);
                    }
                }
                for name in
                    registered.keys().filter(|name| !names.contains(*name)).cloned().collect::<Vec<_>>()
                {
                    registered.remove(&name);
                    let nodes = Api::<Node>::all(self.client.clone());
                    let _ = nodes.delete(&name, &DeleteParams::default()).await;
                }
                for server in &servers {
                    let (name, now) = (text(server, "name"), self.clock.now());
                    if booting.get(&name).is_some_and(|ready| *ready <= now) {
                        booting.remove(&name);
                        let id = server["id"].as_u64().unwrap();
                        self.register(&name, &format!("hcloud://{id}"), &[]).await;
                        registered.insert(name, id);
                    }
                }
                let next = booting.values().min().copied().unwrap_or(Time::NEVER);
                let _ = self.clock.timeout_at(next, changes.changed()).await;
            }
        }
    }

    async fn register(&self, name: &str, provider_id: &str, taints: &[Value]) {
        let now = self.clock.now().to_string();
        let resources = json!({"cpu": "2", "memory": "4Gi", "pods": "110"});
        let node: Node = serde_json::from_value(json!({
            "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}},
            "spec": {"providerID": provider_id, "taints": taints},
            "status": {"capacity": resources, "allocatable": resources, "conditions": [{"type": "Ready",
                "status": "True", "reason": "KubeletReady", "lastHeartbeatTime": now, "lastTransitionTime": now}]},
        }))
        .unwrap();
        let nodes = Api::<Node>::all(self.client.clone());
        nodes.create(&PostParams::default(), &node).await.unwrap();
        // Nobody is there to take the taint away that every node is born with.
        let born = Patch::Merge(json!({"spec": {"taints": taints}}));
        nodes.patch(name, &PatchParams::default(), &born).await.unwrap();
    }

    /// Starts the autoscaler, on the clock from its first moment.
    pub(crate) fn autoscale(&mut self, arguments: &[&str]) {
        let foreign = std::env::var_os(FOREIGN);
        let mut command = match &foreign {
            Some(path) => Command::new(path),
            None => Command::new(std::env::current_exe().unwrap()),
        };
        let config = json!({"imagesForArch": {"amd64": "ubuntu-24.04"}, "nodeConfigs": {"workers": {"cloudInit": "#cloud-config"}}}).to_string();
        command
            .args(["--cloud-provider=hetzner", "--namespace=kube-system"])
            .arg(format!("--address=127.0.0.1:{}", free_port()))
            .arg(format!("--kubeconfig={}", self.directory.join("kubeconfig").display()))
            .args(arguments)
            .env(ROLE, "1")
            .env("HCLOUD_TOKEN", "secret")
            .env("HCLOUD_ENDPOINT", self.cloud.url())
            .env("HCLOUD_CLUSTER_CONFIG", base64::prelude::BASE64_STANDARD.encode(config))
            .stdin(Stdio::null());
        if std::env::var_os("LOUD").is_none() {
            command.stderr(Stdio::null()).stdout(Stdio::null());
        }
        let subject = if foreign.is_some() {
            Subject::Foreign(self.clock.spawn(command).unwrap())
        } else {
            let _busy = self.clock.busy();
            let (name, page) = self.clock.environment().unwrap();
            let child = command.env(name, page).spawn().unwrap();
            self.clock.track(child.id()).unwrap();
            Subject::Ours(child)
        };
        self.subjects.push(subject);
    }

    /// Ends what was started last, without a word.
    pub(crate) fn kill(&mut self) {
        self.subjects.pop();
    }

    /// Asks what was started last to end; gives its exit code.
    pub(crate) fn terminate(&mut self) -> Option<i32> {
        let Some(Subject::Ours(child)) = self.subjects.last_mut() else { return None };
        let id = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw)?;
        rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
        child.wait().unwrap().code()
    }

    /// All servers, as the API tells them.
    pub(crate) fn servers(&self) -> Vec<Value> {
        let request = Request::new("GET", "/v1/servers?per_page=50").token("secret");
        let reply = self.cloud.with(|engine, now| engine.answer(now, &request));
        let body: Value = serde_json::from_slice(&reply.body.unwrap()).unwrap();
        body["servers"].as_array().unwrap().clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.servers().len()
    }

    /// How many servers there have ever been.
    pub(crate) fn ever(&self) -> usize {
        self.cloud.with(|engine, _| {
            engine.ledger().entries().filter(|entry| format!("{:?}", entry.kind) == "Server").count()
        })
    }

    pub(crate) async fn deploy(&self, name: &str, replicas: i32, cpu: &str) {
        let deployment: Deployment = serde_json::from_value(json!({
            "metadata": {"name": name},
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"terminationGracePeriodSeconds": 2, "containers": [
                    {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]}}},
        }))
        .unwrap();
        let deployments = Api::<Deployment>::default_namespaced(self.client.clone());
        deployments.create(&PostParams::default(), &deployment).await.unwrap();
    }

    pub(crate) async fn scale(&self, name: &str, replicas: i32) {
        let deployments = Api::<Deployment>::default_namespaced(self.client.clone());
        let patch = Patch::Merge(json!({"spec": {"replicas": replicas}}));
        deployments.patch(name, &PatchParams::default(), &patch).await.unwrap();
    }

    /// How many pods run.
    pub(crate) async fn running(&self) -> usize {
        let pods = Api::<Pod>::default_namespaced(self.client.clone());
        let pods = pods.list(&ListParams::default()).await.unwrap();
        let runs = |pod: &&Pod| {
            pod.status.as_ref().and_then(|status| status.phase.as_deref()) == Some("Running")
                && pod.metadata.deletion_timestamp.is_none()
        };
        pods.iter().filter(runs).count()
    }

    pub(crate) async fn reasons(&self) -> BTreeSet<String> {
        let events = Api::<Event>::all(self.client.clone()).list(&ListParams::default()).await.unwrap();
        events.items.into_iter().filter_map(|event| event.reason).collect()
    }

    pub(crate) async fn status(&self) -> Option<ConfigMap> {
        let maps = Api::<ConfigMap>::namespaced(self.client.clone(), "kube-system");
        maps.get_opt("cluster-autoscaler-status").await.unwrap()
    }

    /// Waits until it is so, looking every few seconds; gives how long that took.
    pub(crate) async fn until<F: Future<Output = bool>>(
        &self,
        what: &str,
        is_so: impl Fn() -> F,
    ) -> Duration {
        let began = self.clock.now();
        while !is_so().await {
            let waited = self.clock.now() - began;
            assert!(waited < LIMIT, "waited in vain until {what}\n{}", self.clock.status());
            self.clock.sleep(Duration::from_secs(5)).await;
        }
        self.clock.now() - began
    }

    pub(crate) async fn end(mut self) {
        self.subjects.clear();
        std::fs::remove_dir_all(&self.directory).unwrap();
        self.plane.stop().await;
    }
}

/// Kubelets that start what is bound and end what is deleted, unless it is called immortal.
async fn run_pods(client: Client, clock: VirtualClock) {
    let all = Api::<Pod>::all(client.clone());
    let changes = watcher(all, watcher::Config::default()).default_backoff().applied_objects();
    let _ = changes
        .try_for_each(|pod| {
            let pods = Api::<Pod>::namespaced(client.clone(), &pod.namespace().unwrap());
            let clock = clock.clone();
            async move {
                let bound = pod.spec.as_ref().is_some_and(|spec| spec.node_name.is_some());
                let phase = pod.status.as_ref().and_then(|status| status.phase.clone());
                let immortal = pod.name_any().starts_with("immortal");
                if bound && pod.metadata.deletion_timestamp.is_some() && !immortal {
                    let now = DeleteParams::default().grace_period(0);
                    tokio::spawn(async move {
                        clock.sleep(Duration::from_secs(2)).await;
                        let _ = pods.delete(&pod.name_any(), &now).await;
                    });
                } else if bound && phase.as_deref() == Some("Pending") {
                    let running = json!({"status": {"phase": "Running",
                        "conditions": [{"type": "Ready", "status": "True"}]}});
                    let parameters = PatchParams::default();
                    let _ = pods.patch_status(&pod.name_any(), &parameters, &Patch::Strategic(running)).await;
                }
                Ok(())
            }
        })
        .await;
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap().to_owned()
}

fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
