//! The routes of servers themselves: list, get, create, rename, delete. What is done with them is next door.

use serde_json::json;

use crate::action::{Undertaking, action_routes};
use crate::call::{Answer, Answered, Call, Route, Wrong, absent, change, list, look};
use crate::project::Project;
use crate::resource::server::{
    Server, backup, create, group, iso, pointer, power, private, rebuild, rescue, resize, show,
};
use crate::resource::{Kind, firewall, host_name, image, placement_group, primary_ip, upkeep};

pub(crate) const ROUTES: &[Route] = &[
    look("/servers", all),
    look("/servers/{id}", one),
    change("POST", "/servers", create::create),
    change("PUT", "/servers/{id}", update),
    change("DELETE", "/servers/{id}", delete),
    change("POST", "/servers/{id}/actions/change_protection", change_protection),
    change("POST", "/servers/{id}/actions/poweron", power::on),
    change("POST", "/servers/{id}/actions/poweroff", power::off),
    change("POST", "/servers/{id}/actions/shutdown", power::shutdown),
    change("POST", "/servers/{id}/actions/reboot", power::reboot),
    change("POST", "/servers/{id}/actions/reset", power::reset),
    change("POST", "/servers/{id}/actions/change_type", resize::change_type),
    change("POST", "/servers/{id}/actions/rebuild", rebuild::rebuild),
    change("POST", "/servers/{id}/actions/enable_backup", backup::enable),
    change("POST", "/servers/{id}/actions/disable_backup", backup::disable),
    change("POST", "/servers/{id}/actions/create_image", backup::create_image),
    change("POST", "/servers/{id}/actions/enable_rescue", rescue::enable),
    change("POST", "/servers/{id}/actions/disable_rescue", rescue::disable),
    change("POST", "/servers/{id}/actions/reset_password", rescue::reset_password),
    change("POST", "/servers/{id}/actions/request_console", rescue::request_console),
    change("POST", "/servers/{id}/actions/attach_iso", iso::attach),
    change("POST", "/servers/{id}/actions/detach_iso", iso::detach),
    change("POST", "/servers/{id}/actions/attach_to_network", private::attach),
    change("POST", "/servers/{id}/actions/detach_from_network", private::detach),
    change("POST", "/servers/{id}/actions/change_alias_ips", private::change_alias_ips),
    change("POST", "/servers/{id}/actions/add_to_placement_group", group::join),
    change("POST", "/servers/{id}/actions/remove_from_placement_group", group::leave),
    change("POST", "/servers/{id}/actions/change_dns_ptr", pointer::change),
    absent("GET", "/servers/{id}/metrics"),
];

pub(crate) const ACTIONS: [Route; 4] = action_routes!("/servers", Server);

fn all(project: &Project, call: &Call<'_>) -> Answered {
    let wanted = |server: &Server| call.query.wants("status", server.status.word());
    list(call, "servers", &project.servers, wanted, |server| show(project, server))
}

fn one(project: &Project, call: &Call<'_>) -> Answered {
    Ok(Answer::ok(json!({"server": show(project, project.servers.get(call.id())?)})))
}

fn update(project: &mut Project, call: &Call<'_>) -> Answered {
    upkeep::rename(project, call, |project| &mut project.servers, host_name::read)?;
    one(project, call)
}

fn change_protection(project: &mut Project, call: &Call<'_>) -> Answered {
    let server = project.servers.get_mut(call.id())?;
    let keep = call.asked(|body| {
        let (delete, rebuild) = (body.flag("delete"), body.flag("rebuild"));
        // The two are one for servers.
        if delete != rebuild {
            let other = if delete.is_some() { "rebuild" } else { "delete" };
            body.wrong(other, "Must be the same as the other protection.");
        }
        delete
    })?;
    server.head.kept = keep.unwrap_or(server.head.kept);
    server.rebuild_kept = keep.unwrap_or(server.rebuild_kept);
    Ok(project.undertake(call.now, Undertaking::on("change_protection", Kind::Server, call.id()).shared()))
}

/// It is gone at once; the action only tells how long the cloud works on it. One that is still being made can be
/// deleted too: autoscalers do that when its creation fails.
fn delete(project: &mut Project, call: &Call<'_>) -> Answered {
    let id = call.id();
    upkeep::deletable(project.servers.get(id)?)?;
    remove(project, call, id)?;
    let begun = project.begin(call.now, Undertaking::on("delete_server", Kind::Server, id));
    Ok(Answer::ok(json!({"action": project.action(begun)})))
}

/// Takes a server away, and lets go of all that it had.
fn remove(project: &mut Project, call: &Call<'_>, id: u64) -> Result<(), Wrong> {
    let server = project.servers.get(id)?;
    let addresses = [server.ipv4, server.ipv6];
    project.goes(call.now, id);
    project.closed(call, Kind::Server, id);
    project.servers.take(id);
    primary_ip::release(project, call, addresses);
    placement_group::leave(project, id);
    firewall::forget(project, id);
    image::forget(project, call, id);
    for volume in project.volumes.all_mut().filter(|volume| volume.server == Some(id)) {
        volume.server = None;
    }
    for ip in project.floating_ips.all_mut().filter(|ip| ip.server == Some(id)) {
        ip.server = None;
    }
    for balancer in project.load_balancers.all_mut() {
        balancer.forget(id);
    }
    Ok(())
}
