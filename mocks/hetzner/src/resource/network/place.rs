//! Places in networks: finding one, and the actions that fill and empty it.

use std::net::Ipv4Addr;

use crate::action::Undertaking;
use crate::address::{Range, Refusal, Wish};
use crate::call::Wrong;
use crate::project::Project;
use crate::resource::Kind;
use crate::resource::network::{Effect, Membership};

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
    let network = project.networks.get(wanted.network)?;
    let within =
        wanted.range.map(Range::parse).transpose().map_err(|message| Wrong::invalid("ip_range", message))?;
    let wish = Wish { zone: wanted.zone, within, ip: wanted.ip, aliases: wanted.alias_ips };
    let ip = network.space(project).choose(&wish).map_err(refused)?;
    Ok(Membership {
        network: wanted.network,
        ip,
        alias_ips: wanted.alias_ips.to_vec(),
        mac: mac(wanted.network, ip),
        pending: true,
    })
}

/// Refuses other addresses for somebody who is in a network already, if not all of them can be had.
pub(crate) fn aliases_free(
    project: &Project,
    zone: &str,
    membership: &Membership,
    wanted: &[Ipv4Addr],
) -> Result<(), Wrong> {
    let space = project.networks.get(membership.network)?.space(project);
    for (index, ip) in wanted.iter().enumerate() {
        space.check(zone, *ip, &membership.alias_ips).map_err(refused)?;
        if wanted.iter().take(index).any(|other| other == ip) {
            return Err(refused(Refusal::Taken(*ip)));
        }
    }
    Ok(())
}

/// Refuses a network whose range touches that of one in which somebody is already.
pub(crate) fn apart(project: &Project, network: u64, others: &[Membership]) -> Result<(), Wrong> {
    let range = project.networks.get(network)?.plan.range();
    let others = others.iter().filter_map(|other| project.networks.find(other.network));
    if others.into_iter().any(|other| other.head.id != network && other.plan.range().overlaps(range)) {
        return Err(Wrong::new(
            "networks_overlap",
            "network IP range overlaps with another attached network",
        ));
    }
    Ok(())
}

/// The action at whose end a server is in a network.
pub(crate) fn attaching(server: u64, network: u64) -> Undertaking {
    joining(Kind::Server, server, network)
}

/// The action at whose end a server or load balancer is in a network. Its place is reserved before, and free again if the
/// action fails.
pub(crate) fn joining(kind: Kind, id: u64, network: u64) -> Undertaking {
    Undertaking::on("attach_to_network", kind, id).with(Kind::Network, network).effect(Effect::Joined {
        kind,
        id,
        network,
    })
}

/// The action at whose end a server or load balancer is no longer in a network. Until then its address is taken.
pub(crate) fn leaving(kind: Kind, id: u64, network: u64) -> Undertaking {
    Undertaking::on("detach_from_network", kind, id).with(Kind::Network, network).effect(Effect::Left {
        kind,
        id,
        network,
    })
}

fn refused(refusal: Refusal) -> Wrong {
    let code = match refusal {
        Refusal::NoSubnet | Refusal::Full => "no_subnet_available",
        Refusal::Outside(_) | Refusal::Reserved(_) | Refusal::Taken(_) => "ip_not_available",
    };
    Wrong::new(code, refusal.to_string())
}

/// The same place has the same one, and two places in a network have two.
fn mac(network: u64, ip: Ipv4Addr) -> String {
    let ([_, b, c, d], [.., low]) = (ip.octets(), network.to_be_bytes());
    format!("86:00:{low:02x}:{b:02x}:{c:02x}:{d:02x}")
}
