//! The shell for the API server: caches to read from, and the few writes there are.

pub(crate) mod read;
mod tell;
mod watching;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use k8s_openapi::api::apps::v1::{DaemonSet, ReplicaSet};
use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod, ReplicationController, Taint};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use kube::api::{Api, DeleteParams, EvictParams, Patch, PatchParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use mock_clock::{Clock as _, VirtualClock};
use serde_json::{Value, json};

pub(crate) use tell::{Events, Told};
pub(crate) use watching::Cache;

use crate::defect::Defect;
use crate::settings::Settings;
use crate::view::{Offer, Server, View};

/// How long an answer may take.
const TIMEOUT: Duration = Duration::from_secs(30);
/// How long a write to a node is tried, and how often.
const WRITE_FOR: Duration = Duration::from_secs(5);
const WRITE_AGAIN: Duration = Duration::from_millis(750);
const PRIORITIES: &str = "cluster-autoscaler-priority-expander";

/// What may be changed of a node, with the version that was read: whoever was faster is not overwritten.
fn of_node(node: &Node) -> Value {
    let (meta, spec) = (&node.metadata, node.spec.as_ref());
    json!({
        "metadata": {"labels": meta.labels, "annotations": meta.annotations, "finalizers": meta.finalizers,
            "ownerReferences": meta.owner_references, "resourceVersion": meta.resource_version},
        "spec": {"taints": spec.and_then(|spec| spec.taints.as_ref())},
    })
}

/// A client of the API server and what it has cached.
#[derive(Debug)]
pub(crate) struct Kubernetes {
    client: KubeClient,
    pods: Cache<Pod>,
    nodes: Cache<Node>,
    budgets: Cache<PodDisruptionBudget>,
    daemons: Cache<DaemonSet>,
    sets: Cache<ReplicaSet>,
    controllers: Cache<ReplicationController>,
}

/// The client alone.
#[derive(Clone)]
pub(crate) struct KubeClient {
    pub(crate) client: Client,
    pub(crate) clock: VirtualClock,
    pub(crate) namespace: String,
    /// Nodes are patched, and not written as a whole.
    patches: bool,
    /// And whatever others have written meanwhile.
    overwrites: bool,
    /// The status map as it was written last: it is written again without being read, as long as nobody else writes it.
    status: Arc<Mutex<Option<ConfigMap>>>,
}

impl std::fmt::Debug for KubeClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KubeClient").field("namespace", &self.namespace).finish_non_exhaustive()
    }
}

impl KubeClient {
    pub(crate) async fn connect(settings: &Settings, clock: VirtualClock) -> Result<Self, String> {
        Self::by(settings.arguments.kubeconfig.as_deref(), settings, clock).await
    }

    /// A client by a kubeconfig, or as a pod has it.
    pub(crate) async fn by(
        file: Option<&Path>,
        settings: &Settings,
        clock: VirtualClock,
    ) -> Result<Self, String> {
        let mut config = match file {
            Some(path) => {
                let file = Kubeconfig::read_from(path).map_err(|e| format!("{}: {e}", path.display()))?;
                Config::from_custom_kubeconfig(file, &KubeConfigOptions::default())
                    .await
                    .map_err(|e| format!("{}: {e}", path.display()))?
            }
            None => Config::incluster().map_err(|e| format!("no --kubeconfig, and not in a pod: {e}"))?,
        };
        // These are real time's; ours are the clock's.
        (config.connect_timeout, config.read_timeout, config.write_timeout) = (None, None, None);
        config.default_retry = false;
        let client = Client::try_from(config).map_err(|e| e.to_string())?;
        let (namespace, patches) = (settings.arguments.namespace.clone(), settings.is_of_claims());
        let overwrites = settings.has(Defect::OverwritesTaints);
        Ok(Self { client, clock, namespace, patches, overwrites, status: Arc::default() })
    }

    /// An answer, in time.
    pub(crate) async fn ask<T>(
        &self,
        question: impl Future<Output = Result<T, kube::Error>>,
    ) -> Result<T, Refusal> {
        match self.clock.timeout(TIMEOUT, question).await {
            Ok(answer) => answer.map_err(Refusal::from),
            Err(_) => Err(Refusal { code: 0, why: format!("no answer in {TIMEOUT:?}") }),
        }
    }

