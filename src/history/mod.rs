//! The history of a run: everything that happened, in order, as one value. All verdicts and reports are functions of it.
//!
//! It is recorded while the run goes on, stored as JSON lines, and asked by checks.
//! It does not judge.

pub mod event;
pub mod file;
pub mod header;
pub mod query;
pub mod recorder;

pub use event::{
    AccountEvent, BillEvent, CallEvent, Change, Event, FaultChange, FaultEvent, LagEvent, LogEvent,
    ObjectEvent, Phase, ServerEvent, StepChange, StepEvent, SubjectChange, SubjectEvent, What,
};
pub use file::HistoryError;
pub use header::{ClusterFacts, Header, MachineFacts, ScenarioFacts, SubjectFacts};
pub use recorder::{Follower, Recorder};

/// A run, from its header to its last event.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    /// What was to happen, to whom, and where.
    pub header: Header,
    /// What did. The index of an event is its number wherever evidence is given.
    pub events: Vec<Event>,
    /// Whether the run came to its end and everything was written down; otherwise why not.
    pub cut_short: Option<String>,
}
