//! Workloads: what somebody asks the cluster for. Made, scaled and taken away as objects; owners, scheduler and kubelets do
//! the rest.

use std::collections::BTreeMap;
use std::pin::pin;
use std::time::Duration;

use futures_util::TryStreamExt as _;
use k8s_openapi::api::core::v1::{Pod, ServiceAccount};
use kube::api::{
    Api, ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams, WatchParams,
};
use kube::core::GroupVersionKind;
use kube::{Client, ResourceExt as _};
use serde_json::{Value, json};

use crate::terms::{Period, Room, Taint};

/// Every pod of a workload carries its name under this label.
pub const LABEL: &str = crate::terms::WORKLOAD_LABEL;
/// The kind of budgets.
const BUDGET: Kind = ("policy", "v1", "PodDisruptionBudget");
/// A pod says with this annotation how long it takes to end.
pub(super) const ENDS_IN: &str = "scaleproof.dev/ends-in";

/// Pods that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    /// Its name, and that of its owner.
    pub name: String,
    /// Where.
    pub namespace: String,
    /// What owns the pods.
    pub owner: Owner,
    /// How many pods; a daemon set decides for itself.
    pub pods: u32,
    /// What each asks for.
    pub room: Room,
    /// Nodes with these labels only.
    pub node_selector: BTreeMap<String, String>,
    /// Taints it does not mind.
    pub tolerates: Vec<Taint>,
    /// Annotations of each pod.
    pub annotations: BTreeMap<String, String>,
    /// Volumes of each pod.
    pub volumes: Vec<Volume>,
    /// The priority of each pod.
    pub priority: Option<i32>,
    /// Who finds them a node, if it is not the ordinary scheduler.
    pub scheduler: Option<String>,
    /// No two on a node: they must, or they would rather.
    pub apart: Option<Apart>,
    /// A disruption budget over them: so many may be away.
    pub max_unavailable: Option<u32>,
    /// How long a pod takes to end.
    pub ends_in: Option<Duration>,
    /// How long it is granted to.
    pub grace: Option<Duration>,
    /// Nodes whose labels meet all of these only.
    pub node_affinity: Vec<LabelRequirement>,
    /// How evenly they are spread.
    pub spread: Option<Spread>,
}

/// What a label of a node must be, in the words of Kubernetes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelRequirement {
    /// This label.
    pub key: String,
    /// How it is held against the values.
    pub operator: String,
    /// These values.
    pub values: Vec<String>,
}

/// How evenly pods are spread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spread {
    /// Over nodes that differ in this label.
    pub over: String,
    /// By so many they may differ.
    pub max_skew: u32,
    /// Or they wait.
    pub must: bool,
}

/// The disruption budget of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// So many may be away.
    MaxUnavailable(u32),
    /// So many must be there.
    MinAvailable(u32),
}

/// What owns the pods of a workload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Owner {
    /// A deployment.
    #[default]
    Deployment,
    /// A daemon set.
    DaemonSet,
    /// A job.
    Job,
    /// A stateful set.
    StatefulSet,
    /// Nobody.
    Nobody,
}

/// A volume of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Volume {
    /// Scratch space of this name on the disk of the node.
    Scratch(String),
    /// Scratch space of this name in memory.
    Memory(String),
    /// A directory of the node.
    HostPath(String),
}

/// How pods keep away from each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Apart {
    /// They must.
    Required,
    /// They would rather.
    Preferred,
}

impl Workload {
    /// So many pods of a deployment that ask for so much.
    pub fn new(name: &str, pods: u32, room: Room) -> Self {
        Self {
            name: name.to_owned(),
            namespace: "default".to_owned(),
            owner: Owner::default(),
            pods,
            room,
            node_selector: BTreeMap::new(),
            tolerates: Vec::new(),
            annotations: BTreeMap::new(),
            volumes: Vec::new(),
            priority: None,
            scheduler: None,
            apart: None,
            max_unavailable: None,
            ends_in: None,
            grace: None,
            node_affinity: Vec::new(),
            spread: None,
        }
    }

