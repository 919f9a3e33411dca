//! Machines, and what they go through until pods run on them: what the cloud gives, and the world makes nodes of.
//!
//! Plain values; where a machine was bought does not matter.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Room, Taint};

/// What a machine goes through until pods run on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// It boots.
    Boot,
    /// The node is there.
    Register,
    /// It has its provider id, and may be used.
    ProviderId,
    /// The network plugin works.
    Network,
    /// CSI drivers are known.
    CsiNode,
    /// It is ready.
    Ready,
    /// A pod's images are pulled.
    Pull,
    /// A pod is running.
    Start,
}

impl Stage {
    /// All of them, in their order.
    pub const ALL: [Stage; 8] = [
        Stage::Boot,
        Stage::Register,
        Stage::ProviderId,
        Stage::Network,
        Stage::CsiNode,
        Stage::Ready,
        Stage::Pull,
        Stage::Start,
    ];
}

/// A machine that somebody has bought.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Its id at the cloud.
    pub id: u64,
    /// Its name, which its node will have, too.
    pub name: String,
    /// What it is, by the cloud's name.
    pub machine: String,
    /// Where it is.
    pub location: String,
    /// Where there, as nodes tell it.
    pub zone: String,
    /// `amd64` or `arm64`.
    pub architecture: String,
    /// Its address.
    pub address: String,
    /// Whose it is, if anybody's.
    pub pool: Option<String>,
    /// Labels that its kubelet is given.
    pub labels: BTreeMap<String, String>,
    /// Taints that its kubelet is given.
    pub taints: Vec<Taint>,
    /// What it has room for.
    pub room: Room,
    /// Whether it is on.
    pub running: bool,
}

/// What becomes of machines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MachineEvent {
    /// It is there, and it is like this.
    Exists(Box<Machine>),
    /// The one with this id is gone.
    Gone(u64),
}
