//! Which events to show beside those that convict: a few that are near, and rather those that name the same thing. And what the
//! subject wrote about then.

use std::collections::BTreeSet;
use std::time::Duration;

use mock_clock::Time;

use super::notes::Notes;
use crate::history::{Event, History, What};

/// What the subject wrote is shown if it is not further away.
const NEAR: Duration = Duration::from_secs(60);

/// The indices of at most `count` events around these, in order.
pub(super) fn around(history: &History, notes: &Notes, evidence: &[usize], count: usize) -> Vec<usize> {
    let (named, Some(centre)) = about(history, evidence) else { return Vec::new() };
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

/// The indices of at most `count` lines that the subject wrote around these events, in order.
pub(super) fn written(history: &History, evidence: &[usize], count: usize) -> Vec<usize> {
    let (named, Some(centre)) = about(history, evidence) else { return Vec::new() };
    let near = history.events.iter().enumerate().filter_map(|(index, event)| {
        let What::Log(log) = &event.what else { return None };
        let away = if event.at > centre { event.at - centre } else { centre - event.at };
        let other = !named.iter().any(|name| log.line.contains(name));
        (away <= NEAR).then_some((other, away, index))
    });
    let mut near: Vec<(bool, Duration, usize)> = near.collect();
    near.sort_unstable();
    let mut chosen: Vec<usize> = near.into_iter().take(count).map(|(_, _, event)| event).collect();
    chosen.sort_unstable();
    chosen
}

/// What convicting events are about, and when the last of them was.
fn about<'a>(history: &'a History, evidence: &[usize]) -> (BTreeSet<&'a str>, Option<Time>) {
    let events = || evidence.iter().filter_map(|event| history.events.get(*event));
    (events().filter_map(name).collect(), events().map(|event| event.at).max())
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
