//! The plan of a run: what will happen, to whom, and when at the latest. A pure function of scenario, profile and seed.
//!
//! Spans against timers have become durations, and whatever was to be drawn has been drawn. It does nothing itself.

mod draw;
mod error;
#[cfg(test)]
mod laws;
mod make;
mod resolve;
mod schedule;
mod words;

pub use draw::Draw;
pub use error::PlanError;
pub use make::make;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

// A plan speaks in the words of its scenario, and whoever does what it says reads them here.
pub use crate::scenario::{
    Apart, BudgetEdit, CallMatch, Condition, Edit, EditedBy, Expect, FateSpec, FaultSpec, FixedNode,
    GroupDeed, LabelRequirement, Matter, NodeDeed, ObjectName, PoolEdit, Span, Spread, SubjectDeed,
    SubjectSpec, VolumeSpec, When, Workload, WorkloadEdit, WorkloadKind,
};
use crate::terms::{Period, Pool, SubjectOption, Timers};

/// Everything that a run will do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// What everything was drawn from.
    pub seed: u64,
    /// The pools, with what their nodes have room for.
    pub pools: Vec<Pool>,
    /// Nodes of nobody.
    pub fixed_nodes: Vec<FixedNode>,
    /// What runs from the beginning.
    pub workloads: Vec<Workload>,
    /// What the subject is asked to do otherwise than by default.
    pub options: BTreeMap<SubjectOption, String>,
    /// What the subject is told beside what its profile says.
    #[serde(default)]
    pub subject: SubjectSpec,
    /// The timers of the subject as it is started.
    pub timers: Timers,
    /// How many replicas.
    pub replicas: u32,
    /// One after the other.
    pub steps: Vec<Planned>,
    /// How long things may take to become good again at the end.
    pub converge: Period,
    /// After so long the run is ended whatever happens.
    pub longest: Period,
}

/// A step of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Planned {
    /// In words, as the history tells it.
    pub says: String,
    /// What is done.
    pub act: Act,
    /// For what is drawn within it.
    pub seed: u64,
}

/// What is done in a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Act {
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
    /// Any object is made by hand.
    Create(serde_json::Value),
    /// Any object is deleted by hand.
    Delete(ObjectName),
    /// Time passes.
    Wait(Period),
    /// Something is waited for.
    Until {
        /// What.
        condition: Condition,
        /// For so long at most.
        at_most: Period,
        /// It is well if it does not come.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        may_fail: bool,
    },
    /// Something must be so; its time is a duration.
    Expect(Expect),
    /// Something begins to hurt.
    Hurt {
        /// What it is called.
        name: String,
        /// What it is; its spans are durations.
        fault: FaultSpec,
        /// For so long.
        lasting: Option<Period>,
    },
    /// Something no longer hurts.
    Heal(String),
    /// Something is done to a node by hand.
    Node {
        /// What.
        deed: NodeDeed,
        /// To one of this pool.
        pool: String,
    },
    /// Something is done by hand to the machine deployment that is a pool.
    Group {
        /// What.
        deed: GroupDeed,
        /// To this pool.
        pool: String,
    },
    /// Something is done to a pool by hand.
    Pool(PoolEdit),
    /// Something is done to the cloud by hand.
    Cloud(serde_json::Value),
    /// Something is done to the subject.
    Subject(SubjectDeed),
}
