//! A scenario: what is given, what is done, what hurts, and what is expected. Written by people, as YAML.
//!
//! These are the plain values; [`read()`] makes them from a file and tells every mistake in it at once, with its place. What
//! a scenario means for one subject and one seed is decided by the plan.

mod builtin;
mod expect;
mod fault;
mod read;
mod references;
mod sense;
mod span;
mod written;

pub use builtin::builtin;
pub use expect::{Count, Expect, Matter, NodeState, PodState, When};
pub use fault::{CallMatch, Edit, EditedBy, FateSpec, FaultSpec, Stage};
pub use read::{Known, read, schema};
pub use span::Span;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::code::Code;
use crate::document::Keyed;
use crate::terms::{Consolidate, DisruptionBudget, SubjectOption, Taint, Timer};

/// One file under `suites/`.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Its claim, in a sentence.
    #[schemars(length(min = 1))]
    pub title: String,
    /// Where it comes from and what it shows, for readers.
    #[serde(default)]
    pub about: String,
    /// The expectations it exercises.
    pub expect: Vec<Code>,
    /// A subject that is judged here must be convicted of these: a scenario that shows that the harness has eyes.
    #[serde(default)]
    pub convicts: Vec<Code>,
    /// What there is when it begins.
    pub given: Given,
    /// What is done, one after the other.
    pub steps: Vec<Step>,
    /// How long things may take to become good again after the last step and the healing of all faults.
    #[serde(default)]
    pub converge: Option<Span>,
}

impl Scenario {
    /// All that it asks for: what it exercises, and what must be convicted.
    pub fn claims(&self) -> impl Iterator<Item = &Code> {
        self.expect.iter().chain(&self.convicts)
    }

    /// Whether it says itself what it expects: that is a claim on anybody.
    pub fn expects_something(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Expect(_)))
    }
}

/// What there is when a scenario begins.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Given {
    /// The pools, by name.
    #[schemars(extend("propertyNames" = written::name(), "minProperties" = 1))]
    pub pools: BTreeMap<String, PoolSpec>,
    /// Nodes that no pool owns and no autoscaler may touch; one, if left out, with room for nothing but system pods.
    #[serde(default)]
    pub fixed_nodes: Option<Vec<FixedNode>>,
    /// What the subject is asked to do otherwise than by default: the profile knows how to tell it.
    #[serde(default, deserialize_with = "written::settings")]
    #[schemars(with = "Keyed<SubjectOption, written::Setting>")]
    pub options: BTreeMap<SubjectOption, String>,
    /// Timers that the subject is given for this scenario instead of those of its profile.
    #[serde(default)]
    #[schemars(with = "Keyed<Timer, Span>")]
    pub timers: BTreeMap<Timer, Span>,
    /// What the subject is told for this scenario beside what its profile says.
    #[serde(default)]
    pub subject: SubjectSpec,
    /// How many replicas of the subject run.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 5))]
    pub replicas: u32,
    /// Workloads that are there from the beginning.
    #[serde(default)]
    pub workloads: Vec<Workload>,
}

fn one() -> u32 {
    1
}

/// What the subject is told for one scenario: `{arguments: ["--v=6"], environment: {HCLOUD_NETWORK: mine}}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubjectSpec {
    /// Arguments after all others, as they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
    /// Variables of its environment, as they are, in the place of those of its profile.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// The profiles that are meant, by their names: the scenario is about no other subject; all, if left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<String>,
}

/// A pool as a scenario gives it.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoolSpec {
    /// What its machines are.
    #[serde(rename = "type", default = "machine")]
    pub machine: String,
    /// Where they are.
    #[serde(default = "location")]
    pub location: String,
    /// Not fewer.
    pub min: u32,
    /// Not more.
    pub max: u32,
    /// How many there are when the run begins, as ready nodes. They are called by pool and number: `small-0`, `small-1`.
    #[serde(default)]
    pub initial: u32,
    /// Labels of its nodes.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Taints of its nodes.
    #[serde(default)]
    pub taints: Vec<Taint>,
    /// The higher is bought first.
    #[serde(default)]
    pub priority: Option<i32>,
    /// Further machines that its nodes may be instead: only Karpenter chooses.
    #[serde(default)]
    pub also: Vec<String>,
    /// Taints of new nodes that somebody else takes away: only Karpenter knows them by pool.
    #[serde(default)]
    pub startup_taints: Vec<Taint>,
    /// How its nodes are disrupted: only Karpenter does.
    #[serde(default)]
    pub disruption: Option<DisruptionSpec>,
    /// Taints that its kubelets register with beside those that they have anyway, startup taints for instance.
    #[serde(default)]
    pub registers_with: Vec<Taint>,
}

