//! Public addresses of servers and load balancers: what one is, how they come by it, and how it changes with time.
//!
//! An address and who has it know each other. Whoever gives one, gives it on both sides. A load balancer is made with
//! its addresses and keeps them as long as it is there. Those that are made with it are assumed to be part of its price
//! and to count for no quota; those that were there before go on to cost and to count. Until October 2026 the API did
//! not know that load balancers have primary IPs.

mod assign;
mod room;
mod show;
#[cfg(test)]
mod tests;

pub(crate) use room::{ACTIONS, ROUTES};
pub(crate) use show::{show_in_balancer, show_in_server};

use std::net::IpAddr;

use mock_clock::Time;
use serde::{Deserialize, Serialize};

use crate::call::{Call, Wrong};
use crate::profile::Profile;
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
    pub(crate) assignee: Option<Assignee>,
    /// It goes with its assignee.
    pub(crate) auto_delete: bool,
    /// Names set for addresses.
    pub(crate) dns_ptr: Names,
}

resource!(PrimaryIp, PrimaryIp);

/// Who has an address, or is about to, by its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Assignee {
    Server(u64),
    /// For as long as that is there. What was made with it is `included` in its price.
    LoadBalancer {
        id: u64,
        included: bool,
    },
}

impl Assignee {
    pub(crate) fn thing(self) -> (Kind, u64) {
        match self {
            Self::Server(id) => (Kind::Server, id),
            Self::LoadBalancer { id, .. } => (Kind::LoadBalancer, id),
        }
    }
}

impl PrimaryIp {
    /// Whether it is part of what its load balancer costs.
    pub(crate) fn is_included(&self) -> bool {
        matches!(self.assignee, Some(Assignee::LoadBalancer { included: true, .. }))
    }

    /// Whether the API knows it.
    pub(crate) fn is_known(&self, profile: Profile) -> bool {
        profile >= Profile::Current || !matches!(self.assignee, Some(Assignee::LoadBalancer { .. }))
    }
}

/// What was asked for by its id, if the API knows it.
fn known(project: &Project, id: u64) -> Result<&PrimaryIp, Wrong> {
    let ip = project.primary_ips.find(id).filter(|ip| ip.is_known(project.profile));
    ip.ok_or_else(|| Wrong::not_found(Kind::PrimaryIp.word(), id))
}

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

/// Refuses a primary IP that cannot be given to something new in that location.
pub(crate) fn assignable(project: &Project, id: u64, v4: bool, location: &str) -> Result<(), Wrong> {
    let ip = known(project, id)?;
    if ip.v4 != v4 {
        return Err(Wrong::new("primary_ip_version_mismatch", "the primary IP is of another version"));
    }
    if ip.assignee.is_some() {
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

/// Gives somebody who is being put one that is there.
pub(crate) fn assign(project: &mut Project, id: u64, assignee: Assignee) -> Option<u64> {
    project.primary_ips.find_mut(id)?.assignee = Some(assignee);
    Some(id)
}

/// Makes one for somebody who is being put, whom it goes with. None if no address is left.
pub(crate) fn grant(
    project: &mut Project,
    call: &Call<'_>,
    v4: bool,
    location: &str,
    assignee: Assignee,
) -> Option<u64> {
    let ip = public_ip::take(project, v4, location).ok()?;
    let head = project.primary_ips.head(call.now, String::new(), Labels::new());
    let assignee = Some(assignee);
    let mut made = PrimaryIp {
        head,
        v4,
        ip,
        location: location.to_owned(),
        assignee,
        auto_delete: true,
        dns_ptr: Names::new(),
    };
    if made.is_known(project.profile) {
        made.head.name = free_name(project, made.head.id);
    }
    Some(put(project, call, made))
}

/// The usual name of one with that id, unless somebody has called his own so.
fn free_name(project: &Project, id: u64) -> String {
    let mut names = (id..).map(|number| format!("primary_ip-{number}"));
    names.find(|name| project.primary_ips.named(name).is_none()).unwrap_or_default()
}

fn put(project: &mut Project, call: &Call<'_>, ip: PrimaryIp) -> u64 {
    let id = project.primary_ips.put(ip);
    project.opened(call, Kind::PrimaryIp, id);
    id
}

/// Who had these is gone: what goes with it goes too, the rest is free.
pub(crate) fn release(project: &mut Project, call: &Call<'_>, ids: [Option<u64>; 2]) {
    for id in ids.into_iter().flatten() {
        let Some(ip) = project.primary_ips.find_mut(id) else { continue };
        let was_included = ip.is_included();
        ip.assignee = None;
        if ip.auto_delete {
            remove(project, call, id);
        } else if was_included {
            project.repriced(call.now, Kind::PrimaryIp, id);
        }
    }
}

/// Takes one away that nobody has.
fn remove(project: &mut Project, call: &Call<'_>, id: u64) {
    project.closed(call, Kind::PrimaryIp, id);
    if let Some(ip) = project.primary_ips.take(id) {
        project.pools.give_back(ip.ip);
    }
}
