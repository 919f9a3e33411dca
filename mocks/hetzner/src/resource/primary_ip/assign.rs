//! Giving primary IPs to servers, taking them back, and naming their addresses.

use mock_clock::Time;

use crate::action::{Begun, Undertaking};
use crate::call::{Answered, Body, Call, Wrong};
use crate::project::Project;
use crate::resource::primary_ip::{Assignee, Effect, in_location, known, slot};
use crate::resource::public_ip::Renaming;
use crate::resource::{Kind, server};

/// hcloud-go 1 repeats the id of the path here.
const OLD_ID: &str = "ID";

pub(super) fn assign(project: &mut Project, call: &Call<'_>) -> Answered {
    let id = call.id();
    let ip = known(project, id)?;
    let server = call.asked(|body| {
        body.ignore(OLD_ID);
        body.required("assignee_type", |body, field| body.word(field, &[("server", ())]));
        body.required("assignee_id", Body::id)
    })?;
    project.unlocked(Kind::PrimaryIp, id)?;
    if ip.assignee.is_some() {
        return Err(Wrong::new("primary_ip_already_assigned", "the primary IP is already assigned"));
    }
    in_location(ip, &project.servers.get(server)?.location)?;
    takes(project, server, ip.v4)?;
    let begun = begin(project, call.now, id, server);
    Ok(project.answer(begun))
}

/// Refuses a server that has an address of that version, that somebody works on, or that is not off.
pub(super) fn takes(project: &Project, id: u64, v4: bool) -> Result<(), Wrong> {
    let server = project.servers.get(id)?;
    if v4 && server.ipv4.is_some() {
        return Err(Wrong::new("server_has_ipv4", "server already has an IPv4 address"));
    }
    if !v4 && server.ipv6.is_some() {
        return Err(Wrong::new("server_has_ipv6", "server already has an IPv6 address"));
    }
    project.unlocked(Kind::Server, id)?;
    server::stopped(server)
}

/// Gives it to a server that takes it. Nobody else gets either of them meanwhile.
pub(super) fn begin(project: &mut Project, now: Time, id: u64, server: u64) -> Begun {
    if let (Some(ip), Some(to)) = (project.primary_ips.find_mut(id), project.servers.find_mut(server)) {
        ip.assignee = Some(Assignee::Server(server));
        *slot(to, ip.v4) = Some(id);
    }
    let undertaking = Undertaking::on("assign_primary_ip", Kind::Server, server)
        .with(Kind::PrimaryIp, id)
        .effect(Effect::Assigned { id, server });
    project.begin(now, undertaking)
}

pub(super) fn unassign(project: &mut Project, call: &Call<'_>) -> Answered {
    let id = call.id();
    let ip = known(project, id)?;
    call.no_body()?;
    project.unlocked(Kind::PrimaryIp, id)?;
    let refused = |message: &str| Err(Wrong::new("invalid_input", message));
    let server = match ip.assignee {
        Some(Assignee::Server(server)) => server,
        Some(Assignee::LoadBalancer { .. }) => return refused("primary IP stays with its load balancer"),
        None => return refused("primary IP is not assigned"),
    };
    project.unlocked(Kind::Server, server)?;
    server::stopped(project.servers.get(server)?)?;
    if ip.v4 && project.load_balancers.all().any(|balancer| balancer.targets_publicly(server)) {
        return Err(Wrong::new("server_is_load_balancer_target", "server is the target of a load balancer"));
    }
    let undertaking = Undertaking::on("unassign_primary_ip", Kind::Server, server)
        .with(Kind::PrimaryIp, id)
        .effect(Effect::Unassigned { id, server });
    Ok(project.undertake(call.now, undertaking))
}

/// The two know each other no more, if they still do.
pub(super) fn part(project: &mut Project, id: u64, server: u64) {
    let its = Some(Assignee::Server(server));
    let Some(ip) = project.primary_ips.find_mut(id).filter(|ip| ip.assignee == its) else { return };
    ip.assignee = None;
    if let Some(server) = project.servers.find_mut(server) {
        *slot(server, ip.v4) = None;
    }
}

/// Names are kept elsewhere: clients give them while they attach the thing to something.
pub(super) fn change_dns_ptr(project: &mut Project, call: &Call<'_>) -> Answered {
    let id = call.id();
    let ip = known(project, id)?;
    let asked = call.asked(|body| {
        body.ignore(OLD_ID);
        Renaming::read(body)
    })?;
    let renaming = Renaming::fits(asked, ip.ip, &ip.dns_ptr)?;
    let undertaking = Undertaking::on("change_dns_ptr", Kind::PrimaryIp, id)
        .shared()
        .effect(Effect::Renamed { id, renaming });
    Ok(project.undertake(call.now, undertaking))
}

/// Whether somebody works on it, even if what is held for that is its server.
pub(super) fn changing(project: &Project, id: u64) -> bool {
    let works = |action: &crate::action::Action| {
        action.holds && action.finished.is_none() && action.concerns(Kind::PrimaryIp, id)
    };
    project.actions.all().any(works)
}
