//! The names that a server's public addresses are known by in the reverse.

use std::net::IpAddr;

use crate::action::Undertaking;
use crate::call::{Answered, Body, Call};
use crate::kind::Kind;
use crate::primary_ip::PrimaryIp;
use crate::project::Project;
use crate::server::{Effect, hostname, work};
use crate::wrong::Wrong;

pub(super) fn change(project: &mut Project, call: &Call<'_>) -> Answered {
    let (id, (ip, name)) = work::asked(project, call, |body| (address(body), hostname(body, "dns_ptr")))?;
    let server = project.servers.get(id)?;
    let own = [server.ipv4, server.ipv6].into_iter().flatten();
    let own =
        own.filter_map(|own| project.primary_ips.find(own)).find(|own| ip.is_some_and(|ip| covers(own, ip)));
    let (Some(own), Some(ip)) = (own.map(|own| own.head.id), ip) else {
        return Err(Wrong::invalid("ip", "The server does not have this IP."));
    };
    let effect = Effect::Pointed { primary_ip: own, ip, name };
    Ok(work::begin(project, call, Undertaking::on("change_dns_ptr", Kind::Server, id).effect(effect)))
}

fn address(body: &mut Body) -> Option<IpAddr> {
    let text = body.required("ip", Body::text);
    let ip = text.parse().ok();
    if ip.is_none() && !text.is_empty() {
        body.wrong("ip", "Not a valid IP address.");
    }
    ip
}

/// Whether an address is that of a primary IP, or lies in its network.
fn covers(own: &PrimaryIp, ip: IpAddr) -> bool {
    match (own.ip, ip) {
        (IpAddr::V6(first), IpAddr::V6(ip)) => first.segments()[..4] == ip.segments()[..4],
        (own, ip) => own == ip,
    }
}

/// The name is set, or is what it was before anybody set one.
pub(super) fn settle(project: &mut Project, own: u64, ip: IpAddr, name: Option<String>) {
    let Some(own) = project.primary_ips.find_mut(own) else { return };
    match name {
        Some(name) => own.dns_ptr.insert(ip, name),
        None => own.dns_ptr.remove(&ip),
    };
}
