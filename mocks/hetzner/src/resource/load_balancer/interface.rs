//! Which networks a load balancer is in, private and public, and its names there.

use crate::action::Undertaking;
use crate::call::{Answered, Body, Call, Wrong};
use crate::project::Project;
use crate::resource::load_balancer::address;
use crate::resource::load_balancer::change::{begin, unlocked};
use crate::resource::load_balancer::effect::Change;
use crate::resource::load_balancer::target::Target;
use crate::resource::network::{self, Wanted};
use crate::resource::public_ip::Renaming;
use crate::resource::{Kind, primary_ip};

pub(super) fn attach(project: &mut Project, call: &Call<'_>) -> Answered {
    let balancer = project.load_balancers.get(call.id())?;
    let (id, ip, range) =
        call.asked(|body| (body.required("network", Body::id), body.ipv4("ip"), body.filled("ip_range")))?;
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
    Ok(project.undertake(call.now, network::joining(Kind::LoadBalancer, call.id(), id)))
}

pub(super) fn detach(project: &mut Project, call: &Call<'_>) -> Answered {
    let balancer = project.load_balancers.get(call.id())?;
    let id = call.asked(|body| body.required("network", Body::id))?;
    unlocked(project, call)?;
    project.networks.get(id)?;
    if !balancer.networks.iter().any(|it| it.network == id) {
        return Err(not_attached());
    }
    Ok(project.undertake(call.now, network::leaving(Kind::LoadBalancer, call.id(), id)))
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
    let id = call.id();
    let balancer = project.load_balancers.get(id)?;
    let asked = call.asked(Renaming::read)?;
    let mut own = [balancer.ipv4, balancer.ipv6].into_iter().filter_map(|ip| project.primary_ips.find(ip));
    let ip = own.find(|ip| asked.as_ref().is_some_and(|asked| asked.ip() == address(ip)));
    let ip = ip.ok_or_else(|| Wrong::invalid("ip", "Must be a public IP of the load balancer."))?;
    let renaming = Renaming::fits(asked, ip.ip, &ip.dns_ptr)?;
    let undertaking = Undertaking::on("change_dns_ptr", Kind::LoadBalancer, id)
        .shared()
        .effect(primary_ip::Effect::Renamed { id: ip.head.id, renaming });
    Ok(project.undertake(call.now, undertaking))
}