    /// Reads a node, changes it and writes it back, anew if somebody else was faster. Gives whether it was changed.
    pub(crate) async fn change_node(
        &self,
        name: &str,
        change: impl Fn(&mut Node) -> bool,
    ) -> Result<bool, Refusal> {
        let nodes = Api::<Node>::all(self.client.clone());
        let deadline = self.clock.now() + WRITE_FOR;
        loop {
            let attempt = async {
                let mut node = self.ask(nodes.get(name)).await?;
                if !change(&mut node) {
                    return Ok(false);
                }
                if self.patches {
                    if self.overwrites {
                        node.metadata.resource_version = None;
                    }
                    let patch = Patch::Merge(of_node(&node));
                    return self.ask(nodes.patch(name, &PatchParams::default(), &patch)).await.map(|_| true);
                }
                self.ask(nodes.replace(name, &PostParams::default(), &node)).await.map(|_| true)
            };
            match attempt.await {
                Err(refusal) if refusal.code != 404 && self.clock.now() + WRITE_AGAIN < deadline => {}
                done => return done,
            }
            self.clock.sleep(WRITE_AGAIN).await;
        }
    }

    /// Sets a taint, and cordons the node if that is wanted.
    pub(crate) async fn taint(
        &self,
        name: &str,
        key: &str,
        effect: &str,
        cordon: bool,
    ) -> Result<bool, Refusal> {
        let value = (self.clock.now().unix_nanos() / 1_000_000_000).to_string();
        self.change_node(name, |node| {
            let spec = node.spec.get_or_insert_default();
            let taints = spec.taints.get_or_insert_default();
            if taints.iter().any(|taint| taint.key == key) {
                return false;
            }
            let (key, effect) = (key.to_owned(), effect.to_owned());
            taints.push(Taint { key, effect, value: Some(value.clone()), time_added: None });
            if cordon {
                spec.unschedulable = Some(true);
            }
            true
        })
        .await
    }

    /// Takes a taint away, and the cordon with it if that was ours.
    pub(crate) async fn untaint(&self, name: &str, key: &str, uncordon: bool) -> Result<bool, Refusal> {
        self.change_node(name, |node| {
            let spec = node.spec.get_or_insert_default();
            let taints = spec.taints.get_or_insert_default();
            let before = taints.len();
            taints.retain(|taint| taint.key != key);
            if taints.len() == before {
                return false;
            }
            if uncordon {
                spec.unschedulable = None;
            }
            true
        })
        .await
    }

    pub(crate) async fn evict(&self, key: &str, grace_s: u64) -> Result<(), Refusal> {
        let (pods, name) = self.pods_of(key);
        let grace = u32::try_from(grace_s).unwrap_or(u32::MAX);
        let options = EvictParams {
            delete_options: Some(DeleteParams {
                grace_period_seconds: Some(grace),
                ..DeleteParams::default()
            }),
            ..EvictParams::default()
        };
        self.ask(pods.evict(name, &options)).await.map(drop)
    }

    pub(crate) async fn delete_pod(&self, key: &str) -> Result<(), Refusal> {
        let (pods, name) = self.pods_of(key);
        self.ask(pods.delete(name, &DeleteParams::default())).await.map(drop)
    }

    /// Whether the pod is still on the node.
    pub(crate) async fn is_on(&self, key: &str, node: &str) -> Result<bool, Refusal> {
        let (pods, name) = self.pods_of(key);
        let pod = self.ask(pods.get_opt(name)).await?;
        let ended = |pod: &Pod| {
            let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
            matches!(phase, Some("Succeeded" | "Failed"))
        };
        let on = |pod: &Pod| pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()) == Some(node);
        Ok(pod.is_some_and(|pod| on(&pod) && !ended(&pod)))
    }

    pub(crate) async fn node(&self, name: &str) -> Result<Option<Node>, Refusal> {
        self.ask(Api::<Node>::all(self.client.clone()).get_opt(name)).await
    }

    pub(crate) async fn delete_node(&self, name: &str) -> Result<(), Refusal> {
        self.ask(Api::<Node>::all(self.client.clone()).delete(name, &DeleteParams::default())).await.map(drop)
    }

    /// The map of the priority expander, if there is one that can be read.
    pub(crate) async fn priorities(&self) -> Option<String> {
        let maps = Api::<ConfigMap>::namespaced(self.client.clone(), &self.namespace);
        let map = self.ask(maps.get_opt(PRIORITIES)).await.ok().flatten();
        map.and_then(|map| map.data?.remove("priorities"))
    }

    fn pods_of<'a>(&self, key: &'a str) -> (Api<Pod>, &'a str) {
        let (namespace, name) = key.split_once('/').unwrap_or(("default", key));
        (Api::namespaced(self.client.clone(), namespace), name)
    }
}

