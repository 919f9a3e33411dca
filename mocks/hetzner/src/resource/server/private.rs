//! A server's place in private networks.

use std::net::Ipv4Addr;

use crate::action::Undertaking;
use crate::call::{Answered, Body, Call, Wrong};
use crate::project::Project;
use crate::resource::Kind;
use crate::resource::network::{self, Membership, Wanted};
use crate::resource::server::{Effect, Server, work};

/// The addresses are taken at once, so that nobody else gets them; the server shows them when it is attached.
pub(super) fn attach(project: &mut Project, call: &Call<'_>) -> Answered {
    let (id, (network, ip, range, alias_ips)) = work::asked(project, call, |body| {
        let network = body.required("network", Body::id);
        let (ip, range) = (body.ipv4("ip"), body.filled("ip_range"));
        (network, ip, range, addresses(body, "alias_ips").unwrap_or_default())
    })?;
    project.networks.get(network)?;
    let server = project.servers.get(id)?;
    if server.networks.iter().any(|known| known.network == network) {
        return Err(Wrong::new("server_already_attached", "server is already attached to network"));
    }
    network::apart(project, network, &server.networks)?;
    let zone = zone(project, server);
    let wanted = Wanted { network, zone, ip, range: range.as_deref(), alias_ips: &alias_ips };
    let membership = network::place(project, &wanted)?;
    if let Some(server) = project.servers.find_mut(id) {
        server.networks.push(membership);
    }
    Ok(project.undertake(call.now, network::attaching(id, network)))
}

pub(super) fn detach(project: &mut Project, call: &Call<'_>) -> Answered {
    let (id, network) = work::asked(project, call, |body| body.required("network", Body::id))?;
    member(project, id, network)?;
    Ok(project.undertake(call.now, network::leaving(Kind::Server, id, network)))
}

/// The new ones are taken at once, and the old ones are kept until the end: either may be what remains.
pub(super) fn change_alias_ips(project: &mut Project, call: &Call<'_>) -> Answered {
    let (id, (network, wanted)) = work::asked(project, call, |body| {
        (body.required("network", Body::id), body.required("alias_ips", addresses))
    })?;
    let place = member(project, id, network)?;
    network::aliases_free(project, zone(project, project.servers.get(id)?), place, &wanted)?;
    let before = place.alias_ips.clone();
    let mut both = before.clone();
    both.extend(wanted.iter().filter(|ip| !before.contains(ip)));
    alias(project, id, network, both);
    let effect = Effect::Aliased { server: id, network, wanted, before };
    let undertaking = Undertaking::on("change_alias_ips", Kind::Server, id).with(Kind::Network, network);
    Ok(project.undertake(call.now, undertaking.effect(effect)))
}

/// Sets the alias addresses of a server that is still in a network.
pub(super) fn alias(project: &mut Project, id: u64, network: u64, ips: Vec<Ipv4Addr>) {
    let server = project.servers.find_mut(id);
    let place = server.and_then(|server| server.networks.iter_mut().find(|known| known.network == network));
    if let Some(place) = place {
        place.alias_ips = ips;
    }
}

/// The place of a server in a network, which it has to be in.
fn member(project: &Project, id: u64, network: u64) -> Result<&Membership, Wrong> {
    project.networks.get(network)?;
    let place = project.servers.get(id)?.networks.iter().find(|known| known.network == network);
    place.ok_or_else(|| {
        Wrong::new("not_found", format!("server is not attached to network with ID '{network}'"))
    })
}

fn zone<'a>(project: &'a Project, server: &Server) -> &'a str {
    project.catalogue.location(&server.location).map_or("", |location| location.network_zone.as_str())
}

fn addresses(body: &mut Body, field: &str) -> Option<Vec<Ipv4Addr>> {
    let all: Option<_> = body.texts(field)?.iter().map(|text| text.parse().ok()).collect();
    if all.is_none() {
        body.wrong(field, "Not a valid list of IPv4 addresses.");
    }
    all
}
