//! Volumes come to servers and leave them.

use mock_clock::Time;

use crate::action::{Begun, Undertaking};
use crate::call::{Answered, Body, Call, Wrong};
use crate::project::Project;
use crate::resource::Kind;
use crate::resource::volume::{Effect, Volume};

/// How many volumes a server can have.
const AT_A_SERVER: usize = 16;

/// Refuses a volume that a server of that location cannot get.
fn attachable(project: &Project, id: u64, location: &str) -> Result<(), Wrong> {
    let volume = project.volumes.get(id)?;
    if volume.server.is_some() {
        return Err(Wrong::new(
            "volume_already_attached",
            format!("volume with ID {id} is already attached"),
        ));
    }
    project.unlocked(Kind::Volume, id)?;
    same_location(&volume.location, location)
}

/// Refuses volumes that a new server of that location cannot get all together.
pub(crate) fn all_attachable(project: &Project, ids: &[u64], location: &str) -> Result<(), Wrong> {
    if ids.len() > AT_A_SERVER {
        return Err(too_many());
    }
    for (index, id) in ids.iter().enumerate() {
        if ids.iter().take(index).any(|other| other == id) {
            return Err(Wrong::invalid("volumes", format!("Volume {id} is named twice.")));
        }
        attachable(project, *id, location)?;
    }
    Ok(())
}

pub(super) fn same_location(volume: &str, server: &str) -> Result<(), Wrong> {
    if volume == server {
        return Ok(());
    }
    Err(Wrong::new("invalid_input", "volume and server must be in the same location"))
}

/// Refuses a server that has as many as it can, or that somebody works on. Says where it is.
pub(super) fn takes(project: &Project, server: u64) -> Result<&str, Wrong> {
    let location = &project.servers.get(server)?.location;
    let there = project.volumes.all().filter(|volume| volume.server == Some(server)).count();
    if there >= AT_A_SERVER {
        return Err(too_many());
    }
    project.unlocked(Kind::Server, server)?;
    Ok(location)
}

fn too_many() -> Wrong {
    let message = format!("no more than {AT_A_SERVER} volumes can be attached to a server");
    Wrong::new("limit_exceeded_error", message)
}

/// Begins to attach a volume to a server that is ready for it from a moment on. No other server gets it meanwhile.
/// What mounts it is in the server, and there is none.
pub(crate) fn attach(
    project: &mut Project,
    now: Time,
    id: u64,
    server: u64,
    _automount: bool,
    from: Time,
) -> Begun {
    if let Some(volume) = project.volumes.find_mut(id) {
        volume.server = Some(server);
    }
    let undertaking = Undertaking::on("attach_volume", Kind::Server, server)
        .with(Kind::Volume, id)
        .after(from)
        .effect(Effect::Attached { id, server });
    project.begin(now, undertaking)
}

/// It is at that server no more, if it still was.
pub(super) fn part(volume: &mut Volume, server: u64) {
    volume.server = volume.server.filter(|other| *other != server);
}

pub(super) fn attach_to(project: &mut Project, call: &Call<'_>) -> Answered {
    let id = call.id();
    project.volumes.get(id)?;
    let (server, automount) =
        call.asked(|body| (body.required("server", Body::id), body.flag("automount").unwrap_or(false)))?;
    let location = takes(project, server)?.to_owned();
    attachable(project, id, &location)?;
    let begun = attach(project, call.now, id, server, automount, call.now);
    Ok(project.answer(begun))
}

pub(super) fn detach(project: &mut Project, call: &Call<'_>) -> Answered {
    let id = call.id();
    let volume = project.volumes.get(id)?;
    call.no_body()?;
    let Some(server) = volume.server else {
        return Err(Wrong::new("invalid_input", format!("volume with ID {id} is not attached")));
    };
    project.unlocked(Kind::Volume, id)?;
    project.unlocked(Kind::Server, server)?;
    let undertaking = Undertaking::on("detach_volume", Kind::Server, server)
        .with(Kind::Volume, id)
        .effect(Effect::Detached { id, server });
    Ok(project.undertake(call.now, undertaking))
}