impl Kubernetes {
    pub(crate) fn start(client: KubeClient, settings: &Settings) -> Self {
        let stubborn = settings.has(Defect::NeverListsAgain);
        macro_rules! cache {
            () => {
                Cache::start(Api::all(client.client.clone()), client.clock.clone(), stubborn)
            };
        }
        Self {
            pods: cache!(),
            nodes: cache!(),
            budgets: cache!(),
            daemons: cache!(),
            sets: cache!(),
            controllers: cache!(),
            client,
        }
    }

    /// Whether everything has been listed once.
    pub(crate) fn is_filled(&self) -> bool {
        self.pods.is_filled()
            && self.nodes.is_filled()
            && self.budgets.is_filled()
            && self.daemons.is_filled()
            && self.sets.is_filled()
            && self.controllers.is_filled()
    }

    /// Names of nodes with this taint.
    pub(crate) fn tainted(&self, key: &str) -> Vec<String> {
        let nodes = self.nodes.read(read::node);
        nodes.into_iter().filter(|node| node.has_taint(key)).map(|node| node.name).collect()
    }

    /// Whether a pod is on the node that would have to be evicted, as far as the cache knows.
    pub(crate) fn has_guests(&self, node: &str, cutoff: i32) -> bool {
        let guest = |pod: &crate::view::Pod| {
            pod.node.as_deref() == Some(node)
                && !pod.ended
                && pod.priority >= cutoff
                && !matches!(pod.owner, crate::view::Owner::DaemonSet | crate::view::Owner::Mirror)
        };
        self.pods.read(read::pod).iter().any(guest)
    }

    /// How long the pod wants to have for its end.
    pub(crate) fn grace_s(&self, key: &str) -> u64 {
        let pods = self.pods.read(read::pod);
        pods.iter().find(|pod| pod.key() == key).map_or(30, |pod| pod.grace_s)
    }

    /// All that is known now.
    pub(crate) fn view(
        &self,
        servers: Vec<Server>,
        offers: BTreeMap<String, Offer>,
        priorities: Option<String>,
    ) -> View {
        let replicas =
            self.sets.read(|set| (uid(&set.metadata), set.spec.as_ref().and_then(|spec| spec.replicas)));
        let more =
            self.controllers.read(|c| (uid(&c.metadata), c.spec.as_ref().and_then(|spec| spec.replicas)));
        View {
            now: self.client.clock.now(),
            nodes: self.nodes.read(read::node).into_iter().map(|node| (node.name.clone(), node)).collect(),
            pods: self.pods.read(read::pod).into_iter().map(|pod| (pod.key(), pod)).collect(),
            budgets: self.budgets.read(read::budget),
            replicas: replicas
                .into_iter()
                .chain(more)
                .map(|(uid, count)| (uid, count.unwrap_or(1)))
                .collect(),
            daemons: self.daemons.read(read::daemon),
            servers,
            offers,
            priorities,
            kept: BTreeSet::new(),
        }
    }
}

fn uid(metadata: &k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta) -> String {
    metadata.uid.clone().unwrap_or_default()
}

/// An answer that is none of those that were hoped for.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    /// The status of the answer; 0 if there was no answer.
    pub(crate) code: u16,
    why: String,
}

impl From<kube::Error> for Refusal {
    fn from(error: kube::Error) -> Self {
        let code = match &error {
            kube::Error::Api(status) => status.code,
            _ => 0,
        };
        Self { code, why: error.to_string() }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.why)
    }
}
