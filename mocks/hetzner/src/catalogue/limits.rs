//! How much of everything a project may have.

use serde::Serialize;

use super::field::Field;

/// A limit may be zero: nothing of it is allowed.
const LIMIT: std::ops::RangeInclusive<u64> = 0..=1_000_000;

/// The quotas of a project, which the API applies and does not tell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "each is how many of what it is called a project may have")]
pub struct Limits {
    pub servers: u64,
    /// Virtual processors of all servers, shared and dedicated.
    pub cores: u64,
    pub primary_ips: u64,
    pub floating_ips: u64,
    pub volumes: u64,
    pub networks: u64,
    pub firewalls: u64,
    pub load_balancers: u64,
    pub certificates: u64,
    pub placement_groups: u64,
    pub snapshots: u64,
    pub ssh_keys: u64,
}

/// The map `limits`.
pub(super) fn read(whole: Field<'_>) -> Option<Limits> {
    let fields = whole.fields()?;
    let limit = |name| fields.integer(name, LIMIT);
    // All are asked for before the first that is missing ends it.
    let [servers, cores, primary_ips, floating_ips, volumes, networks] =
        ["servers", "cores", "primary_ips", "floating_ips", "volumes", "networks"].map(limit);
    let [firewalls, load_balancers, certificates, placement_groups, snapshots, ssh_keys] =
        ["firewalls", "load_balancers", "certificates", "placement_groups", "snapshots", "ssh_keys"]
            .map(limit);
    fields.done();
    Some(Limits {
        servers: servers?,
        cores: cores?,
        primary_ips: primary_ips?,
        floating_ips: floating_ips?,
        volumes: volumes?,
        networks: networks?,
        firewalls: firewalls?,
        load_balancers: load_balancers?,
        certificates: certificates?,
        placement_groups: placement_groups?,
        snapshots: snapshots?,
        ssh_keys: ssh_keys?,
    })
}
