//! What spreads connections over servers. No connection is made: whether a target is healthy follows from what its server
//! does.

#[cfg(test)]
mod address_tests;
mod change;
mod create;
mod effect;
mod interface;
mod reading;
mod room;
mod service;
mod show;
mod target;
#[cfg(test)]
mod tests;

pub(crate) use effect::Effect;
pub(crate) use room::{ACTIONS, ROUTES};

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv6Addr};

use serde::{Deserialize, Serialize};

use self::service::Service;
use self::target::{Reach, Target};
use crate::call::{Wrong, word};
use crate::catalogue::LoadBalancerType;
use crate::project::Project;
use crate::resource::network::Membership;
use crate::resource::primary_ip::PrimaryIp;
use crate::resource::shelf::{Head, resource};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LoadBalancer {
    pub(crate) head: Head,
    /// Names in the catalogue.
    pub(crate) balancer_type: String,
    pub(crate) location: String,
    algorithm: Algorithm,
    services: Vec<Service>,
    targets: Vec<Target>,
    /// One at most.
    pub(crate) networks: Vec<Membership>,
    /// Its public interface is on.
    public: bool,
    /// Primary IPs, which it has from its beginning to its end.
    pub(crate) ipv4: u64,
    pub(crate) ipv6: u64,
}

resource!(LoadBalancer, LoadBalancer);

/// How a target is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Algorithm {
    RoundRobin,
    LeastConnections,
}

impl Algorithm {
    const WORDS: [(&str, Self); 2] =
        [("round_robin", Self::RoundRobin), ("least_connections", Self::LeastConnections)];

    fn word(self) -> &'static str {
        word(&Self::WORDS, self)
    }
}

/// Where a balancer answers: of version 6 the second address of the network.
fn address(ip: &PrimaryIp) -> IpAddr {
    match ip.ip {
        IpAddr::V4(_) => ip.ip,
        IpAddr::V6(first) => Ipv6Addr::from_bits(first.to_bits() | 1).into(),
    }
}

impl LoadBalancer {
    /// Whether a server is among its targets, by its id.
    pub(crate) fn targets_server(&self, server: u64) -> bool {
        self.targets.iter().any(|target| target.server() == Some(server))
    }

    /// Whether it reaches a server over the internet, by its id.
    pub(crate) fn targets_publicly(&self, server: u64) -> bool {
        self.targets.iter().any(|target| target.is_public() && target.server() == Some(server))
    }

    /// Its targets that are servers, by their ids.
    pub(crate) fn servers(&self) -> impl Iterator<Item = u64> {
        self.targets.iter().filter_map(Target::server)
    }

    /// What its services prove their names with.
    pub(crate) fn certificates(&self) -> impl Iterator<Item = u64> {
        self.services.iter().flat_map(Service::certificates).copied()
    }

    /// Whether a service proves its name with a certificate.
    pub(crate) fn uses_certificate(&self, certificate: u64) -> bool {
        self.services.iter().any(|service| service.certificates().contains(&certificate))
    }

    /// It has left its network: what it reached through that is out of reach.
    pub(crate) fn forget_private_targets(&mut self) {
        self.targets.retain(Target::is_public);
    }

    /// A server is gone.
    pub(crate) fn forget(&mut self, server: u64) {
        self.targets.retain(|target| target.server() != Some(server));
    }

    fn reach(&self) -> Reach {
        Reach { network: self.networks.first().map(|it| it.network), public: self.public }
    }
}

/// How much a balancer carries, against what its type lets it.
struct Load<'a> {
    services: &'a [Service],
    targets: &'a [Target],
}

impl Load<'_> {
    /// What is more than the type lets: the limit's name and a sentence.
    fn excess(&self, balancer_type: &LoadBalancerType) -> Option<(&'static str, String)> {
        let certificates: BTreeSet<u64> =
            self.services.iter().flat_map(Service::certificates).copied().collect();
        [
            ("load_balancer_services", self.services.len(), balancer_type.max_services, "services"),
            ("load_balancer_targets", self.targets.len(), balancer_type.max_targets, "targets"),
            (
                "load_balancer_certificates",
                certificates.len(),
                balancer_type.max_assigned_certificates,
                "certificates",
            ),
        ]
        .into_iter()
        .find(|(_, there, most, _)| *there as u64 > *most)
        .map(|(limit, _, most, what)| {
            (limit, format!("{} carries {most} {what} at most", balancer_type.name))
        })
    }

    /// Refuses more than the type lets.
    fn fits(&self, balancer_type: &LoadBalancerType) -> Result<(), Wrong> {
        match self.excess(balancer_type) {
            Some((limit, message)) => Err(Wrong::limit_exceeded(limit, message)),
            None => Ok(()),
        }
    }
}

/// The type of a balancer. It is in the catalogue: nothing leaves that while it is in use.
fn type_of<'a>(project: &'a Project, balancer: &LoadBalancer) -> Result<&'a LoadBalancerType, Wrong> {
    let found = project.catalogue.load_balancer_type(&balancer.balancer_type);
    found.ok_or_else(|| Wrong::new("invalid_load_balancer_type", "the type is no longer known"))
}
