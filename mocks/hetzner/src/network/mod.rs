//! Private networks: their ranges, who is in them with which address, their routes.

use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};

use crate::action::Undertaking;
use crate::kind::Kind;
use crate::project::Project;
use crate::shelf::{Head, resource};
use crate::wrong::Wrong;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Network {
    pub(crate) head: Head,
}

resource!(Network, Network);

/// Somebody's place in a network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Membership {
    pub(crate) network: u64,
    pub(crate) ip: Ipv4Addr,
    pub(crate) alias_ips: Vec<Ipv4Addr>,
    pub(crate) mac: String,
    /// Reserved only, as long as the action that attaches it runs.
    pub(crate) pending: bool,
}

/// The place that somebody wants in a network.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wanted<'a> {
    pub(crate) network: u64,
    /// The network zone of who wants it.
    pub(crate) zone: &'a str,
    /// This address and no other.
    pub(crate) ip: Option<Ipv4Addr>,
    /// An address out of the subnet of this range.
    pub(crate) range: Option<&'a str>,
    pub(crate) alias_ips: &'a [Ipv4Addr],
}

/// Finds a place in a network, or says why there is none. It is taken by putting it among somebody's networks.
pub(crate) fn place(project: &Project, wanted: &Wanted<'_>) -> Result<Membership, Wrong> {
    project.networks.get(wanted.network)?;
    Err(Wrong::new("no_subnet_available", "no subnet available"))
}

/// The action at whose end a server is in a network.
pub(crate) fn attaching(server: u64, network: u64) -> Undertaking {
    Undertaking::on("attach_to_network", Kind::Server, server).with(Kind::Network, network)
}
