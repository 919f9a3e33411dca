//! Which networks a load balancer is in, private and public, and its names there.

use std::net::{IpAddr, Ipv4Addr};

use serde_json::json;

use crate::action::Undertaking;
use crate::call::{Answer, Answered, Body, Call, Wrong};
use crate::project::Project;
use crate::resource::Kind;
use crate::resource::load_balancer::change::{begin, unlocked};
use crate::resource::load_balancer::effect::Change;
use crate::resource::load_balancer::target::Target;
use crate::resource::network::{self, Wanted};

/// Names beyond this are refused.
const LONGEST_HOST_NAME: usize = 253;

pub(super) fn attach(project: &mut Project, call: &Call<'_>) -> Answered {
    let balancer = project.load_balancers.get(call.id())?;
    let mut body = call.body()?;
    let id = body.required("network", Body::id);
    let (ip, range) = (address(&mut body, "ip"), body.text("ip_range"));
    body.done()?;
    unlocked(project, call)?;
    project.networks.get(id)?;
    if !balancer.networks.is_empty() {
        return Err(Wrong::new(
            "load_balancer_already_attached",
            "the load balancer is already attached to a network",
        ));
    }
    let location = project.catalogue.location(&balancer.location);
    let zone = location.map_or("", |it| it.network_zone.as_str());
    let wanted = Wanted { network: id, zone, ip, range: range.as_deref(), alias_ips: &[] };
    let membership = network::place(project, &wanted)?;
    project.load_balancers.get_mut(call.id())?.networks.push(membership);
    let begun = project.begin(call.now, network::joining(Kind::LoadBalancer, call.id(), id));
    Ok(Answer::created(json!({"action": project.action(begun)})))
}

/// An empty text is none.
fn address(body: &mut Body, field: &str) -> Option<Ipv4Addr> {
    let text = body.text(field).filter(|text| !text.is_empty())?;
    text.parse().map_err(|_| body.wrong(field, "Not a valid IPv4 address.")).ok()
}

pub(super) fn detach(project: &mut Project, call: &Call<'_>) -> Answered {
    let balancer = project.load_balancers.get(call.id())?;
    let mut body = call.body()?;
    let id = body.required("network", Body::id);
    body.done()?;
    unlocked(project, call)?;
    project.networks.get(id)?;
    if !balancer.networks.iter().any(|it| it.network == id) {
        return Err(not_attached());
    }
    let begun = project.begin(call.now, network::leaving(Kind::LoadBalancer, call.id(), id));
    Ok(Answer::created(json!({"action": project.action(begun)})))
}

pub(super) fn enable(project: &mut Project, call: &Call<'_>) -> Answered {
    project.load_balancers.get(call.id())?;
    call.no_body()?;
    unlocked(project, call)?;
    Ok(begin(project, call, "enable_public_interface", Change::PublicInterface(true)))
}

pub(super) fn disable(project: &mut Project, call: &Call<'_>) -> Answered {
    let balancer = project.load_balancers.get(call.id())?;
    call.no_body()?;
    unlocked(project, call)?;
    if balancer.networks.is_empty() {
        return Err(not_attached());
    }
    if balancer.targets.iter().any(Target::is_public) {
        return Err(Wrong::new(
            "targets_without_use_private_ip",
            "the load balancer has targets that use the public IP instead of the private IP",
        ));
    }
    Ok(begin(project, call, "disable_public_interface", Change::PublicInterface(false)))
}

fn not_attached() -> Wrong {
    Wrong::new("load_balancer_not_attached_to_network", "the load balancer is not attached to a network")
}

/// The usual name comes back if none is given.
pub(super) fn change_dns_ptr(project: &mut Project, call: &Call<'_>) -> Answered {
    let balancer = project.load_balancers.get_mut(call.id())?;
    let mut body = call.body()?;
    let ip = body.required("ip", Body::text);
    let name = body.text("dns_ptr");
    let mine = [IpAddr::V4(balancer.public.ipv4), IpAddr::V6(balancer.public.ipv6())];
    let ip = ip.parse().ok().filter(|ip| mine.contains(ip));
    if ip.is_none() {
        body.wrong("ip", "Must be a public IP of the load balancer.");
    }
    if name.as_ref().is_some_and(|name| !(1..=LONGEST_HOST_NAME).contains(&name.len())) {
        body.wrong("dns_ptr", "Not a valid host name.");
    }
    body.done()?;
    match (ip, name) {
        (Some(ip), Some(name)) => balancer.public.names.insert(ip, name),
        (Some(ip), None) => balancer.public.names.remove(&ip),
        (None, _) => None,
    };
    let begun =
        project.begin(call.now, Undertaking::on("change_dns_ptr", Kind::LoadBalancer, call.id()).shared());
    Ok(Answer::created(json!({"action": project.action(begun)})))
}
