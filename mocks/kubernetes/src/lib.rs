//! A Kubernetes control plane in one process: API server, scheduler and controller manager.
//!
//! What a real control plane holds and nothing else: kubelets, clouds and Cluster API come through the wire.

mod admit;
mod api;
mod birth;
mod chance;
mod control;
mod control_plane;
mod custom;
mod listen;
#[doc(hidden)]
pub mod parts;
mod patch;
mod present;
mod protobuf;
mod quantity;
mod registry;
mod schedule;
mod schema;
mod selector;
mod serve;
mod status;
mod store;

pub use control_plane::{Builder, ControlPlane, StartError};

/// The examples of the README are compiled with the others.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
