//! The events as a table that can be searched. What convicts is always in it, with the whole event to open.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::pins::Pins;
use crate::history::{Event, History, What};
use crate::report::moment::{of_event, since_start};
use crate::report::notes::Notes;

/// So many rows at most.
const ROWS: usize = 3000;
/// So many events with all they say, each of so many characters at most.
const WHOLE: usize = 200;
const CHARACTERS: usize = 6000;

pub(super) fn table(history: &History, notes: &Notes<'_>, pins: &Pins<'_>) -> Markup {
    let shown = chosen(history, notes, pins);
    let mut whole = 0;
    html! {
        details.events #events open[shown.len() <= 300] {
            summary { "Events (" (shown.len()) " of " (history.events.len()) ")" }
            p.hint {
                "Changes, calls that change something or fail, and whatever convicts. "
                "The number is the index of the event in the history."
            }
            label.filter { "Show only rows with " input #filter type="search" placeholder="small-3, POST, fault …"; }
            " " output #found {}
            table {
                thead { tr { th { "#" } th { "time" } th { "what" } th { "event" } } }
                tbody {
                    @for event in shown {
                        @let convicts = pins.has(event);
                        @let open = { whole += usize::from(convicts); convicts && whole <= WHOLE };
                        tr id=(format!("e{event}")) .convicts[convicts] {
                            td { (event) }
                            td { "+" (since_start(of_event(history, event).unwrap_or_default())) }
                            td { (history.events.get(event).map_or("", kind)) }
                            td {
                                @for number in pins.numbers(event) {
                                    a.pin href=(format!("#proof-{number}")) { (number) } " "
                                }
                                (notes.says(event))
                                @if open { (raw(history, event)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn raw(history: &History, event: usize) -> Markup {
    let text = history.events.get(event).and_then(|event| serde_json::to_string_pretty(event).ok());
    let text = text.unwrap_or_default();
    let cut: String = text.chars().take(CHARACTERS).collect();
    html! { details { summary { "whole" } pre { (cut) @if cut.len() < text.len() { "\n…" } } } }
}

/// What convicts, then what matters most, as far as there is room; in order.
fn chosen(history: &History, notes: &Notes<'_>, pins: &Pins<'_>) -> BTreeSet<usize> {
    let mut chosen: BTreeSet<usize> = pins.events().filter(|event| *event < history.events.len()).collect();
    let mut worth: Vec<(u8, usize)> =
        notes.worth_telling().filter_map(|event| Some((weight(history.events.get(event)?), event))).collect();
    worth.sort_unstable();
    for (_, event) in worth {
        if chosen.len() >= ROWS {
            break;
        }
        chosen.insert(event);
    }
    chosen
}

/// The less, the sooner it is shown.
fn weight(event: &Event) -> u8 {
    match &event.what {
        What::Object(object) if object.kind == "Pod" => 3,
        What::Object(_) => 2,
        What::Call(_) | What::Server(_) => 1,
        _ => 0,
    }
}

fn kind(event: &Event) -> &str {
    match &event.what {
        What::Phase(_) => "phase",
        What::Step(_) => "step",
        What::Object(object) => &object.kind,
        What::Server(_) => "server",
        What::Call(_) => "call",
        What::Fault(_) => "fault",
        What::Subject(_) => "subject",
        What::Log(_) => "log",
        What::Lag(_) => "lag",
        What::Bill(_) => "bill",
        What::Account(_) => "account",
        What::Unsteady(_) => "unsteady",
        What::Trouble(_) => "trouble",
        What::End => "end",
    }
}