impl PoolSpec {
    /// Whether it has what only Karpenter can be told.
    pub fn is_karpenters(&self) -> bool {
        self.disruption.is_some() || !self.also.is_empty() || !self.startup_taints.is_empty()
    }
}

/// How Karpenter is to disrupt the nodes of a pool.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DisruptionSpec {
    /// Which nodes are consolidated.
    #[serde(default)]
    pub consolidate: Consolidate,
    /// How long after the last change of a node's pods; if left out, the subject's `unneeded_time`.
    #[serde(default)]
    pub after: Option<Span>,
    /// How many nodes at a time; if left out, the tenth part that is Karpenter's default.
    #[serde(default)]
    pub budgets: Option<Vec<DisruptionBudget>>,
    /// How old a node may become.
    #[serde(default)]
    pub expire_after: Option<Span>,
    /// How long a drain may take; for ever, if left out.
    #[serde(default)]
    pub grace: Option<Span>,
}

fn machine() -> String {
    "cx33".to_owned()
}

fn location() -> String {
    "fsn1".to_owned()
}

/// A node that no pool owns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixedNode {
    /// Its name.
    #[schemars(extend("format" = "name", "pattern" = written::NAME))]
    pub name: String,
    /// Processors for pods: `500m` or `2`.
    #[serde(rename = "cpu", with = "written::cpu")]
    #[schemars(with = "written::Cpu")]
    pub cpu_milli: u64,
    /// Memory for pods: `512Mi` or `2Gi`.
    #[serde(rename = "memory", with = "written::memory")]
    #[schemars(with = "written::Memory")]
    pub memory_mib: u64,
    /// Its labels.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Its taints.
    #[serde(default)]
    pub taints: Vec<Taint>,
    /// Its provider id, if it has one of its own.
    #[serde(default)]
    pub provider_id: Option<String>,
}

/// Pods that belong together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Its name, and that of its controller.
    #[schemars(extend("format" = "name", "pattern" = written::NAME))]
    pub name: String,
    /// What owns the pods.
    #[serde(default)]
    pub kind: WorkloadKind,
    /// How many pods.
    #[serde(default = "one")]
    pub pods: u32,
    /// What each asks for: `500m` or `2` processors.
    #[serde(default, rename = "cpu", with = "written::cpu")]
    #[schemars(with = "written::Cpu")]
    pub cpu_milli: u64,
    /// And memory: `512Mi` or `2Gi`.
    #[serde(default, rename = "memory", with = "written::memory")]
    #[schemars(with = "written::Memory")]
    pub memory_mib: u64,
    /// Where: `default`, if left out.
    #[serde(default = "default_namespace")]
    pub namespace: String,
    /// Nodes with these labels only.
    #[serde(default)]
    pub node_selector: BTreeMap<String, String>,
    /// Taints it does not mind.
    #[serde(default)]
    pub tolerates: Vec<Taint>,
    /// Annotations of each pod.
    #[serde(default)]
    pub annotations: BTreeMap<String, String>,
    /// Volumes of each pod.
    #[serde(default)]
    pub volumes: Vec<VolumeSpec>,
    /// The priority of each pod.
    #[serde(default)]
    pub priority: Option<i32>,
    /// Who finds them a node, if it is not the ordinary scheduler: where nobody has this name, nobody does.
    #[serde(default)]
    pub scheduler: Option<String>,
    /// How pods keep away from each other.
    #[serde(default)]
    pub apart: Option<Apart>,
    /// A disruption budget over them: so many may be away.
    #[serde(default)]
    pub max_unavailable: Option<u32>,
    /// How long a pod takes to end when it is told to.
    #[serde(default)]
    pub ends_in: Option<Span>,
    /// How long a pod is granted to end; 30 s, or as long as it takes, if left out.
    #[serde(default)]
    pub grace: Option<Span>,
    /// Nodes whose labels meet all of these only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub node_affinity: Vec<LabelRequirement>,
    /// How evenly its pods must be spread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<Spread>,
}

