//! What there is and was: servers, costs, who made and deleted what.

use std::fmt::Write as _;

use mock_clock::Time;
use serde::Serialize;
use serde_json::json;

use crate::admin::Visit;
use crate::admin::said::{Refused, Said};
use crate::ledger::Entry;
use crate::resource::Kind;

/// Something that was made or deleted.
#[derive(Serialize)]
struct Event<'a> {
    at: Time,
    what: &'static str,
    kind: Kind,
    id: u64,
    name: &'a str,
    by: &'a str,
}

pub(super) fn servers(visit: &mut Visit<'_>) -> Result<Said, Refused> {
    let all: Vec<_> = visit.engine.servers().collect();
    if !visit.wants_text()? {
        return Ok(Said::json(&json!({"servers": all})));
    }
    let mut text = format!("{:<12} {:<32} {:<13} {:<7} {:<5} since\n", "id", "name", "status", "type", "in");
    for it in all {
        let status = it.status.word();
        let _ = writeln!(
            text,
            "{:<12} {:<32} {status:<13} {:<7} {:<5} {:.0}",
            it.id, it.name, it.server_type, it.location, it.since
        );
    }
    Ok(Said::text(text))
}

pub(super) fn ledger(visit: &mut Visit<'_>) -> Result<Said, Refused> {
    let (after, until) = (visit.moment("after")?, visit.moment("until")?);
    let bill = visit.engine.project.ledger.bill(after, until.unwrap_or(visit.now));
    Ok(if visit.wants_text()? { Said::text(format!("{bill:#}")) } else { Said::json(&bill) })
}

pub(super) fn journal(visit: &mut Visit<'_>) -> Result<Said, Refused> {
    let mut all: Vec<Event<'_>> = visit.engine.project.ledger.entries().flat_map(events).collect();
    all.sort_by_key(|event| event.at);
    if !visit.wants_text()? {
        return Ok(Said::json(&json!({"journal": all})));
    }
    let mut text = String::new();
    for Event { at, what, kind, id, name, by } in all {
        let _ = writeln!(text, "{at:.3} {what} {kind} {id} {name} ({by})");
    }
    Ok(Said::text(text))
}

fn events(entry: &Entry) -> impl Iterator<Item = Event<'_>> {
    let event = |at, what, by| Event { at, what, kind: entry.kind, id: entry.id, name: &entry.name, by };
    let deleted = entry.until.map(|at| event(at, "deleted", entry.deleted_by.as_deref().unwrap_or_default()));
    [event(entry.from, "created", entry.created_by.as_str())].into_iter().chain(deleted)
}
