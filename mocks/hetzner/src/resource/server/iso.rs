//! A disc in the drive of a server, one at a time.

use mock_clock::Time;

use crate::action::Undertaking;
use crate::call::{Answered, Body, Call, IdOrName, Wrong};
use crate::catalogue::Iso;
use crate::project::Project;
use crate::resource::Kind;
use crate::resource::server::{Effect, Server, work};

pub(super) fn attach(project: &mut Project, call: &Call<'_>) -> Answered {
    let (id, wanted) = work::asked(project, call, |body| body.required("iso", Body::id_or_name))?;
    let iso = Some(fitting(project, call.now, project.servers.get(id)?, &wanted)?.name.clone());
    let effect = Effect::Disc { server: id, iso };
    Ok(project.undertake(call.now, Undertaking::on("attach_iso", Kind::Server, id).effect(effect)))
}

/// The ISO that is asked for, if the server can run what is on it.
fn fitting<'a>(
    project: &'a Project,
    now: Time,
    server: &Server,
    wanted: &IdOrName,
) -> Result<&'a Iso, Wrong> {
    let refuse = |message: &str| Err(Wrong::invalid("iso", message));
    let by_id = wanted.id().and_then(|id| project.catalogue.iso_by_id(id));
    let Some(iso) = by_id.or_else(|| project.catalogue.iso(&wanted.0)) else {
        return refuse("Unknown ISO.");
    };
    if iso.deprecation.is_some_and(|it| it.is_over(now)) {
        return refuse("The ISO is deprecated and no longer available.");
    }
    let own = project.catalogue.server_type(&server.server_type).map(|it| it.architecture);
    if iso.architecture.is_some() && iso.architecture != own {
        return refuse("The ISO is for another architecture than that of the server.");
    }
    Ok(iso)
}

/// With nothing in the drive there is nothing to wait for.
pub(super) fn detach(project: &mut Project, call: &Call<'_>) -> Answered {
    let id = work::ready(project, call)?;
    let undertaking = Undertaking::on("detach_iso", Kind::Server, id);
    if project.servers.get(id)?.iso.is_some() {
        let effect = Effect::Disc { server: id, iso: None };
        return Ok(project.undertake(call.now, undertaking.effect(effect)));
    }
    let begun = project.begin(call.now, undertaking);
    project.end_action(call.now, begun.id);
    Ok(project.answer(begun))
}

pub(super) fn settle(project: &mut Project, id: u64, iso: Option<String>) {
    if let Some(server) = project.servers.find_mut(id) {
        server.iso = iso;
    }
}
