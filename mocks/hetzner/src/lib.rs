//! A stateful mock of the Hetzner Cloud API, for clients that can be given another endpoint.
//!
//! [`Engine`] is the whole API as a function: a moment and a request in, a reply out, everything else is state that can
//! be written down. [`Cloud`] is the shell around it: it listens, and tells the engine the time. TLS and broken
//! connections are left to whoever stands before it.

mod action;
mod address;
mod admin;
mod books;
mod call;
pub mod catalogue;
mod certificate;
mod chance;
mod engine;
mod firewall;
mod floating_ip;
mod host;
mod image;
mod kind;
mod labels;
#[cfg(test)]
mod laws;
pub mod ledger;
mod limit;
mod load_balancer;
mod money;
mod network;
mod offer;
mod placement_group;
mod primary_ip;
mod profile;
mod project;
mod public_ip;
mod quota;
#[cfg(test)]
mod rig;
mod routes;
mod selector;
mod server;
mod shelf;
mod show;
mod snapshot;
mod ssh_key;
mod timeline;
mod trouble;
mod upkeep;
mod volume;
mod wrong;

pub use call::{Reply, Request};
pub use catalogue::{Catalogue, CatalogueError};
pub use engine::{Engine, Token, drawn_token};
pub use host::{Builder, Cloud, StartError};
pub use kind::Kind;
pub use money::{Money, MoneyError, VatRate};
pub use profile::Profile;
pub use server::Status;
pub use snapshot::{Snapshot, SnapshotError};
pub use trouble::{
    Calls, Deed, DeedError, Shortage, Spent, Tear, Things, Trouble, TroubleError, TroubleId, TroubleReport,
    What, When, Which,
};

/// The examples of the README are compiled with the others.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
