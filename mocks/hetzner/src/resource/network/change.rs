//! What is done with networks. Only one change at a time: a second one is told to come again.

use crate::action::Undertaking;
use crate::call::{Answer, Answered, Call, Wrong};
use crate::project::Project;
use crate::resource::network::{Effect, Network, draft};
use crate::resource::{Kind, upkeep};

pub(super) fn add_subnet(project: &mut Project, call: &Call<'_>) -> Answered {
    let network = project.networks.get(call.id())?;
    let draft = call.asked(draft::subnet)?;
    unchanging(project, call.id())?;
    draft::vswitch_free(project, Some(call.id()), &draft)?;
    let subnet = draft::fit_subnet(project, &network.plan, &network.routes, draft, "")?;
    Ok(begin(project, call, "add_subnet", Effect::SubnetAdded { network: call.id(), subnet }))
}

pub(super) fn delete_subnet(project: &mut Project, call: &Call<'_>) -> Answered {
    let network = project.networks.get(call.id())?;
    let range = call.asked(|body| draft::required_range(body, "ip_range"))?;
    unchanging(project, call.id())?;
    if !network.plan.subnets().iter().any(|subnet| subnet.range == range) {
        return Err(Wrong::new("not_found", format!("subnet {range} not found")));
    }
    // Clients know this by its words.
    let used = |_| Wrong::new("service_error", "cannot remove subnet because servers are attached to it");
    let subnet = network.space(project).remove_subnet(range).map_err(used)?;
    let _ = project.networks.get_mut(call.id())?.plan.remove_subnet(range);
    Ok(begin(project, call, "delete_subnet", Effect::SubnetDeleted { network: call.id(), subnet }))
}

pub(super) fn add_route(project: &mut Project, call: &Call<'_>) -> Answered {
    let network = project.networks.get(call.id())?;
    let route = call.asked(draft::route)?;
    unchanging(project, call.id())?;
    draft::fit_route(&network.plan, &network.routes, &route, "")?;
    Ok(begin(project, call, "add_route", Effect::RouteAdded { network: call.id(), route }))
}

pub(super) fn delete_route(project: &mut Project, call: &Call<'_>) -> Answered {
    let network = project.networks.get(call.id())?;
    let route = call.asked(draft::route)?;
    unchanging(project, call.id())?;
    if !network.routes.contains(&route) {
        return Err(Wrong::new("not_found", "route not found"));
    }
    Ok(begin(project, call, "delete_route", Effect::RouteDeleted { network: call.id(), route }))
}

pub(super) fn change_ip_range(project: &mut Project, call: &Call<'_>) -> Answered {
    let network = project.networks.get(call.id())?;
    let range = call.asked(|body| draft::required_range(body, "ip_range"))?;
    unchanging(project, call.id())?;
    network.plan.clone().extend(range).map_err(|message| Wrong::invalid("ip_range", message))?;
    Ok(begin(project, call, "change_ip_range", Effect::Extended { network: call.id(), range }))
}

pub(super) fn change_protection(project: &mut Project, call: &Call<'_>) -> Answered {
    project.networks.get(call.id())?;
    unchanging(project, call.id())?;
    upkeep::change_protection::<Network>(project, call, |project| &mut project.networks)
}

/// Refuses as long as another change is under way.
pub(super) fn unchanging(project: &Project, id: u64) -> Result<(), Wrong> {
    if project.actions.hold(Kind::Network, id) {
        return Err(Wrong::new("conflict", "the network is being changed by another action, please retry"));
    }
    Ok(())
}

fn begin(project: &mut Project, call: &Call<'_>, command: &'static str, effect: Effect) -> Answer {
    project.undertake(call.now, Undertaking::on(command, Kind::Network, call.id()).effect(effect))
}
