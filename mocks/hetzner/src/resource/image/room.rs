//! The routes of images: list, get, describe, protect, delete. They are made next to servers.

use serde_json::json;

use crate::action::action_routes;
use crate::call::{Answer, Answered, Call, Route, Wrong, change, list, look};
use crate::project::Project;
use crate::resource::image::{Image, ImageKind, made, show};
use crate::resource::{Kind, upkeep};

pub(crate) const ROUTES: &[Route] = &[
    look("/images", all),
    look("/images/{id}", one),
    change("PUT", "/images/{id}", update),
    change("DELETE", "/images/{id}", delete),
    change("POST", "/images/{id}/actions/change_protection", change_protection),
];

pub(crate) const ACTIONS: [Route; 4] = action_routes!("/images", Image);

fn all(project: &Project, call: &Call<'_>) -> Answered {
    let bound_to = call.query.ids("bound_to")?;
    // Clients in Python write it with a capital.
    let deprecated =
        call.query.first("include_deprecated").is_some_and(|flag| flag.eq_ignore_ascii_case("true"));
    let wanted = |image: &Image| {
        !image.is_over(call.now)
            && (deprecated || !image.is_deprecated(call.now))
            && (bound_to.is_empty() || image.bound_to.is_some_and(|id| bound_to.contains(&id)))
            && call.query.wants("type", image.kind.word())
            && call.query.wants("status", image.status())
            && call.query.wants("architecture", image.architecture.as_str())
    };
    list(call, "images", &project.images, wanted, |image| show(project, image))
}

fn one(project: &Project, call: &Call<'_>) -> Answered {
    Ok(Answer::ok(json!({"image": show(project, project.images.get(call.id())?)})))
}

/// A backup may become a snapshot, which stays when its server goes. There is no way back.
fn update(project: &mut Project, call: &Call<'_>) -> Answered {
    let image = own(project, call)?;
    let (description, labels, kind) = call.asked(|body| {
        let kind = body.word("type", &[("snapshot", ImageKind::Snapshot)]);
        (body.text("description"), body.labels(), kind)
    })?;
    image.description = description.unwrap_or_else(|| std::mem::take(&mut image.description));
    image.head.labels = labels.unwrap_or_else(|| std::mem::take(&mut image.head.labels));
    if let Some(kind) = kind.filter(|kind| *kind != image.kind) {
        image.kind = kind;
        image.bound_to = None;
        project.repriced(call.now, Kind::Image, call.id());
    }
    project.renamed(Kind::Image, call.id());
    one(project, call)
}

fn delete(project: &mut Project, call: &Call<'_>) -> Answered {
    let image = own(project, call)?;
    upkeep::deletable(image)?;
    if !image.available {
        return Err(Wrong::locked(Kind::Image.word()));
    }
    project.closed(call, Kind::Image, call.id());
    made::take(project, call.id());
    Ok(Answer::nothing())
}

fn change_protection(project: &mut Project, call: &Call<'_>) -> Answered {
    if project.images.get(call.id())?.kind != ImageKind::Snapshot {
        return Err(Wrong::new("unsupported_error", "only snapshots can be protected"));
    }
    upkeep::change_protection(project, call, |project| &mut project.images)
}

/// The image of the path, if it is not one that everybody has.
fn own<'a>(project: &'a mut Project, call: &Call<'_>) -> Result<&'a mut Image, Wrong> {
    let image = project.images.get_mut(call.id())?;
    if image.kind.is_own() {
        return Ok(image);
    }
    Err(Wrong::new("unsupported_error", "only snapshots and backups can be changed"))
}
