//! The disk of a server written anew from an image. All that was on it is lost; addresses and networks stay.

use mock_clock::Time;
use serde_json::json;

use crate::action::Undertaking;
use crate::call::{Answered, Body, Call, Wrong};
use crate::catalogue::ServerType;
use crate::project::Project;
use crate::resource::server::{Effect, Server, Status, become_status, boot, user_data, work};
use crate::resource::{Kind, image};

pub(super) fn rebuild(project: &mut Project, call: &Call<'_>) -> Answered {
    let (id, wanted) = work::asked(project, call, |body| {
        user_data(body);
        body.required("image", Body::id_or_name)
    })?;
    let server = project.servers.get(id)?;
    if server.rebuild_kept {
        return Err(Wrong::protected(Kind::Server.word(), "rebuild"));
    }
    let image = image::bootable(project, call.now, &wanted, &machine(project, server)?)?;
    let has_key = server.has_key;
    become_status(project, call.now, id, Status::Rebuilding);
    let password = (!has_key).then(|| project.chance.word(20));
    let effect = Effect::Rebuilt { server: id, image };
    let undertaking = Undertaking::on("rebuild_server", Kind::Server, id).effect(effect);
    Ok(project.undertake_with(call.now, undertaking, [("root_password", json!(password))]))
}

/// The type of a server, with the disk that it really has.
fn machine(project: &Project, server: &Server) -> Result<ServerType, Wrong> {
    let server_type = project.catalogue.server_type(&server.server_type);
    let gone = || Wrong::new("service_error", "the server type is no longer known");
    server_type.map(|it| ServerType { disk: server.disk_gb, ..it.clone() }).ok_or_else(gone)
}

/// It boots from what was written, or stays off with a disk that nobody can vouch for.
pub(super) fn settle(project: &mut Project, now: Time, id: u64, image: u64, success: bool) {
    if !success {
        return become_status(project, now, id, Status::Off);
    }
    let image = project.images.find(image).map(|image| image.head.id);
    if let Some(server) = project.servers.find_mut(id) {
        server.image = image;
    }
    boot(project, now, id);
}
