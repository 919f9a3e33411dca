//! A stateful mock of the Hetzner Cloud API, for clients that can be given another endpoint.
//!
//! [`Engine`] is the whole API as a function: a moment and a request in, a reply out, everything else is state that can
//! be written down. [`Cloud`] is the shell around it: it listens, and tells the engine the time. TLS and broken
//! connections are left to whoever stands before it.

// The shell, and the API as a function.
mod admin;
mod engine;
mod host;

// From a request to an answer.
mod call;
mod resource;

// What a project owns, and what happens in it by itself.
mod action;
mod address;
mod project;
mod trouble;

// What there is to buy, and what was bought.
pub mod catalogue;
pub mod ledger;
mod money;
mod profile;

#[cfg(test)]
mod laws;
#[cfg(test)]
mod rig;

pub use call::{Reply, Request};
pub use catalogue::{Catalogue, CatalogueError};
pub use engine::{Engine, Glance, Snapshot, SnapshotError, Token, drawn_token};
pub use host::{Builder, Cloud, StartError};
pub use money::{Money, MoneyError, VatRate};
pub use profile::Profile;
pub use resource::Kind;
pub use resource::server::Status;
pub use trouble::{
    Calls, Deed, DeedError, Shortage, Spent, Tear, Things, Trouble, TroubleError, TroubleId, TroubleReport,
    What, When, Which,
};

/// The examples of the README are compiled with the others.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
