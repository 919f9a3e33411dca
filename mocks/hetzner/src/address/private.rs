//! The addresses of one private network: its range, its subnets, and which addresses are taken.
//!
//! A network keeps one of these and answers from it. Asking ([`PrivateSpace::choose`], [`PrivateSpace::check`]) changes
//! nothing, so that a request can be refused as a whole; taking comes after. Who has an address is not known here.
//!
//! Never given out: the network and broadcast address of a subnet, the first host address of the whole network
//! (its gateway), the first host address of a vSwitch subnet (its gateway), and 172.31.1.1, the gateway of public
//! interfaces. The first host address of any other cloud subnet is an address like others.

use std::collections::BTreeSet;
use std::fmt;
use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};

use super::Range;

const PUBLIC_GATEWAY: Ipv4Addr = Ipv4Addr::new(172, 31, 1, 1);
/// The longest netmask of a network, and that of a subnet for which no range was asked.
const NETWORK_PREFIX_MAX: u8 = 24;
/// The longest netmask of a subnet.
const SUBNET_PREFIX_MAX: u8 = 30;

/// The address space of a private network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PrivateSpace {
    range: Range,
    /// In the order in which they were added.
    subnets: Vec<Subnet>,
    taken: BTreeSet<Ipv4Addr>,
}

/// A part of a network in one network zone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Subnet {
    pub(crate) range: Range,
    pub(crate) kind: SubnetKind,
    pub(crate) zone: String,
    pub(crate) vswitch: Option<i64>,
}

/// What a subnet couples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SubnetKind {
    Cloud,
    /// The old name of `Cloud`.
    Server,
    /// Dedicated servers; those of the cloud get no address here.
    Vswitch,
}

/// What somebody who attaches to the network would like to have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wish<'a> {
    pub(crate) zone: &'a str,
    /// The subnet, if it matters.
    pub(crate) within: Option<Range>,
    /// The address, if it matters.
    pub(crate) ip: Option<Ipv4Addr>,
    pub(crate) aliases: &'a [Ipv4Addr],
}

impl PrivateSpace {
    /// A space without subnets. The error is a sentence about the range.
    pub(crate) fn new(range: Range) -> Result<PrivateSpace, String> {
        if !range.is_private() {
            return Err("must be one of the private IPv4 ranges of RFC1918".to_owned());
        }
        if range.prefix() > NETWORK_PREFIX_MAX {
            return Err(format!("must be a /{NETWORK_PREFIX_MAX} or larger"));
        }
        Ok(PrivateSpace { range, subnets: Vec::new(), taken: BTreeSet::new() })
    }

    /// The range of the whole network.
    pub(crate) fn range(&self) -> Range {
        self.range
    }

    /// All subnets, in the order in which they were added.
    pub(crate) fn subnets(&self) -> &[Subnet] {
        &self.subnets
    }

    /// Through which address those in the subnet reach the rest of the network.
    pub(crate) fn gateway_of(&self, subnet: &Subnet) -> Ipv4Addr {
        match subnet.kind {
            SubnetKind::Cloud | SubnetKind::Server => self.range.gateway(),
            SubnetKind::Vswitch => subnet.range.gateway(),
        }
    }

    /// Makes the network larger: the same first address, a shorter netmask.
    pub(crate) fn extend(&mut self, range: Range) -> Result<(), String> {
        if range.first() != self.range.first() || !range.contains(self.range) {
            return Err(format!("can only be extended at its end: {range} does not extend {}", self.range));
        }
        self.range = PrivateSpace::new(range)?.range;
        Ok(())
    }

    /// The first /24 that touches no subnet and no route.
    pub(crate) fn next_subnet(&self, routes: &[Range]) -> Result<Range, SubnetRefusal> {
        let mut next = Range::around(self.range.first(), NETWORK_PREFIX_MAX);
        while let Some(range) = next.filter(|range| self.range.contains(*range)) {
            if self.in_the_way(range, routes).is_none() {
                return Ok(range);
            }
            next = range.following();
        }
        Err(SubnetRefusal::NoRoom)
    }

    /// Adds a subnet, unless it lies outside or on a subnet or the destination of a route.
    pub(crate) fn add_subnet(&mut self, subnet: Subnet, routes: &[Range]) -> Result<(), SubnetRefusal> {
        if subnet.range.prefix() > SUBNET_PREFIX_MAX {
            return Err(SubnetRefusal::TooSmall);
        }
        if !self.range.contains(subnet.range) {
            return Err(SubnetRefusal::Outside(self.range));
        }
        if let Some(other) = self.in_the_way(subnet.range, routes) {
            return Err(SubnetRefusal::Overlaps(other));
        }
        self.subnets.push(subnet);
        Ok(())
    }

    /// Takes a subnet away, unless an address in it is taken.
    pub(crate) fn remove_subnet(&mut self, range: Range) -> Result<Subnet, SubnetRefusal> {
        let place = self.subnets.iter().position(|subnet| subnet.range == range);
        let place = place.ok_or(SubnetRefusal::Unknown(range))?;
        if self.taken.range(range.first()..=range.last()).next().is_some() {
            return Err(SubnetRefusal::InUse(range));
        }
        Ok(self.subnets.remove(place))
    }

