//! The subject's calls that change something, and those that fail: ticks, several at a place as one.

use std::collections::BTreeMap;
use std::time::Duration;

use super::lane::{Band, Mark, Row};
use super::pins::Pins;
use super::scale::Scale;
use crate::history::{CallEvent, History, What};
use crate::report::moment::since_start;
use crate::report::notes::{changes, fails};
use crate::terms::Api;

/// Ticks that fall into the same part of the page are one.
const PARTS: u32 = 500;

/// The rows, in their order.
const ROWS: [(&str, &str); 6] = [
    ("buys", "POST /servers"),
    ("gives back", "DELETE /servers/…"),
    ("evicts", "POST …/eviction"),
    ("writes nodes", "PUT, PATCH or DELETE of nodes"),
    ("other changes", "any other call that changes something"),
    ("failed reads", "reads and watches that failed"),
];

/// What fell into one part of the page.
#[derive(Default)]
struct Tick {
    at: Duration,
    calls: usize,
    failed: usize,
    first: String,
}

fn row_of(call: &CallEvent) -> Option<usize> {
    let node = call.path.starts_with("/api/v1/nodes/");
    let server = call.path.rsplit_once('/').is_some_and(|(before, _)| before.ends_with("/servers"));
    match (call.to, call.method.as_str()) {
        _ if !changes(call) => fails(call).then_some(5),
        (Api::Cloud, "POST") if call.path.ends_with("/servers") => Some(0),
        (Api::Cloud, "DELETE") if server => Some(1),
        (Api::Kubernetes, "POST") if call.path.ends_with("/eviction") => Some(2),
        (Api::Kubernetes, "PUT" | "PATCH" | "DELETE") if node => Some(3),
        _ => Some(4),
    }
}

pub(super) fn band(history: &History, scale: Scale, pins: &Pins<'_>) -> Band {
    let mut ticks: BTreeMap<(usize, u32), Tick> = BTreeMap::new();
    let mut rows: Vec<Row> = ROWS
        .iter()
        .map(|(label, hint)| Row { label: (*label).into(), hint: (*hint).into(), ..Row::default() })
        .collect();
    for (event, happened) in history.events.iter().enumerate() {
        let What::Call(call) = &happened.what else { continue };
        let Some(row) = row_of(call) else { continue };
        let at = happened.at - history.header.began;
        let tick = ticks.entry((row, scale.part(at, PARTS))).or_default();
        if tick.calls == 0 {
            tick.at = at;
            tick.first = format!("{} {}: {}", call.method, call.path, call.status);
        }
        tick.calls += 1;
        tick.failed += usize::from(fails(call));
        rows[row].marks.extend(pins.marks([event]));
    }
    let mut total = 0;
    for ((row, _), tick) in ticks {
        total += tick.calls;
        rows[row].marks.push(mark(&tick));
    }
    rows.retain(|row| !row.marks.is_empty());
    let legend = vec![("glyph done", "done"), ("glyph refused", "refused, failed or lost")];
    Band { id: "calls", title: format!("Calls of the subject ({total})"), rows, legend }
}

fn mark(tick: &Tick) -> Mark {
    let more = if tick.calls > 1 { format!(" and {} more here", tick.calls - 1) } else { String::new() };
    let failed = if tick.failed > 0 { format!(", {} failed", tick.failed) } else { String::new() };
    Mark {
        at: tick.at,
        class: if tick.failed > 0 { "refused" } else { "done" },
        text: String::new(),
        title: format!("+{}: {}{more}{failed}", since_start(tick.at), tick.first),
        link: None,
    }
}