/// What a label of a node must be: `{key: zone, operator: In, values: [a, b]}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LabelRequirement {
    /// This label.
    pub key: String,
    /// How it is held against the values.
    #[schemars(extend("enum" = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]))]
    pub operator: String,
    /// These values; none for `Exists` and `DoesNotExist`.
    #[serde(default)]
    pub values: Vec<String>,
}

/// How evenly pods must be spread: `{over: kubernetes.io/hostname, max_skew: 1}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spread {
    /// Over nodes that differ in this label.
    pub over: String,
    /// By so many pods they may differ.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub max_skew: u32,
    /// They would rather be than must be.
    #[serde(default)]
    pub preferred: bool,
}

fn default_namespace() -> String {
    "default".to_owned()
}

/// What owns the pods of a workload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorkloadKind {
    /// A deployment.
    #[default]
    Deployment,
    /// A daemon set.
    DaemonSet,
    /// Nobody.
    Bare,
    /// A job.
    Job,
    /// A stateful set.
    StatefulSet,
}

/// A volume of a pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum VolumeSpec {
    /// Scratch space of this name.
    EmptyDir(String),
    /// Scratch space in memory.
    EmptyDirInMemory(String),
    /// A directory of the node.
    HostPath(String),
}

/// How pods keep away from each other: no two on a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Apart {
    /// They must.
    Required,
    /// They would rather.
    Preferred,
}

/// What is done in a step: `deploy: {…}`, `wait: 10m`, `until: {running: web, at_most: 5m}`.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Step {
    /// Pods are asked for.
    Deploy(Workload),
    /// More or fewer of them.
    Scale {
        /// Of this workload.
        workload: String,
        /// So many.
        pods: u32,
    },
    /// A workload that runs is changed.
    Change(WorkloadEdit),
    /// A workload goes away.
    Remove(String),
    /// Any object of the cluster is made by hand, as `kubectl create` would.
    Create(#[schemars(with = "AnyObject")] serde_json::Value),
    /// Any object of the cluster is deleted by hand.
    Delete(ObjectName),
    /// Time passes.
    Wait(Span),
    /// Something is waited for.
    Until(Until),
    /// Something must be so, and is judged.
    Expect(Expect),
    /// Something begins to hurt.
    Hurt(Hurt),
    /// Something no longer hurts.
    Heal(String),
    /// Something is done to a node by hand.
    Node(ByHand),
    /// Something is done by hand to the machine deployment that is a pool.
    Group(GroupByHand),
    /// Something is done to a pool by hand, where pools are objects: only Karpenter's are.
    Pool(PoolEdit),
    /// Something is done to the cloud by hand, as mock-hetzner writes its deeds.
    Cloud(#[schemars(with = "mock_hetzner::Deed")] serde_json::Value),
    /// Something is done to the subject.
    Subject(SubjectDeed),
}

/// What is changed of a workload that runs: `{workload: web, budget: {max_unavailable: 0}}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkloadEdit {
    /// Of this workload.
    pub workload: String,
    /// It has so many pods.
    #[serde(default)]
    pub pods: Option<u32>,
    /// It has this disruption budget, or none.
    #[serde(default)]
    pub budget: Option<BudgetEdit>,
    /// Its pods that are there get these labels, or lose those without a value. Those that follow are made without.
    #[serde(default)]
    pub labels: BTreeMap<String, Option<String>>,
}

/// A disruption budget: `none`, `{max_unavailable: 1}` or `{min_available: 1}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum BudgetEdit {
    /// There is none.
    None,
    /// So many may be away.
    MaxUnavailable(u32),
    /// So many must be there.
    MinAvailable(u32),
}

/// An object of the cluster: `{kind: ConfigMap, name: cluster-autoscaler-status, namespace: kube-system}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ObjectName {
    /// Its kind, as `kubectl api-resources` lists it.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Its namespace, if its kind has any: `default`, if left out.
    #[serde(default)]
    pub namespace: Option<String>,
}

/// An object as it is written for `kubectl create`.
#[derive(JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
#[expect(dead_code, reason = "it is a schema and no value")]
struct AnyObject {
    /// Its group and version.
    #[serde(rename = "apiVersion")]
    api_version: String,
    /// Its kind.
    kind: String,
    /// Its name, and more.
    metadata: serde_json::Map<String, serde_json::Value>,
}

