//! Which events to show beside those that convict: a few that are near, and rather those that name the same thing.

use std::collections::BTreeSet;
use std::time::Duration;

use super::notes::Notes;
use crate::history::{Event, History, What};

/// The indices of at most `count` events around these, in order.
pub(super) fn around(history: &History, notes: &Notes, evidence: &[usize], count: usize) -> Vec<usize> {
    let named: BTreeSet<&str> =
        evidence.iter().filter_map(|event| name(history.events.get(*event)?)).collect();
    let Some(centre) =
        evidence.iter().filter_map(|event| history.events.get(*event)).map(|event| event.at).max()
    else {
        return Vec::new();
    };
    let mut near: Vec<(bool, Duration, usize)> = notes
        .worth_telling()
        .filter(|event| !evidence.contains(event))
        .filter_map(|index| {
            let event = history.events.get(index)?;
            let other = !name(event).is_some_and(|name| named.contains(name));
            let away = if event.at > centre { event.at - centre } else { centre - event.at };
            Some((other, away, index))
        })
        .collect();
    near.sort_unstable();
    let mut chosen: Vec<usize> = near.into_iter().take(count).map(|(_, _, event)| event).collect();
    chosen.sort_unstable();
    chosen
}

/// What an event is about.
fn name(event: &Event) -> Option<&str> {
    match &event.what {
        What::Object(object) => Some(&object.name),
        What::Server(server) => Some(&server.name),
        What::Fault(fault) => Some(&fault.name),
        What::Call(call) => call
            .request
            .as_ref()
            .and_then(|body| body["name"].as_str())
            .or_else(|| call.path.trim_end_matches("/eviction").rsplit('/').next()),
        _ => None,
    }
}
