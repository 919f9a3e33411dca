//! A small node autoscaler: correct by cluster-autoscaler's documents, readable, and wrong on demand.
//!
//! It is a subject like any other: a process of its own that speaks to a Kubernetes API server and to the Hetzner Cloud
//! API over the wire, takes cluster-autoscaler's arguments, and keeps its timers. A [`defect`] makes it break one
//! promise, so that the check of that promise can be seen to convict.
//!
//! ```text
//!   watches, cloud ─▶ View ─▶ decide (with Memory, Settings) ─▶ Decision ─▶ act
//! ```
//!
//! `view`, `memory`, `simulate` and `decide` are pure: no API, no clock, no draws but those of a seed. `kubernetes` and
//! `hetzner` are the shells for the two APIs; `act` carries out what was decided; `run` is the loop.
//!
//! It does not balance similar groups, provision volumes, know topology spread or weigh preferences.

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
mod health;
mod hetzner;
mod kubernetes;
mod leader;
mod program;
mod run;

pub use program::main;
