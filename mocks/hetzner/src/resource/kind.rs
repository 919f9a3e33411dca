//! What kinds of things a project can hold.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A kind of thing with an id of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A virtual machine.
    Server,
    /// A piece of work that takes time.
    Action,
    /// What servers boot from: of the system, a snapshot or a backup.
    Image,
    /// A public key for logging in.
    SshKey,
    /// A private network.
    Network,
    /// Rules for what may pass.
    Firewall,
    /// Servers that shall not share a host.
    PlacementGroup,
    /// A disk over the network.
    Volume,
    /// A public address that a server boots with, or a load balancer is made with.
    PrimaryIp,
    /// A public address that moves between servers.
    FloatingIp,
    /// What spreads connections over servers.
    LoadBalancer,
    /// What a load balancer proves its name with.
    Certificate,
}

impl Kind {
    /// All kinds of things, with the first segment of their paths.
    pub(crate) const PATHS: [(&'static str, Self); 11] = [
        ("servers", Self::Server),
        ("images", Self::Image),
        ("ssh_keys", Self::SshKey),
        ("networks", Self::Network),
        ("firewalls", Self::Firewall),
        ("placement_groups", Self::PlacementGroup),
        ("volumes", Self::Volume),
        ("primary_ips", Self::PrimaryIp),
        ("floating_ips", Self::FloatingIp),
        ("load_balancers", Self::LoadBalancer),
        ("certificates", Self::Certificate),
    ];

    /// The word of the wire.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Action => "action",
            Self::Image => "image",
            Self::SshKey => "ssh_key",
            Self::Network => "network",
            Self::Firewall => "firewall",
            Self::PlacementGroup => "placement_group",
            Self::Volume => "volume",
            Self::PrimaryIp => "primary_ip",
            Self::FloatingIp => "floating_ip",
            Self::LoadBalancer => "load_balancer",
            Self::Certificate => "certificate",
        }
    }

    /// Where its ids begin: far enough apart that an id of one kind is none of another.
    pub(crate) const fn first_id(self) -> u64 {
        match self {
            Self::Server => 100_000_001,
            Self::Action => 600_000_000_001,
            Self::Image => 200_000_001,
            Self::SshKey => 20_000_001,
            Self::Network => 10_000_001,
            Self::Firewall => 2_000_001,
            Self::PlacementGroup => 1_000_001,
            Self::Volume => 102_000_001,
            Self::PrimaryIp => 80_000_001,
            Self::FloatingIp => 70_000_001,
            Self::LoadBalancer => 4_000_001,
            Self::Certificate => 1_500_001,
        }
    }

    /// The kind whose paths begin so.
    pub(crate) fn of_path(segment: &str) -> Option<Self> {
        Self::PATHS.iter().find(|(known, _)| *known == segment).map(|(_, kind)| *kind)
    }

    /// The first segment of its paths.
    pub(crate) fn path(self) -> &'static str {
        Self::PATHS.iter().find(|(_, kind)| *kind == self).map_or("actions", |(segment, _)| segment)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
