//! The routes of networks themselves: list, get, create, change, delete. What is done with them is next door.

use serde_json::json;

use crate::action::action_routes;
use crate::address::{PrivateSpace, Range};
use crate::call::{self, Answer, Answered, Call, Wrong, change, list, look};
use crate::project::{Project, quota};
use crate::resource::network::draft::{self, SubnetDraft};
use crate::resource::network::{Network, Route, change as changes, effect, member, members, show::show};
use crate::resource::shelf::Labels;
use crate::resource::{Kind, upkeep};

pub(crate) const ROUTES: &[call::Route] = &[
    look("/networks", all),
    look("/networks/{id}", one),
    look("/networks/{id}/members", member::all),
    change("POST", "/networks", create),
    change("PUT", "/networks/{id}", update),
    change("DELETE", "/networks/{id}", delete),
    change("POST", "/networks/{id}/actions/add_subnet", changes::add_subnet),
    change("POST", "/networks/{id}/actions/delete_subnet", changes::delete_subnet),
    change("POST", "/networks/{id}/actions/add_route", changes::add_route),
    change("POST", "/networks/{id}/actions/delete_route", changes::delete_route),
    change("POST", "/networks/{id}/actions/change_ip_range", changes::change_ip_range),
    change("POST", "/networks/{id}/actions/change_protection", changes::change_protection),
];

pub(crate) const ACTIONS: [call::Route; 4] = action_routes!("/networks", Network);

fn all(project: &Project, call: &Call<'_>) -> Answered {
    list(call, "networks", &project.networks, |_| true, |network| show(project, network))
}

fn one(project: &Project, call: &Call<'_>) -> Answered {
    Ok(Answer::ok(json!({"network": show(project, project.networks.get(call.id())?)})))
}

/// What a body asks for.
struct Wish {
    name: String,
    labels: Labels,
    range: Range,
    subnets: Vec<SubnetDraft>,
    routes: Vec<Route>,
    exposes_routes: bool,
}

fn create(project: &mut Project, call: &Call<'_>) -> Answered {
    let wish = call.asked(|body| Wish {
        name: body.required("name", upkeep::name),
        labels: body.labels().unwrap_or_default(),
        range: draft::required_range(body, "ip_range"),
        subnets: body.each("subnets", draft::subnet).unwrap_or_default(),
        routes: body.each("routes", draft::route).unwrap_or_default(),
        exposes_routes: body.flag("expose_routes_to_vswitch").unwrap_or(false),
    })?;
    let network = make(project, call, wish)?;
    let id = project.networks.put(network);
    project.opened(call, Kind::Network, id);
    Ok(Answer::created(json!({"network": show(project, project.networks.get(id)?)})))
}

/// The network that a wish comes to, if all of it fits together.
fn make(project: &mut Project, call: &Call<'_>, wish: Wish) -> Result<Network, Wrong> {
    project.networks.free_name(&wish.name, None)?;
    quota::networks(project)?;
    let mut plan = PrivateSpace::new(wish.range).map_err(|message| Wrong::invalid("ip_range", message))?;
    for (index, draft) in wish.subnets.into_iter().enumerate() {
        draft::vswitch_free(project, None, &draft)?;
        let place = format!("subnets.{index}.");
        let subnet = draft::fit_subnet(project, &plan, &[], draft, &place)?;
        let added = plan.add_subnet(subnet, &[]);
        added.map_err(|refusal| Wrong::invalid(&format!("{place}ip_range"), refusal.to_string()))?;
    }
    let mut routes = Vec::with_capacity(wish.routes.len());
    for (index, route) in wish.routes.into_iter().enumerate() {
        draft::fit_route(&plan, &routes, &route, &format!("routes.{index}."))?;
        routes.push(route);
    }
    let head = project.networks.head(call.now, wish.name, wish.labels);
    Ok(Network { head, plan, routes, exposes_routes: wish.exposes_routes })
}

fn update(project: &mut Project, call: &Call<'_>) -> Answered {
    project.networks.get(call.id())?;
    let (naming, exposes_routes) = call.asked(|body| {
        let exposes_routes = body.flag("expose_routes_to_vswitch");
        (upkeep::naming(body, upkeep::name), exposes_routes)
    })?;
    changes::unchanging(project, call.id())?;
    upkeep::set(project, call.id(), |project| &mut project.networks, naming)?;
    let network = project.networks.get_mut(call.id())?;
    network.exposes_routes = exposes_routes.unwrap_or(network.exposes_routes);
    one(project, call)
}

/// Whoever is in it is let go at once.
fn delete(project: &mut Project, call: &Call<'_>) -> Answered {
    let id = call.id();
    upkeep::deletable(project.networks.get(id)?)?;
    changes::unchanging(project, id)?;
    let all: Vec<(Kind, u64)> = members(project, id).map(|(kind, id, _)| (kind, id)).collect();
    for (kind, member) in all {
        effect::leave(project, kind, member, id);
    }
    project.closed(call, Kind::Network, id);
    project.networks.take(id);
    Ok(Answer::nothing())
}
