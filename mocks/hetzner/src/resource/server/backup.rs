//! Images of a server's disk: whether backups are kept of it, and images made by hand.
//!
//! The backups that the cloud makes by itself every day are not simulated.

use mock_clock::Time;
use serde_json::json;

use crate::action::Undertaking;
use crate::call::{Answered, Call, Wrong};
use crate::project::Project;
use crate::resource::Kind;
use crate::resource::image::{self, ImageKind};
use crate::resource::server::{Effect, work};

/// The hours in which backups are made; the cloud chooses.
const WINDOWS: [&str; 6] = ["22-02", "02-06", "06-10", "10-14", "14-18", "18-22"];

pub(super) fn enable(project: &mut Project, call: &Call<'_>) -> Answered {
    // Once the client could choose the window; it may still say so, without effect.
    let (id, ()) = work::asked(project, call, |body| body.ignore("backup_window"))?;
    let chosen = WINDOWS.iter().cycle().nth(usize::try_from(id % 6).unwrap_or(0)).copied();
    let before = project.servers.get(id)?.backup_window.clone();
    let window = before.or_else(|| chosen.map(str::to_owned));
    let effect = Effect::Backups { server: id, window };
    Ok(project.undertake(call.now, Undertaking::on("enable_backup", Kind::Server, id).effect(effect)))
}

/// The backups that there are go at once.
pub(super) fn disable(project: &mut Project, call: &Call<'_>) -> Answered {
    let id = work::ready(project, call)?;
    image::forget(project, call, id);
    let effect = Effect::Backups { server: id, window: None };
    Ok(project.undertake(call.now, Undertaking::on("disable_backup", Kind::Server, id).effect(effect)))
}

/// Backups are made from now on, or no longer.
pub(super) fn settle(project: &mut Project, now: Time, id: u64, window: Option<String>) {
    let Some(server) = project.servers.find_mut(id) else { return };
    // Each price has its own started hour, so that only a change may be told.
    let priced = server.backup_window.is_some() != window.is_some();
    server.backup_window = window;
    if priced {
        project.repriced(now, Kind::Server, id);
    }
}

pub(super) fn create_image(project: &mut Project, call: &Call<'_>) -> Answered {
    const KINDS: [(&str, ImageKind); 2] = [("snapshot", ImageKind::Snapshot), ("backup", ImageKind::Backup)];
    let (id, (kind, description, labels)) = work::asked(project, call, |body| {
        let kind = body.word("type", &KINDS).unwrap_or(ImageKind::Snapshot);
        (kind, body.text("description"), body.labels().unwrap_or_default())
    })?;
    let server = project.servers.get(id)?;
    if kind == ImageKind::Backup && server.backup_window.is_none() {
        return Err(Wrong::invalid("type", "Backups are not enabled for the server."));
    }
    let image = image::of_server(project, call, id, kind, description, labels)?;
    let shown = project.images.find(image).map(|it| image::show(project, it));
    let undertaking = Undertaking::on("create_image", Kind::Server, id).with(Kind::Image, image);
    let undertaking = undertaking.effect(image::Effect::Written { image });
    Ok(project.undertake_with(call.now, undertaking, [("image", json!(shown))]))
}