/// Something is waited for: `{running: web, at_most: 5m}`.
#[derive(Clone, Debug, PartialEq)]
pub struct Until {
    /// What.
    pub condition: Condition,
    /// For so long at most; then the run goes on all the same, and nobody knows what was asked for.
    pub at_most: Span,
    /// It is well if it does not come: the scenario shows that, or is about something else.
    pub may_fail: bool,
}

/// Something begins to hurt: `{never_registers: {pool: small}, name: lost, lasting: 20m}`.
#[derive(Clone, Debug, PartialEq)]
pub struct Hurt {
    /// What it is called, to be healed by: what it is, if nothing else is said.
    pub name: String,
    /// What it is.
    pub fault: FaultSpec,
    /// For so long; otherwise until it is healed, at the latest at the end.
    pub lasting: Option<Span>,
}

/// Something is done to a node by hand: `{pool: small, cordon: true}`.
#[derive(Clone, Debug, PartialEq)]
pub struct ByHand {
    /// What.
    pub deed: NodeDeed,
    /// To one of this pool; the plan draws which.
    pub pool: String,
}

/// Something is done by hand to the machine deployment that is a pool: `{pool: small, roll_out: true}`.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupByHand {
    /// What.
    pub deed: GroupDeed,
    /// To this pool.
    pub pool: String,
}

/// What somebody changes of a pool: `{name: small, weight: 7}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoolEdit {
    /// Of this pool.
    pub name: String,
    /// Its new nodes get this label.
    #[serde(default)]
    pub label: Option<PoolLabel>,
    /// It has this weight.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100))]
    pub weight: Option<i32>,
}

/// A label of nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoolLabel {
    /// Its key.
    pub key: String,
    /// Its value.
    pub value: String,
}

/// What is waited for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Condition {
    /// All pods of a workload run.
    Running(String),
    /// A pod of a workload is unschedulable.
    Unschedulable(String),
    /// All pods of a workload are gone.
    Gone(String),
    /// A pool has so many servers.
    Servers {
        /// This pool.
        pool: String,
        /// So many, exactly.
        count: u32,
    },
    /// A pool has so many nodes that are ready.
    ReadyNodes {
        /// This pool.
        pool: String,
        /// So many, exactly.
        count: u32,
    },
    /// The subject has bought, or tried to buy, in a pool since the scenario began.
    Ordered(String),
    /// The subject has given something back, or tried to, in a pool.
    GivenBack(String),
    /// A fault has hurt somebody.
    Bitten(String),
    /// A fault has hurt so often.
    BittenTimes {
        /// This fault.
        fault: String,
        /// So often at least.
        #[schemars(range(min = 1))]
        times: u32,
    },
    /// All pods of a workload run, and have without a break.
    RunningFor {
        /// Of this workload.
        workload: String,
        /// For so long.
        lasting: Span,
    },
    /// Servers of a pool have a status at the cloud.
    ServerStatus {
        /// Of this pool.
        pool: String,
        /// This status.
        #[schemars(extend("enum" = ["initializing", "starting", "running", "stopping", "off", "deleting", "rebuilding"]))]
        status: String,
        /// So many, exactly; at least one, if left out.
        #[serde(default)]
        count: Option<u32>,
    },
}

/// What somebody does to a node by hand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum NodeDeed {
    /// It takes no new pods.
    Cordon,
    /// It takes them again.
    Uncordon,
    /// It gets a taint.
    Taint(Taint),
    /// The taint of this key is taken off.
    Untaint(String),
    /// It gets an annotation.
    Annotate {
        /// Its key.
        key: String,
        /// Its value; without one it is taken away.
        #[serde(default)]
        value: Option<String>,
    },
    /// The node is deleted, its machine is not.
    Delete,
}

/// What somebody does by hand to the machine deployment that is a pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum GroupDeed {
    /// Its template changes: all its machines are made anew, one after the other.
    RollOut,
    /// So many machines are asked of it.
    Replicas(u32),
    /// Autoscalers are told other bounds.
    Limits {
        /// Not fewer.
        min: u32,
        /// Not more.
        max: u32,
    },
    /// It gets an annotation.
    Annotate {
        /// Its key.
        key: String,
        /// Its value; without one it is taken away.
        #[serde(default)]
        value: Option<String>,
    },
}

/// What is done to the subject.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SubjectDeed {
    /// It is killed, and started again as a kubelet would.
    Kill,
    /// It is told to end, and started again.
    Restart,
    /// It is stopped for a while.
    Pause(Span),
    /// The replica that leads is killed.
    KillLeader,
}
