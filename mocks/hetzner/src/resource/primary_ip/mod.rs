//! Public addresses that servers boot with: what one is, how servers come by it, and how it changes with time.
//!
//! A server and its addresses know each other. Whoever gives one, gives it on both sides.

mod assign;
mod room;
mod show;
#[cfg(test)]
mod tests;

pub(crate) use room::{ACTIONS, ROUTES};
pub(crate) use show::show_in_server;

use std::net::IpAddr;

use mock_clock::Time;
use serde::{Deserialize, Serialize};

use crate::call::{Call, Wrong};
use crate::project::Project;
use crate::resource::Kind;
use crate::resource::public_ip::{self, Names, Renaming};
use crate::resource::server::Server;
use crate::resource::shelf::{Head, Labels, resource};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PrimaryIp {
    pub(crate) head: Head,
    pub(crate) v4: bool,
    /// The address, or for version 6 the first of its network.
    pub(crate) ip: IpAddr,
    pub(crate) location: String,
    /// The server that has it, or is about to.
    pub(crate) server: Option<u64>,
    /// It goes with its server.
    pub(crate) auto_delete: bool,
    /// Names set for addresses.
    pub(crate) dns_ptr: Names,
}

resource!(PrimaryIp, PrimaryIp);

/// How a primary IP changes by the end of an action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Effect {
    /// The server has it since the request, and has it no more if the action fails.
    Assigned {
        id: u64,
        server: u64,
    },
    Unassigned {
        id: u64,
        server: u64,
    },
    Renamed {
        id: u64,
        renaming: Renaming,
    },
}

impl Effect {
    pub(crate) fn settle(self, project: &mut Project, _now: Time, success: bool) {
        match self {
            Self::Assigned { id, server } if !success => assign::part(project, id, server),
            Self::Unassigned { id, server } if success => assign::part(project, id, server),
            Self::Renamed { id, renaming } if success => {
                if let Some(ip) = project.primary_ips.find_mut(id) {
                    renaming.apply(&mut ip.dns_ptr);
                }
            }
            _ => {}
        }
    }
}

/// The place of a version among what a server has.
fn slot(server: &mut Server, v4: bool) -> &mut Option<u64> {
    if v4 { &mut server.ipv4 } else { &mut server.ipv6 }
}

/// Refuses a primary IP that a server of that location cannot boot with.
pub(crate) fn assignable(project: &Project, id: u64, v4: bool, location: &str) -> Result<(), Wrong> {
    let ip = project.primary_ips.get(id)?;
    if ip.v4 != v4 {
        return Err(Wrong::new("primary_ip_version_mismatch", "the primary IP is of another version"));
    }
    if ip.server.is_some() {
        return Err(Wrong::new("primary_ip_assigned", "the primary IP is already assigned"));
    }
    in_location(ip, location)
}

fn in_location(ip: &PrimaryIp, location: &str) -> Result<(), Wrong> {
    if ip.location != location {
        return Err(Wrong::new("primary_ip_datacenter_mismatch", "the primary IP is in another location"));
    }
    Ok(())
}

/// Gives a server that is being put one that is there.
pub(crate) fn assign(project: &mut Project, id: u64, server: u64) -> Option<u64> {
    project.primary_ips.find_mut(id)?.server = Some(server);
    Some(id)
}

/// Makes one for a server that is being put, which it goes with. None if no address is left.
pub(crate) fn grant(
    project: &mut Project,
    call: &Call<'_>,
    v4: bool,
    location: &str,
    server: u64,
) -> Option<u64> {
    let ip = public_ip::take(project, v4, location).ok()?;
    let mut head = project.primary_ips.head(call.now, String::new(), Labels::new());
    // Somebody may have called his own so.
    let names = (head.id..).map(|number| format!("primary_ip-{number}"));
    head.name = names.into_iter().find(|name| project.primary_ips.named(name).is_none()).unwrap_or_default();
    Some(put(
        project,
        call,
        PrimaryIp {
            head,
            v4,
            ip,
            location: location.to_owned(),
            server: Some(server),
            auto_delete: true,
            dns_ptr: Names::new(),
        },
    ))
}

fn put(project: &mut Project, call: &Call<'_>, ip: PrimaryIp) -> u64 {
    let id = project.primary_ips.put(ip);
    project.opened(call, Kind::PrimaryIp, id);
    id
}

/// A server is gone: what goes with it goes too, the rest is free.
pub(crate) fn release(project: &mut Project, call: &Call<'_>, server: u64) {
    let mut going = Vec::new();
    for ip in project.primary_ips.all_mut().filter(|ip| ip.server == Some(server)) {
        ip.server = None;
        if ip.auto_delete {
            going.push(ip.head.id);
        }
    }
    for id in going {
        remove(project, call, id);
    }
}

/// Takes one away that no server has.
fn remove(project: &mut Project, call: &Call<'_>, id: u64) {
    project.closed(call, Kind::PrimaryIp, id);
    if let Some(ip) = project.primary_ips.take(id) {
        project.pools.give_back(ip.ip);
    }
}