    /// The address that the wish comes to: the one it names, or the lowest that is free. All of the wish can be
    /// had, or it is refused.
    pub(crate) fn choose(&self, wish: &Wish<'_>) -> Result<Ipv4Addr, Refusal> {
        let fits = |subnet: &&Subnet| wish.within.is_none_or(|range| range == subnet.range);
        if !self.open(wish.zone).any(|subnet| fits(&subnet)) {
            return Err(Refusal::NoSubnet);
        }
        for (place, alias) in wish.aliases.iter().enumerate() {
            self.check(wish.zone, *alias, &[])?;
            if wish.ip == Some(*alias) || wish.aliases.iter().skip(place + 1).any(|other| other == alias) {
                return Err(Refusal::Taken(*alias));
            }
        }
        let Some(ip) = wish.ip else {
            let mut open = self.open(wish.zone).filter(fits);
            return open.find_map(|subnet| self.lowest_free(subnet, wish.aliases)).ok_or(Refusal::Full);
        };
        self.check(wish.zone, ip, &[])?;
        if wish.within.is_some_and(|range| !range.holds(ip)) {
            return Err(Refusal::Outside(ip));
        }
        Ok(ip)
    }

    /// Whether somebody in the zone could take this address. Those in `own` are his already and in nobody's way.
    pub(crate) fn check(&self, zone: &str, ip: Ipv4Addr, own: &[Ipv4Addr]) -> Result<(), Refusal> {
        let subnet = self.open(zone).find(|subnet| subnet.range.holds(ip)).ok_or(Refusal::Outside(ip))?;
        if self.is_reserved(subnet, ip) {
            return Err(Refusal::Reserved(ip));
        }
        if self.taken.contains(&ip) && !own.contains(&ip) {
            return Err(Refusal::Taken(ip));
        }
        Ok(())
    }

    /// Takes an address that was chosen. `false` if somebody has it.
    pub(crate) fn take(&mut self, ip: Ipv4Addr) -> bool {
        self.taken.insert(ip)
    }

    /// The subnets in which a server or load balancer of the zone can be.
    fn open(&self, zone: &str) -> impl Iterator<Item = &Subnet> {
        self.subnets.iter().filter(move |subnet| subnet.zone == zone && subnet.kind != SubnetKind::Vswitch)
    }

    fn is_reserved(&self, subnet: &Subnet, ip: Ipv4Addr) -> bool {
        [PUBLIC_GATEWAY, self.gateway_of(subnet), subnet.range.first(), subnet.range.last()].contains(&ip)
    }

    /// Walks along the taken addresses: a full subnet is not looked up address by address.
    fn lowest_free(&self, subnet: &Subnet, aliases: &[Ipv4Addr]) -> Option<Ipv4Addr> {
        let (first, last) = (subnet.range.first(), subnet.range.last());
        let mut taken = self.taken.range(first..=last).peekable();
        (first.to_bits()..=last.to_bits()).map(Ipv4Addr::from_bits).find(|ip| {
            let free = taken.next_if_eq(&ip).is_none();
            free && !self.is_reserved(subnet, *ip) && !aliases.contains(ip)
        })
    }

    /// A subnet or a route's destination that overlaps the range. The default route overlaps everything and is
    /// in nobody's way.
    fn in_the_way(&self, range: Range, routes: &[Range]) -> Option<Range> {
        let routes = routes.iter().copied().filter(|route| *route != Range::ALL);
        self.subnets.iter().map(|subnet| subnet.range).chain(routes).find(|other| other.overlaps(range))
    }
}

/// Why no address can be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// No subnet in the zone, or not the one that was asked for.
    NoSubnet,
    /// All addresses are taken.
    Full,
    /// In no subnet of the zone, or not in the one that was asked for.
    Outside(Ipv4Addr),
    /// Never given out.
    Reserved(Ipv4Addr),
    /// Somebody has it.
    Taken(Ipv4Addr),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NoSubnet | Refusal::Full => f.write_str("no subnet or IP available"),
            Refusal::Outside(ip) => write!(f, "IP {ip} is not part of an available subnet"),
            Refusal::Reserved(ip) => write!(f, "IP {ip} is reserved"),
            Refusal::Taken(ip) => write!(f, "IP {ip} is not available"),
        }
    }
}

/// Why a subnet is not added or taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SubnetRefusal {
    TooSmall,
    /// Not in this range of the network.
    Outside(Range),
    /// It meets this subnet or route.
    Overlaps(Range),
    /// No /24 is left.
    NoRoom,
    Unknown(Range),
    /// Something is attached to it.
    InUse(Range),
}

impl fmt::Display for SubnetRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SubnetRefusal::TooSmall => write!(f, "must be a /{SUBNET_PREFIX_MAX} or larger"),
            SubnetRefusal::Outside(range) => write!(f, "must be a part of the network's range {range}"),
            SubnetRefusal::Overlaps(range) => write!(f, "overlaps with {range}"),
            SubnetRefusal::NoRoom => f.write_str("no subnet is available in the network's range"),
            SubnetRefusal::Unknown(range) => write!(f, "the network has no subnet {range}"),
            SubnetRefusal::InUse(range) => write!(f, "resources are attached to subnet {range}"),
        }
    }
}

#[cfg(test)]
mod tests;
