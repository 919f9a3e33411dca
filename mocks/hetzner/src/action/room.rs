//! The routes of actions: by id, by ids, and those of a kind of things or of one of them.

use std::cmp::Ordering;

use serde_json::{Value, json};

use crate::action::Action;
use crate::call::{Answer, Answered, Call, Route, Wrong, look, paged};
use crate::project::Project;
use crate::resource::Kind;

pub(crate) const ROUTES: &[Route] = &[look("/actions", by_ids), look("/actions/{id}", by_id)];

const SORTABLE: [&str; 5] = ["id", "command", "status", "started", "finished"];

/// Those asked for, whole: this list has no pages. Who is not there is left out.
fn by_ids(project: &Project, call: &Call<'_>) -> Answered {
    let ids = call.query.ids("id")?;
    if ids.is_empty() {
        return Err(Wrong::deprecated_endpoint(
            "Listing all actions is no longer possible; ask for actions by their IDs",
            "https://docs.hetzner.cloud/changelog#2025-01-30-listing-arbitrary-actions-in-the-actions-list-endpoint-is-removed",
        ));
    }
    let mut all: Vec<&Action> = ids.iter().filter_map(|id| project.actions.find(*id)).collect();
    all.sort_by_key(|action| action.id);
    all.dedup_by_key(|action| action.id);
    Ok(Answer::ok(json!({"actions": all.into_iter().map(Action::show).collect::<Vec<Value>>()})))
}

fn by_id(project: &Project, call: &Call<'_>) -> Answered {
    Ok(Answer::ok(json!({"action": project.actions.get(call.id())?.show()})))
}

/// The routes of a kind's actions, to stand among the routes of its room.
macro_rules! action_routes {
    ($root:literal, $kind:ident) => {
        [
            $crate::call::look(concat!($root, "/actions"), |project, call| {
                $crate::action::of(project, call, $crate::resource::Kind::$kind, None)
            }),
            $crate::call::look(concat!($root, "/actions/{action}"), |project, call| {
                $crate::action::one_of(project, $crate::resource::Kind::$kind, None, call.id())
            }),
            $crate::call::look(concat!($root, "/{id}/actions"), |project, call| {
                $crate::action::of(project, call, $crate::resource::Kind::$kind, Some(call.id()))
            }),
            $crate::call::look(concat!($root, "/{id}/actions/{action}"), |project, call| {
                $crate::action::one_of(
                    project,
                    $crate::resource::Kind::$kind,
                    Some(call.id()),
                    call.second_id(),
                )
            }),
        ]
    };
}
pub(crate) use action_routes;

/// The actions of all things of a kind, or of one of them, in pages.
pub(crate) fn of(project: &Project, call: &Call<'_>, kind: Kind, id: Option<u64>) -> Answered {
    let wanted = |action: &&Action| belongs(action, kind, id) && call.query.wants("status", action.status());
    let asked = call.query.ids("id")?;
    let all =
        project.actions.all().filter(wanted).filter(|action| asked.is_empty() || asked.contains(&action.id));
    paged(call, "actions", all.collect(), &SORTABLE, compare, Action::show)
}

/// One action, if it is of that kind or of that thing.
pub(crate) fn one_of(project: &Project, kind: Kind, id: Option<u64>, action: u64) -> Answered {
    let found = project.actions.get(action)?;
    if !belongs(found, kind, id) {
        return Err(Wrong::not_found(Kind::Action.word(), action));
    }
    Ok(Answer::ok(json!({"action": found.show()})))
}

fn belongs(action: &Action, kind: Kind, id: Option<u64>) -> bool {
    match id {
        Some(id) => action.concerns(kind, id),
        None => action.resources.iter().any(|(known, _)| *known == kind),
    }
}

fn compare(a: &Action, b: &Action, field: &str) -> Ordering {
    match field {
        "command" => a.command.cmp(&b.command),
        "status" => a.status().cmp(b.status()),
        "started" => a.started.cmp(&b.started),
        "finished" => a.finished.cmp(&b.finished),
        _ => a.id.cmp(&b.id),
    }
}
