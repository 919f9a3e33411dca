//! A small node autoscaler: correct by cluster-autoscaler's documents, readable, and wrong on demand.
//!
//! It is a subject like any other: a process of its own that speaks to a Kubernetes API server, and to the Hetzner Cloud
//! API or to Cluster API, over the wire, takes cluster-autoscaler's arguments, and keeps its timers. A [`defect`] makes it break one
//! promise, so that the check of that promise can be seen to convict.
//!
//! ```text
//!   watches, cloud ─▶ View ─▶ decide (with Memory, Settings) ─▶ Decision ─▶ act
//! ```
//!
//! `view`, `memory`, `simulate` and `decide` are pure: no API, no clock, no draws but those of a seed. `kubernetes`,
//! `hetzner` and `cluster_api` are the shells for the APIs, and `market` is the one of the latter two that is bought from; `act` carries out what was decided; `run` is the loop.
//!
//! It does not balance similar groups, provision volumes or weigh preferences.

// What it was told.
mod defect;
mod quantity;
mod settings;

// The pure core.
mod decide;
mod memory;
mod simulate;
mod view;

// The shells, and what joins them.
mod act;
mod cluster_api;
mod health;
mod hetzner;
mod karpenter;
mod kubernetes;
mod leader;
mod market;
mod program;
mod run;

pub use defect::names as defects;
pub use program::main;

/// The examples of the README are compiled with the others.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
