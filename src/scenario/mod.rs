//! A scenario: what is given, what is done, what hurts, and what is expected. Written by people, as YAML.
//!
//! These are the plain values; [`read`] makes them from a file and tells every mistake in it at once, with its place. What
//! a scenario means for one subject and one seed is decided by the plan.

mod fault;

pub use fault::{FaultSpec, Stage};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::code::Code;
use crate::terms::{Period, SubjectOption, Taint, Timer};

/// One file under `suites/`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Its claim, in a sentence.
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

/// What there is when a scenario begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Given {
    /// The pools, by name.
    pub pools: BTreeMap<String, PoolSpec>,
    /// Nodes that no pool owns and no autoscaler may touch; one, if left out, with room for nothing but system pods.
    #[serde(default)]
    pub fixed_nodes: Option<Vec<FixedNode>>,
    /// What the subject is asked to do otherwise than by default: the profile knows how to tell it.
    #[serde(default)]
    pub options: BTreeMap<SubjectOption, String>,
    /// Timers that the subject is given for this scenario instead of those of its profile.
    #[serde(default)]
    pub timers: BTreeMap<Timer, Span>,
    /// How many replicas of the subject run.
    #[serde(default = "one")]
    pub replicas: u32,
    /// Workloads that are there from the beginning.
    #[serde(default)]
    pub workloads: Vec<Workload>,
}

fn one() -> u32 {
    1
}

/// A pool as a scenario gives it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// How many there are when the run begins, as ready nodes.
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
}

fn machine() -> String {
    "cx33".to_owned()
}

fn location() -> String {
    "fsn1".to_owned()
}

/// A node that no pool owns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FixedNode {
    /// Its name.
    pub name: String,
    /// Processors for pods, in thousandths.
    pub cpu_milli: u64,
    /// Memory for pods.
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Its name, and that of its controller.
    pub name: String,
    /// What owns the pods.
    #[serde(default)]
    pub kind: WorkloadKind,
    /// How many pods.
    #[serde(default = "one")]
    pub pods: u32,
    /// What each asks for: thousandths of a processor.
    #[serde(default)]
    pub cpu_milli: u64,
    /// And memory.
    #[serde(default)]
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
    /// How pods keep away from each other.
    #[serde(default)]
    pub apart: Option<Apart>,
    /// A disruption budget over them: so many may be away.
    #[serde(default)]
    pub max_unavailable: Option<u32>,
    /// How long a pod takes to end when it is told to.
    #[serde(default)]
    pub ends_in: Option<Span>,
}

fn default_namespace() -> String {
    "default".to_owned()
}

/// What owns the pods of a workload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Apart {
    /// They must.
    Required,
    /// They would rather.
    Preferred,
}

/// A span of time: written as a duration (`10m`, `90s`, `1h30m`), or against a timer of the subject
/// (`{timer: unneeded_time, times: 2, plus: 30s}`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Span {
    /// Always as long.
    Fixed(Period),
    /// As long as the subject takes.
    Timer {
        /// This timer of it.
        timer: Timer,
        /// So many times.
        times: u32,
        /// And so much more.
        plus: Period,
        /// Or so much less.
        minus: Period,
    },
}

/// What is done in a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
    /// A workload goes away.
    Remove(String),
    /// Time passes.
    Wait(Span),
    /// Something is waited for.
    Until {
        /// What.
        condition: Condition,
        /// For so long at most; then the run goes on all the same, and the checks decide.
        at_most: Span,
    },
    /// Something begins to hurt.
    Hurt {
        /// What it is called, to be healed by.
        name: String,
        /// What it is.
        fault: FaultSpec,
        /// For so long; otherwise until it is healed, at the latest at the end.
        lasting: Option<Span>,
    },
    /// Something no longer hurts.
    Heal(String),
    /// Something is done to a node by hand.
    Node {
        /// What.
        deed: NodeDeed,
        /// To one of this pool; the plan draws which.
        pool: String,
    },
    /// Something is done to the cloud by hand, as mock-hetzner writes its deeds.
    Cloud(serde_json::Value),
    /// Something is done to the subject.
    Subject(SubjectDeed),
}

/// What is waited for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
}

/// What somebody does to a node by hand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeDeed {
    /// It takes no new pods.
    Cordon,
    /// It takes them again.
    Uncordon,
    /// It gets a taint.
    Taint(Taint),
    /// It gets an annotation.
    Annotate {
        /// Its key.
        key: String,
        /// Its value; without one it is taken away.
        value: Option<String>,
    },
    /// The node is deleted, its machine is not.
    Delete,
}

/// What is done to the subject.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
