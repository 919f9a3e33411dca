//! Another type for a server. Its disk may grow with it, which cannot be undone, and never shrinks.

use mock_clock::Time;

use crate::action::Undertaking;
use crate::call::{Answered, Body, Call, IdOrName, Wrong};
use crate::catalogue::ServerType;
use crate::project::{Project, quota};
use crate::resource::server::{Effect, Server, Status, become_status, boot, stopped, work};
use crate::resource::{Kind, offer};

pub(super) fn change_type(project: &mut Project, call: &Call<'_>) -> Answered {
    let (id, (wanted, upgrade_disk)) = work::asked(project, call, |body| {
        (body.required("server_type", Body::id_or_name), body.required("upgrade_disk", Body::flag))
    })?;
    let server = project.servers.get(id)?;
    stopped(server)?;
    let server_type = target(project, call.now, &wanted)?;
    fits(project, server, &server_type)?;
    if let Some(location) = project.catalogue.location(&server.location) {
        offer::sold_in(call.now, &server_type, location)?;
    }
    let location = server.location.clone();
    quota::other_type(project, call.now, id, &server_type)?;
    project.in_stock(call.now, &server_type.name, &location)?;
    if let Some(server) = project.servers.find_mut(id) {
        server.becoming = Some(server_type.name);
    }
    become_status(project, call.now, id, Status::Migrating);
    let effect = Effect::Resized { server: id, upgrade_disk };
    Ok(project.undertake(call.now, Undertaking::on("change_server_type", Kind::Server, id).effect(effect)))
}

/// The type that is asked for. One that there was is refused in another way than one that there never was.
fn target(project: &Project, now: Time, wanted: &IdOrName) -> Result<ServerType, Wrong> {
    let catalogue = &project.catalogue;
    let by_id = || wanted.id().and_then(|id| catalogue.server_type_by_id(id));
    let known = catalogue.server_type(&wanted.0).or_else(by_id).is_some();
    offer::orderable_type(project, now, wanted).map_err(|wrong| {
        if known { Wrong::new("invalid_server_type", "the server type is deprecated") } else { wrong }
    })
}

/// Refuses a type that the disk of a server cannot move to.
fn fits(project: &Project, server: &Server, wanted: &ServerType) -> Result<(), Wrong> {
    let refuse = |why: &str| Err(Wrong::new("invalid_server_type", why));
    if wanted.name == server.server_type {
        return refuse("server has this server type already");
    }
    if wanted.disk < server.disk_gb {
        return refuse("the disk of the server is larger than the disk of the server type");
    }
    match project.catalogue.server_type(&server.server_type) {
        Some(now) if now.architecture != wanted.architecture => {
            refuse("the server type has another architecture than the server")
        }
        _ => Ok(()),
    }
}

/// The disk was copied and the server boots, or all is as it was.
pub(super) fn settle(project: &mut Project, now: Time, id: u64, upgrade_disk: bool, success: bool) {
    let catalogue = project.catalogue.clone();
    let Some(server) = project.servers.find_mut(id) else { return };
    let becoming = server.becoming.take();
    let Some(server_type) = becoming.and_then(|name| catalogue.server_type(&name)).filter(|_| success) else {
        return become_status(project, now, id, Status::Off);
    };
    server.server_type.clone_from(&server_type.name);
    if upgrade_disk {
        server.disk_gb = server_type.disk;
    }
    project.repriced(now, Kind::Server, id);
    boot(project, now, id);
}
