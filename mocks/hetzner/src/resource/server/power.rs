//! Switching servers on and off.

use crate::action::Undertaking;
use crate::call::{Answered, Call, Wrong};
use crate::project::Project;
use crate::resource::Kind;
use crate::resource::server::{Effect, Status, become_status, work};

pub(super) fn on(project: &mut Project, call: &Call<'_>) -> Answered {
    switch(project, call, "start_server", |is| match is {
        Status::Off => Some((Status::Starting, Status::Running)),
        _ => None,
    })
}

/// The plug is pulled.
pub(super) fn off(project: &mut Project, call: &Call<'_>) -> Answered {
    switch(project, call, "stop_server", |is| match is {
        Status::Off => None,
        _ => Some((Status::Stopping, Status::Off)),
    })
}

/// The system is asked to end. The action ends when it was asked; the server goes off when the system is done.
pub(super) fn shutdown(project: &mut Project, call: &Call<'_>) -> Answered {
    switch(project, call, "shutdown_server", |is| match is {
        Status::Running => Some((Status::Running, Status::Off)),
        _ => None,
    })
}

pub(super) fn reboot(project: &mut Project, call: &Call<'_>) -> Answered {
    again(project, call, "reboot_server")
}

pub(super) fn reset(project: &mut Project, call: &Call<'_>) -> Answered {
    again(project, call, "reset_server")
}

/// Begins the change that fits what the server does now: what it is meanwhile, and what at the end. None is no change.
fn switch(
    project: &mut Project,
    call: &Call<'_>,
    command: &'static str,
    change: impl FnOnce(Status) -> Option<(Status, Status)>,
) -> Answered {
    let id = work::ready(project, call)?;
    let before = project.servers.get(id)?.status;
    let mut undertaking = Undertaking::on(command, Kind::Server, id);
    if let Some((meanwhile, status)) = change(before) {
        become_status(project, call.now, id, meanwhile);
        undertaking = undertaking.effect(Effect::Becomes { server: id, status, otherwise: before });
    }
    Ok(project.undertake(call.now, undertaking))
}

fn again(project: &mut Project, call: &Call<'_>, command: &'static str) -> Answered {
    let id = work::ready(project, call)?;
    let before = project.servers.get(id)?.status;
    if before == Status::Off {
        return Err(Wrong::new("invalid_input", "server is off"));
    }
    let effect = Effect::Becomes { server: id, status: Status::Running, otherwise: before };
    Ok(project.undertake(call.now, Undertaking::on(command, Kind::Server, id).effect(effect)))
}
