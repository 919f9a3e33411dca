//! Private networks: their ranges, who is in them with which address, their routes.
//!
//! Who is in a network stands with the servers and load balancers themselves, so that one that goes takes its place with
//! it. Which addresses are taken follows from that and is stored nowhere. Nothing is routed.

mod change;
mod draft;
mod effect;
mod member;
mod place;
mod room;
mod show;

pub(crate) use effect::Effect;
pub(crate) use place::{Wanted, aliases_free, apart, attaching, joining, leaving, place};
pub(crate) use room::{ACTIONS, ROUTES};

#[cfg(test)]
mod member_tests;
#[cfg(test)]
mod tests;

use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};

use crate::address::{PrivateSpace, Range, SubnetKind};
use crate::project::Project;
use crate::resource::Kind;
use crate::resource::shelf::{Head, Resource, resource};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Network {
    pub(crate) head: Head,
    /// Its range and subnets. No address is taken in it: see [`Network::space`].
    plan: PrivateSpace,
    routes: Vec<Route>,
    /// Its routes hold for the vSwitch, too.
    exposes_routes: bool,
}

resource!(Network, Network);

/// Where packets for a destination go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Route {
    destination: Range,
    gateway: Ipv4Addr,
}

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

impl Network {
    /// The address space, with the addresses of all who are in the network.
    fn space(&self, project: &Project) -> PrivateSpace {
        let mut space = self.plan.clone();
        for (_, _, membership) in members(project, self.head.id) {
            space.take(membership.ip);
            for alias in &membership.alias_ips {
                space.take(*alias);
            }
        }
        space
    }

    /// Whether it has a subnet that leads to dedicated servers, and the address is in it.
    pub(crate) fn couples(&self, ip: Option<Ipv4Addr>) -> bool {
        coupled(&self.plan, ip)
    }
}

fn coupled(plan: &PrivateSpace, ip: Option<Ipv4Addr>) -> bool {
    let mut coupled = plan.subnets().iter().filter(|subnet| subnet.kind == SubnetKind::Vswitch);
    coupled.any(|subnet| ip.is_none_or(|ip| subnet.range.holds(ip)))
}

/// All who are in a network or are about to be: servers first, each kind by ascending id.
fn members(project: &Project, network: u64) -> impl Iterator<Item = (Kind, u64, &Membership)> {
    let servers = project.servers.all().map(|it| (Kind::Server, it.head().id, &it.networks));
    let balancers = project.load_balancers.all().map(|it| (Kind::LoadBalancer, it.head().id, &it.networks));
    servers.chain(balancers).flat_map(move |(kind, id, networks)| {
        networks.iter().filter(move |it| it.network == network).map(move |it| (kind, id, it))
    })
}

/// The places of somebody who can be in networks.
fn places_of(project: &mut Project, kind: Kind, id: u64) -> Option<&mut Vec<Membership>> {
    match kind {
        Kind::Server => Some(&mut project.servers.find_mut(id)?.networks),
        Kind::LoadBalancer => Some(&mut project.load_balancers.find_mut(id)?.networks),
        _ => None,
    }
}
