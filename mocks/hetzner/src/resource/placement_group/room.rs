//! The routes of placement groups. Servers come and go next door.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::call::{Answer, Answered, Call, Route, change, list, look};
use crate::project::Project;
use crate::resource::placement_group::{PlacementGroup, show};
use crate::resource::{Kind, upkeep};

pub(crate) const ROUTES: &[Route] = &[
    look("/placement_groups", all),
    look("/placement_groups/{id}", one),
    change("POST", "/placement_groups", create),
    change("PUT", "/placement_groups/{id}", update),
    change("DELETE", "/placement_groups/{id}", delete),
];

/// The only type there is.
const SPREAD: &str = "spread";

fn all(project: &Project, call: &Call<'_>) -> Answered {
    let wanted = |_: &PlacementGroup| call.query.wants("type", SPREAD);
    list(call, "placement_groups", &project.placement_groups, wanted, show)
}

fn one(project: &Project, call: &Call<'_>) -> Answered {
    Ok(Answer::ok(json!({"placement_group": show(project.placement_groups.get(call.id())?)})))
}

/// It is there at once, so no action is shown.
fn create(project: &mut Project, call: &Call<'_>) -> Answered {
    let (name, labels) = call.asked(|body| {
        body.required("type", |body, field| body.word(field, &[(SPREAD, ())]));
        (body.required("name", upkeep::name), body.labels().unwrap_or_default())
    })?;
    project.placement_groups.free_name(&name, None)?;
    let head = project.placement_groups.head(call.now, name, labels);
    let id = project.placement_groups.put(PlacementGroup { head, members: BTreeSet::new() });
    project.opened(call, Kind::PlacementGroup, id);
    Ok(Answer::created(json!({
        "placement_group": show(project.placement_groups.get(id)?),
        "action": Value::Null,
    })))
}

fn update(project: &mut Project, call: &Call<'_>) -> Answered {
    upkeep::rename(project, call, |project| &mut project.placement_groups, upkeep::name)?;
    one(project, call)
}

/// Its servers stay, in no group: the description of the API knows no reason to refuse.
fn delete(project: &mut Project, call: &Call<'_>) -> Answered {
    project.placement_groups.get(call.id())?;
    project.closed(call, Kind::PlacementGroup, call.id());
    project.placement_groups.take(call.id());
    for server in project.servers.all_mut().filter(|server| server.placement_group == Some(call.id())) {
        server.placement_group = None;
    }
    Ok(Answer::nothing())
}