    /// Asks for it.
    pub async fn deploy(&self, client: &Client) -> kube::Result<()> {
        self.make_namespace(client).await?;
        if let Some(priority) = self.priority {
            let class = json!({"metadata": {"name": class_name(priority)}, "value": priority});
            put(client, ("scheduling.k8s.io", "v1", "PriorityClass"), None, class).await?;
        }
        if let Some(away) = self.max_unavailable {
            self.set_budget(client, Some(Budget::MaxUnavailable(away))).await?;
        }
        let Some(kind) = self.owner.kind() else { return self.add_bare(client, 0..self.pods).await };
        put(client, kind, Some(&self.namespace), self.object()).await.map(drop)
    }

    /// Asks for more of them, or fewer.
    pub async fn scale(&self, client: &Client, pods: u32) -> kube::Result<()> {
        let spec = match self.owner {
            Owner::Nobody => return self.scale_bare(client, pods).await,
            Owner::DaemonSet => return Ok(()),
            Owner::Job => json!({"parallelism": pods}),
            Owner::Deployment | Owner::StatefulSet => json!({"replicas": pods}),
        };
        let Some(kind) = self.owner.kind() else { return Ok(()) };
        let patch = Patch::Merge(json!({"spec": spec}));
        api(client, kind, Some(&self.namespace))
            .patch(&self.name, &PatchParams::default(), &patch)
            .await
            .map(drop)
    }

    /// Gives it this budget instead of the one that it may have, or none.
    pub async fn set_budget(&self, client: &Client, budget: Option<Budget>) -> kube::Result<()> {
        let Some(budget) = budget else { return take(client, BUDGET, &self.namespace, &self.name).await };
        let mut spec = match budget {
            Budget::MaxUnavailable(away) => json!({"maxUnavailable": away, "minAvailable": null}),
            Budget::MinAvailable(there) => json!({"minAvailable": there, "maxUnavailable": null}),
        };
        spec["selector"] = json!({"matchLabels": {LABEL: self.name}});
        let object = json!({"metadata": {"name": self.name}, "spec": spec});
        if put(client, BUDGET, Some(&self.namespace), object.clone()).await? == Put::Made {
            return Ok(());
        }
        let budgets = api(client, BUDGET, Some(&self.namespace));
        budgets.patch(&self.name, &PatchParams::default(), &Patch::Merge(object)).await.map(drop)
    }

    /// Labels the pods that are there, or takes labels from them; those that follow are made without. Says how many there were.
    pub async fn label_pods(
        &self,
        client: &Client,
        labels: &BTreeMap<String, Option<String>>,
    ) -> kube::Result<usize> {
        let pods: Api<Pod> = Api::namespaced(client.clone(), &self.namespace);
        let list = pods.list(&ListParams::default().labels(&format!("{LABEL}={}", self.name))).await?;
        let patch = Patch::Merge(json!({"metadata": {"labels": labels}}));
        for pod in &list.items {
            match pods.patch(&pod.name_any(), &PatchParams::default(), &patch).await {
                // One that is gone meanwhile needs none.
                Err(kube::Error::Api(status)) if status.code == 404 => {}
                done => drop(done?),
            }
        }
        Ok(list.items.len())
    }

    /// Takes it away, with whatever budget it has by now.
    pub async fn remove(&self, client: &Client) -> kube::Result<()> {
        self.set_budget(client, None).await?;
        match self.owner.kind() {
            Some(kind) => take(client, kind, &self.namespace, &self.name).await,
            None => self.scale_bare(client, 0).await,
        }
    }

