//! The routes of volumes themselves: list, get, create, update, resize, delete. Attaching them is next door.

use serde_json::json;

use crate::action::{Undertaking, action_routes};
use crate::call::{Answer, Answered, Body, Call, IdOrName, Route, Wrong, change, list, look};
use crate::project::{Project, quota};
use crate::resource::shelf::Labels;
use crate::resource::volume::{Effect, Volume, attach, show::show};
use crate::resource::{Kind, offer, upkeep};

pub(crate) const ROUTES: &[Route] = &[
    look("/volumes", all),
    look("/volumes/{id}", one),
    change("POST", "/volumes", create),
    change("PUT", "/volumes/{id}", update),
    change("DELETE", "/volumes/{id}", delete),
    change("POST", "/volumes/{id}/actions/attach", attach::attach_to),
    change("POST", "/volumes/{id}/actions/detach", attach::detach),
    change("POST", "/volumes/{id}/actions/resize", resize),
    change("POST", "/volumes/{id}/actions/change_protection", change_protection),
];

pub(crate) const ACTIONS: [Route; 4] = action_routes!("/volumes", Volume);

/// How small and how large one can be.
const SIZE_GB: (u64, u64) = (10, 10_240);
const LONGEST_NAME: usize = 64;

fn all(project: &Project, call: &Call<'_>) -> Answered {
    let wanted = |volume: &Volume| call.query.wants("status", volume.status());
    list(call, "volumes", &project.volumes, wanted, |volume| show(project, volume))
}

fn one(project: &Project, call: &Call<'_>) -> Answered {
    Ok(Answer::ok(json!({"volume": show(project, project.volumes.get(call.id())?)})))
}

/// What a body asks for.
struct Wish {
    name: String,
    labels: Labels,
    size_gb: u64,
    location: Option<IdOrName>,
    server: Option<u64>,
    automount: bool,
    format: Option<&'static str>,
}

fn create(project: &mut Project, call: &Call<'_>) -> Answered {
    let wish = call.asked(read)?;
    project.volumes.free_name(&wish.name, None)?;
    let location = place(project, &wish)?;
    quota::volumes(project)?;
    project.volume_space(call.now, &location)?;
    let head = project.volumes.head(call.now, wish.name, wish.labels);
    let format = wish.format.map(str::to_owned);
    let id = project.volumes.put(Volume {
        head,
        size_gb: wish.size_gb,
        location,
        server: None,
        format,
        available: false,
    });
    project.opened(call, Kind::Volume, id);
    let created = Undertaking::on("create_volume", Kind::Volume, id).effect(Effect::Created { id });
    let created = project.begin(call.now, created);
    let next = wish.server.map(|server| attach(project, call.now, id, server, wish.automount, created.ends));
    Ok(Answer::created(json!({
        "volume": show(project, project.volumes.get(id)?),
        "action": project.action(created),
        "next_actions": next.map(|next| project.action(next)).into_iter().collect::<Vec<_>>(),
    })))
}

fn read(body: &mut Body) -> Wish {
    let wish = Wish {
        name: body.required("name", name),
        labels: body.labels().unwrap_or_default(),
        size_gb: body.required("size", size),
        location: body.id_or_name("location"),
        server: body.id("server"),
        automount: body.flag("automount").unwrap_or(false),
        format: body.word("format", &[("ext4", "ext4"), ("xfs", "xfs")]),
    };
    if wish.location.is_none() && wish.server.is_none() {
        body.wrong("location", "Missing data for required field.");
    }
    if wish.automount && wish.server.is_none() {
        body.wrong("automount", "Must not be set without a server.");
    }
    wish
}

fn size(body: &mut Body, field: &str) -> Option<u64> {
    body.number(field, SIZE_GB.0, SIZE_GB.1)
}

/// Letters, digits, dashes, underscores and dots, with a letter or digit at either end.
fn name(body: &mut Body, field: &str) -> Option<String> {
    let name = body.text(field)?;
    let inside = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let end = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    if name.len() > LONGEST_NAME {
        body.wrong(field, format!("Longer than maximum length {LONGEST_NAME}."));
    } else if !name.bytes().all(inside) || !end(name.bytes().next()) || !end(name.bytes().last()) {
        body.wrong(
            field,
            "Must consist of letters, digits, dashes, underscores and dots, and begin and end with a letter or digit.",
        );
    }
    Some(name)
}

/// Where it shall be, which is where its server is if it is to have one.
fn place(project: &Project, wish: &Wish) -> Result<String, Wrong> {
    let named = match &wish.location {
        Some(wanted) => Some(offer::location(project, wanted, "location")?.name),
        None => None,
    };
    let Some(server) = wish.server else { return Ok(named.unwrap_or_default()) };
    let location = attach::takes(project, server)?;
    attach::same_location(named.as_deref().unwrap_or(location), location)?;
    Ok(location.to_owned())
}

fn update(project: &mut Project, call: &Call<'_>) -> Answered {
    upkeep::rename(project, call, |project| &mut project.volumes, name)?;
    one(project, call)
}

fn delete(project: &mut Project, call: &Call<'_>) -> Answered {
    let id = call.id();
    let volume = project.volumes.get(id)?;
    upkeep::deletable(volume)?;
    if volume.server.is_some() {
        let message = format!("volume with ID '{id}' is still attached to a server");
        return Err(Wrong::new("service_error", message));
    }
    project.unlocked(Kind::Volume, id)?;
    project.closed(call, Kind::Volume, id);
    project.volumes.take(id);
    Ok(Answer::nothing())
}

/// It can grow, and not shrink.
fn resize(project: &mut Project, call: &Call<'_>) -> Answered {
    let id = call.id();
    let now_gb = project.volumes.get(id)?.size_gb;
    let size_gb = call.asked(|body| {
        let size_gb = body.required("size", size);
        if (SIZE_GB.0..=now_gb).contains(&size_gb) {
            body.wrong("size", format!("Must be greater than the current size of {now_gb}."));
        }
        size_gb
    })?;
    project.unlocked(Kind::Volume, id)?;
    let undertaking =
        Undertaking::on("resize_volume", Kind::Volume, id).effect(Effect::Resized { id, size_gb });
    Ok(project.undertake(call.now, undertaking))
}

fn change_protection(project: &mut Project, call: &Call<'_>) -> Answered {
    upkeep::change_protection(project, call, |project| &mut project.volumes)
}
