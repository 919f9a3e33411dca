//! The routes of load balancers themselves: list, get, create, rename, delete. What is done with them is next door.

use serde_json::json;

use crate::action::{Undertaking, action_routes};
use crate::call::{Answer, Answered, Call, Route, absent, change, list, look};
use crate::profile::Profile;
use crate::project::Project;
use crate::resource::load_balancer::show::show;
use crate::resource::load_balancer::{change as changes, create, interface};
use crate::resource::{Kind, primary_ip, upkeep};

pub(crate) const ROUTES: &[Route] = &[
    look("/load_balancers", all),
    look("/load_balancers/{id}", one),
    change("POST", "/load_balancers", create::create),
    change("PUT", "/load_balancers/{id}", update),
    change("DELETE", "/load_balancers/{id}", delete),
    change("POST", "/load_balancers/{id}/actions/add_service", changes::add_service),
    change("POST", "/load_balancers/{id}/actions/update_service", changes::update_service),
    change("POST", "/load_balancers/{id}/actions/delete_service", changes::delete_service),
    change("POST", "/load_balancers/{id}/actions/add_target", changes::add_target),
    change("POST", "/load_balancers/{id}/actions/remove_target", changes::remove_target),
    change("POST", "/load_balancers/{id}/actions/change_algorithm", changes::change_algorithm),
    change("POST", "/load_balancers/{id}/actions/change_type", changes::change_type),
    change("POST", "/load_balancers/{id}/actions/attach_to_network", interface::attach),
    change("POST", "/load_balancers/{id}/actions/detach_from_network", interface::detach),
    change("POST", "/load_balancers/{id}/actions/enable_public_interface", interface::enable),
    change("POST", "/load_balancers/{id}/actions/disable_public_interface", interface::disable),
    change("POST", "/load_balancers/{id}/actions/change_dns_ptr", interface::change_dns_ptr),
    change("POST", "/load_balancers/{id}/actions/change_protection", change_protection),
    absent("GET", "/load_balancers/{id}/metrics"),
];

pub(crate) const ACTIONS: [Route; 4] = action_routes!("/load_balancers", LoadBalancer);

fn all(project: &Project, call: &Call<'_>) -> Answered {
    list(call, "load_balancers", &project.load_balancers, |_| true, |balancer| show(project, balancer))
}

fn one(project: &Project, call: &Call<'_>) -> Answered {
    Ok(Answer::ok(json!({"load_balancer": show(project, project.load_balancers.get(call.id())?)})))
}

fn update(project: &mut Project, call: &Call<'_>) -> Answered {
    upkeep::rename(project, call, |project| &mut project.load_balancers, create::name)?;
    one(project, call)
}

fn change_protection(project: &mut Project, call: &Call<'_>) -> Answered {
    upkeep::change_protection(project, call, |project| &mut project.load_balancers)
}

/// It is gone at once; the action, which there is since October 2026, only tells how long the cloud works on it.
fn delete(project: &mut Project, call: &Call<'_>) -> Answered {
    let id = call.id();
    upkeep::deletable(project.load_balancers.get(id)?)?;
    project.closed(call, Kind::LoadBalancer, id);
    if let Some(balancer) = project.load_balancers.take(id) {
        primary_ip::release(project, call, [Some(balancer.ipv4), Some(balancer.ipv6)]);
    }
    let begun = project.begin(call.now, Undertaking::on("delete_load_balancer", Kind::LoadBalancer, id));
    if project.profile < Profile::Current {
        return Ok(Answer::nothing());
    }
    Ok(project.answer(begun))
}