    /// Its namespace; a new one is of use when it has its service account.
    async fn make_namespace(&self, client: &Client) -> kube::Result<()> {
        let namespace = json!({"metadata": {"name": self.namespace}});
        if put(client, ("", "v1", "Namespace"), None, namespace).await? == Put::Made {
            let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), &self.namespace);
            let named = WatchParams::default().fields("metadata.name=default");
            // The first that it tells is that the account is there. If the watch fails, a deployment waits for the account by
            // itself.
            if let Ok(watch) = accounts.watch(&named, "0").await {
                let _ = pin!(watch).try_next().await;
            }
        }
        Ok(())
    }

    async fn add_bare(&self, client: &Client, numbers: std::ops::Range<u32>) -> kube::Result<()> {
        for number in numbers {
            let mut pod = self.template();
            pod["metadata"]["name"] = json!(format!("{}-{number}", self.name));
            put(client, ("", "v1", "Pod"), Some(&self.namespace), pod).await?;
        }
        Ok(())
    }

    async fn scale_bare(&self, client: &Client, wanted: u32) -> kube::Result<()> {
        let pods: Api<Pod> = Api::namespaced(client.clone(), &self.namespace);
        let list = pods.list(&ListParams::default().labels(&format!("{LABEL}={}", self.name))).await?;
        let number = |pod: &Pod| pod.name_any().rsplit('-').next().and_then(|text| text.parse::<u32>().ok());
        for pod in list.items.iter().filter(|pod| number(pod).is_some_and(|number| number >= wanted)) {
            take(client, ("", "v1", "Pod"), &self.namespace, &pod.name_any()).await?;
        }
        // Those that are there already stay.
        self.add_bare(client, 0..wanted).await
    }

    /// The object of the owner.
    fn object(&self) -> Value {
        let template = self.template();
        let selector = json!({"matchLabels": {LABEL: self.name}});
        let spec = match self.owner {
            Owner::Job => {
                let mut template = template;
                template["spec"]["restartPolicy"] = json!("Never");
                json!({"parallelism": self.pods, "completions": self.pods, "template": template})
            }
            Owner::DaemonSet => json!({"selector": selector, "template": template}),
            Owner::StatefulSet => json!({"replicas": self.pods, "selector": selector, "template": template,
                "serviceName": self.name, "podManagementPolicy": "Parallel"}),
            Owner::Deployment | Owner::Nobody => {
                json!({"replicas": self.pods, "selector": selector, "template": template})
            }
        };
        json!({"metadata": {"name": self.name, "labels": {LABEL: self.name}}, "spec": spec})
    }

    fn template(&self) -> Value {
        let mut annotations = self.annotations.clone();
        if let Some(ends_in) = self.ends_in {
            annotations.insert(ENDS_IN.to_owned(), Period(ends_in).to_string());
        }
        let granted = self.ends_in.map_or(30, |ends_in| ends_in.as_secs().max(30));
        let granted = self.grace.map_or(granted, |grace| grace.as_secs());
        let requests = json!({"cpu": format!("{}m", self.room.cpu_milli), "memory": format!("{}Mi", self.room.memory_mib)});
        json!({
            "metadata": {"labels": {LABEL: self.name}, "annotations": annotations},
            "spec": {
                "containers": [{"name": "main", "image": "hollow:1", "resources": {"requests": requests}}],
                "nodeSelector": self.node_selector,
                "tolerations": self.tolerates.iter().map(toleration).collect::<Vec<_>>(),
                "volumes": self.volumes.iter().map(Volume::object).collect::<Vec<_>>(),
                "priorityClassName": self.priority.map(class_name),
                "schedulerName": self.scheduler,
                "affinity": self.affinity(),
                "topologySpreadConstraints": self.spread.as_ref().map(|spread| [self.constraint(spread)]),
                "terminationGracePeriodSeconds": granted,
            },
        })
    }

    fn affinity(&self) -> Option<Value> {
        let required =
            |of: &LabelRequirement| json!({"key": of.key, "operator": of.operator, "values": of.values});
        let mut affinity = self.apart.map_or_else(|| json!({}), |apart| self.anti_affinity(apart));
        if !self.node_affinity.is_empty() {
            let all: Vec<Value> = self.node_affinity.iter().map(required).collect();
            affinity["nodeAffinity"] = json!({"requiredDuringSchedulingIgnoredDuringExecution":
                {"nodeSelectorTerms": [{"matchExpressions": all}]}});
        }
        (affinity != json!({})).then_some(affinity)
    }

    fn constraint(&self, spread: &Spread) -> Value {
        let otherwise = if spread.must { "DoNotSchedule" } else { "ScheduleAnyway" };
        json!({"topologyKey": spread.over, "maxSkew": spread.max_skew, "whenUnsatisfiable": otherwise,
            "labelSelector": {"matchLabels": {LABEL: self.name}}})
    }

    fn anti_affinity(&self, apart: Apart) -> Value {
        let term = json!({"topologyKey": "kubernetes.io/hostname",
            "labelSelector": {"matchLabels": {LABEL: self.name}}});
        json!({"podAntiAffinity": match apart {
            Apart::Required => json!({"requiredDuringSchedulingIgnoredDuringExecution": [term]}),
            Apart::Preferred => {
                json!({"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "podAffinityTerm": term}]})
            }
        }})
    }
}

type Kind = (&'static str, &'static str, &'static str);

impl Owner {
    fn kind(self) -> Option<Kind> {
        Some(match self {
            Owner::Deployment => ("apps", "v1", "Deployment"),
            Owner::DaemonSet => ("apps", "v1", "DaemonSet"),
            Owner::StatefulSet => ("apps", "v1", "StatefulSet"),
            Owner::Job => ("batch", "v1", "Job"),
            Owner::Nobody => return None,
        })
    }
}

impl Volume {
    fn object(&self) -> Value {
        match self {
            Volume::Scratch(name) => json!({"name": name, "emptyDir": {}}),
            Volume::Memory(name) => json!({"name": name, "emptyDir": {"medium": "Memory"}}),
            Volume::HostPath(path) => {
                let name =
                    path.trim_matches('/').replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
                json!({"name": format!("host-{}", name.to_ascii_lowercase()), "hostPath": {"path": path}})
            }
        }
    }
}

fn toleration(taint: &Taint) -> Value {
    let operator = if taint.value.is_empty() { "Exists" } else { "Equal" };
    let value = Some(&taint.value).filter(|value| !value.is_empty());
    json!({"key": taint.key, "operator": operator, "value": value, "effect": taint.effect})
}

/// What class names priorities of this value.
fn class_name(priority: i32) -> String {
    if priority < 0 { format!("below-{}", priority.unsigned_abs()) } else { format!("above-{priority}") }
}

fn api(client: &Client, (group, version, kind): Kind, namespace: Option<&str>) -> Api<DynamicObject> {
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
    match namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
        None => Api::all_with(client.clone(), &resource),
    }
}

/// What became of an object that was to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Put {
    Made,
    /// It was there already, and stays as it is.
    There,
}

async fn put(client: &Client, kind: Kind, namespace: Option<&str>, mut object: Value) -> kube::Result<Put> {
    let (group, version, name) = kind;
    object["apiVersion"] =
        json!(if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") });
    object["kind"] = json!(name);
    let object: DynamicObject = serde_json::from_value(object).map_err(kube::Error::SerdeError)?;
    match api(client, kind, namespace).create(&PostParams::default(), &object).await {
        Ok(_) => Ok(Put::Made),
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(Put::There),
        Err(error) => Err(error),
    }
}

/// Takes an object away; one that is gone already is gone.
async fn take(client: &Client, kind: Kind, namespace: &str, name: &str) -> kube::Result<()> {
    match api(client, kind, Some(namespace)).delete(name, &DeleteParams::background()).await {
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        done => done.map(drop),
    }
}
