//! scaleproof: chaos and conformance tests for Kubernetes node autoscalers.
//!
//! ```text
//! suites/*.yaml ─▶ Scenario ─▶ Plan ─▶ (run) ─▶ History ─▶ Verdicts ─▶ Report
//!    author         parse      decide    happen    record      judge      tell
//! ```
//!
//! Every arrowhead is a plain value that prints, stores and compares; only `run` has effects. The modules below
//! follow the arrow. Those that do not stand here yet have their place in `docs/architecture.md`, which also says
//! who may use whom.

pub mod scenario;
pub mod subject;
// Those three decide what will happen; then it happens, and is recorded and judged.
pub mod plan;

pub mod cloud;
pub mod cluster;
pub mod door;
pub mod fault;
pub mod run;
pub mod watch;
pub mod world;

pub mod history;

// What a scenario expects is asked of events, while they happen and afterwards.
pub mod matter;

pub mod check;

pub mod report;

pub mod cli;

pub mod code;
pub mod document;
pub mod exit;
pub mod terms;
