//! One thing that happened.

use std::collections::BTreeMap;

use mock_clock::Time;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::code::Code;
use crate::terms::Api;

/// One line of a history after the first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// When, in virtual time.
    pub at: Time,
    /// Real microseconds since the run began: only for looking into the harness itself.
    pub real_us: u64,
    /// What.
    pub what: What,
}

impl Event {
    /// Whether a step begins with it.
    pub fn begins(&self, step: usize) -> bool {
        matches!(&self.what, What::Step(told) if told.step == step && told.change == StepChange::Begun)
    }
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// The run enters a phase.
    Phase(Phase),
    /// A step of the plan.
    Step(StepEvent),
    /// An object of the cluster has changed: seen by the recorder's own watches, whoever changed it.
    Object(ObjectEvent),
    /// A server of the cloud has changed.
    Server(ServerEvent),
    /// The subject has called an API.
    Call(CallEvent),
    /// A fault.
    Fault(FaultEvent),
    /// The subject's processes.
    Subject(SubjectEvent),
    /// A line that the subject has written.
    Log(LogEvent),
    /// The harness itself was late.
    Lag(LagEvent),
    /// What the servers have cost so far, where the scenario expects something of that.
    Bill(BillEvent),
    /// What was left at the end.
    Account(AccountEvent),
    /// The subject never came to a steady state, for this reason, and no step was done.
    Unsteady(String),
    /// The harness could not do or see something: whatever depends on it is unknown.
    Trouble(String),
    /// The last one: the run has come to its end.
    End,
}

/// The phases of a run, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Cluster, cloud, world and subject are started.
    Prepare,
    /// A steady state is awaited.
    Settle,
    /// The steps of the plan.
    Act,
    /// What still hurts is healed.
    Heal,
    /// Whatever must become good again has its time.
    Converge,
    /// Everything is counted, and ended.
    Account,
}

/// A step of the plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepEvent {
    /// Its number in the plan.
    pub step: usize,
    /// In words.
    pub says: String,
    /// What became of it.
    pub change: StepChange,
    /// It is well if what it waits for does not come.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_fail: bool,
}

/// What became of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepChange {
    /// It has begun.
    Begun,
    /// It is done, or what it waited for has come.
    Done,
    /// What it waited for has not come in its time; what was there instead.
    Overdue(String),
}

/// How a thing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It is there now.
    Added,
    /// It is different now.
    Modified,
    /// It is gone.
    Deleted,
}

/// An object of the cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObjectEvent {
    /// How it changed.
    pub change: Change,
    /// Its kind, such as `Pod`.
    pub kind: String,
    /// Its namespace; empty if it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The whole object without its managed fields; when it is gone, as it was last.
    pub object: Value,
}

/// A server of the cloud.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerEvent {
    /// How it changed.
    pub change: Change,
    /// Its id.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// Its status, as the API tells it.
    pub status: String,
    /// Its type, such as `cx33`.
    pub machine: String,
    /// Where it is.
    pub location: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Who bought it: a replica of the subject, or somebody by hand.
    pub by: String,
}

/// A call that came to the door, told when it was over. A watch is told when it is opened and when it ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallEvent {
    /// Which replica of the subject.
    pub replica: u32,
    /// Which API.
    pub to: Api,
    /// When it came.
    pub began: Time,
    /// The method.
    pub method: String,
    /// The path, without the query.
    pub path: String,
    /// The query, if there is one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub query: String,
    /// What the caller says it is.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub agent: String,
    /// The body, if it is JSON, with secrets masked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Value>,
    /// The status of the answer that the caller got; 0 if it got none.
    pub status: u16,
    /// The answer's body, if it is JSON and not a list or a stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Value>,
    /// How many bytes came, and went.
    pub bytes: (u64, u64),
    /// A watch or another stream that has only been opened now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub open: bool,
    /// The fault that decided its fate, by the name the scenario gives it; it may have been done all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fate: Option<String>,
    /// Whether the API behind the door was asked at all.
    pub done: bool,
}

/// A fault.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FaultEvent {
    /// Its code in the catalogue.
    pub code: Code,
    /// The name that the scenario gives it.
    pub name: String,
    /// What became of it.
    pub change: FaultChange,
}

/// What became of a fault.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultChange {
    /// It is there from now on; in words.
    Injected(String),
    /// It has hurt somebody for the first time: whom.
    Bit(String),
    /// It is gone; how often it has hurt, as far as that can be counted.
    Healed(u64),
}

/// A process of the subject.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubjectEvent {
    /// Which replica.
    pub replica: u32,
    /// What became of it.
    pub change: SubjectChange,
}

/// What became of a process of the subject.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubjectChange {
    /// Each time it is started, it is started so; secrets are masked.
    Prepared {
        /// The program and its arguments.
        command: Vec<String>,
        /// Its environment, which is all it has.
        environment: BTreeMap<String, String>,
    },
    /// It was started; its process id, and the host name it was given.
    Started {
        /// Its process id.
        pid: u32,
        /// Its host name.
        host: String,
    },
    /// It has ended: with a code, or by a signal.
    Exited {
        /// Its exit code, if it had one.
        code: Option<i32>,
        /// The signal that killed it.
        signal: Option<i32>,
    },
    /// The harness has killed it, as the plan says.
    Killed,
    /// It has given so many bad answers when it was asked for its health, one after the other: it is told to end, as a
    /// kubelet would, and killed when it does not.
    Unwell {
        /// So many.
        failures: u32,
    },
    /// The harness has stopped it.
    Paused,
    /// The harness has let it go on.
    Resumed,
    /// What was said at its entrance of the door is no TLS, or does not trust the certificate there. Told once for each entrance.
    Misspoke {
        /// What is wrong with it.
        why: String,
    },
    /// Its health endpoint answers otherwise than before.
    Health {
        /// The status it answers with; 0 is no answer.
        status: u16,
    },
}

/// A line that the subject has written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogEvent {
    /// Which replica.
    pub replica: u32,
    /// The line, with secrets masked.
    pub line: String,
}

/// How late the harness itself was so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LagEvent {
    /// The latest that one of its own timers was, in virtual microseconds.
    pub late_us: u64,
    /// The longest that one of its threads waited for a processor, in real microseconds.
    pub starved_us: u64,
}

/// What the servers have cost so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BillEvent {
    /// In thousandths of a euro.
    pub cost_millis: u64,
}

/// What was there at the end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AccountEvent {
    /// Servers that still exist, by pool; those of no pool under an empty name.
    pub servers: BTreeMap<String, u32>,
    /// Nodes by pool, in the same way.
    pub nodes: BTreeMap<String, u32>,
    /// Pods that are pending.
    pub pending_pods: u32,
    /// Leases of nodes that are gone.
    pub stray_leases: u32,
    /// What the servers have cost, in thousandths of a euro.
    pub cost_millis: u64,
    /// Faults that were healed without ever having hurt.
    pub never_bit: Vec<String>,
}
