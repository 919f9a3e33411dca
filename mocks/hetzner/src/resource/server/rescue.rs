//! Ways into a server that does not let one in: the rescue system, a new password, its console.

use std::time::Duration;

use mock_clock::Time;
use serde_json::json;

use crate::action::Undertaking;
use crate::call::{Answered, Call, Wrong};
use crate::project::{Happening, Project};
use crate::resource::server::{Effect, Status, work};
use crate::resource::{Kind, ssh_key};

/// How long the rescue system waits to be booted.
const WAITS: Duration = Duration::from_secs(60 * 60);

pub(super) fn enable(project: &mut Project, call: &Call<'_>) -> Answered {
    let (id, keys) = work::asked(project, call, |body| {
        body.word("type", &[("linux64", ())]);
        body.ids_or_names("ssh_keys").unwrap_or_default()
    })?;
    for key in &keys {
        ssh_key::resolve(project, key)?;
    }
    let password = project.chance.word(20);
    let effect = Effect::Rescue { server: id, on: true };
    let undertaking = Undertaking::on("enable_rescue", Kind::Server, id).effect(effect);
    Ok(project.undertake_with(call.now, undertaking, [("root_password", json!(password))]))
}

pub(super) fn disable(project: &mut Project, call: &Call<'_>) -> Answered {
    let id = work::ready(project, call)?;
    let effect = Effect::Rescue { server: id, on: false };
    Ok(project.undertake(call.now, Undertaking::on("disable_rescue", Kind::Server, id).effect(effect)))
}

/// The next boot leads into the rescue system, or no longer.
pub(super) fn settle(project: &mut Project, now: Time, id: u64, on: bool) {
    let Some(server) = project.servers.find_mut(id) else { return };
    server.rescue_until = on.then(|| now + WAITS);
    if on {
        project.timeline.plan(now + WAITS, Happening::Server(Effect::RescueLapses { server: id }));
    }
}

/// Nobody booted it for too long, unless it was enabled anew meanwhile.
pub(super) fn lapse(project: &mut Project, now: Time, id: u64) {
    if let Some(server) = project.servers.find_mut(id) {
        server.rescue_until = server.rescue_until.filter(|until| *until > now);
    }
}

/// Asks the system on the disk for a new password, so that one has to run.
pub(super) fn reset_password(project: &mut Project, call: &Call<'_>) -> Answered {
    let id = work::ready(project, call)?;
    if project.servers.get(id)?.status != Status::Running {
        return Err(Wrong::new("invalid_input", "server is not running"));
    }
    let password = project.chance.word(20);
    let undertaking = Undertaking::on("reset_password", Kind::Server, id);
    Ok(project.undertake_with(call.now, undertaking, [("root_password", json!(password))]))
}

/// A place to connect to. Nothing listens there.
pub(super) fn request_console(project: &mut Project, call: &Call<'_>) -> Answered {
    let id = work::ready(project, call)?;
    let (token, password) = (project.chance.word(32), project.chance.word(32));
    let url = format!("wss://console.hetzner.cloud/?server_id={id}&token={token}");
    let undertaking = Undertaking::on("request_console", Kind::Server, id).shared();
    Ok(project.undertake_with(
        call.now,
        undertaking,
        [("wss_url", json!(url)), ("password", json!(password))],
    ))
}
