//! Public addresses that servers boot with.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::call::Call;
use crate::project::Project;
use crate::shelf::{Head, resource};
use crate::wrong::Wrong;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PrimaryIp {
    pub(crate) head: Head,
    pub(crate) v4: bool,
    /// The address, or for version 6 the first of its network.
    pub(crate) ip: IpAddr,
    pub(crate) location: String,
    /// The server that has it.
    pub(crate) server: Option<u64>,
    /// It goes with its server.
    pub(crate) auto_delete: bool,
    /// Names set for addresses.
    pub(crate) dns_ptr: BTreeMap<IpAddr, String>,
}

resource!(PrimaryIp, PrimaryIp);

/// Refuses a primary IP that a server of that location cannot boot with.
pub(crate) fn assignable(project: &Project, id: u64, v4: bool, location: &str) -> Result<(), Wrong> {
    let ip = project.primary_ips.get(id)?;
    if ip.v4 != v4 {
        return Err(Wrong::new("primary_ip_version_mismatch", "the primary IP is of another version"));
    }
    if ip.server.is_some() {
        return Err(Wrong::new("primary_ip_assigned", "the primary IP is already assigned"));
    }
    if ip.location != location {
        return Err(Wrong::new("primary_ip_datacenter_mismatch", "the primary IP is in another location"));
    }
    Ok(())
}

/// Refuses if no address is left in a location.
pub(crate) fn available(_project: &Project, _location: &str, _v4: bool) -> Result<(), Wrong> {
    Ok(())
}

/// Gives a server one that is there.
pub(crate) fn assign(project: &mut Project, id: u64, server: u64) -> Option<u64> {
    project.primary_ips.find_mut(id)?.server = Some(server);
    Some(id)
}

/// Makes one for a new server, which it goes with.
pub(crate) fn grant(
    _project: &mut Project,
    _call: &Call<'_>,
    _v4: bool,
    _location: &str,
    _server: u64,
) -> Option<u64> {
    None
}

/// A server is gone: what was made with it goes too, the rest is free.
pub(crate) fn release(project: &mut Project, _call: &Call<'_>, server: u64) {
    for ip in project.primary_ips.all_mut().filter(|ip| ip.server == Some(server)) {
        ip.server = None;
    }
}

/// As a server shows its own.
pub(crate) fn show_in_server(ip: &PrimaryIp) -> Value {
    json!({"id": ip.head.id})
}
