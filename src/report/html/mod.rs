//! A run as one page: the timeline people want to look at. It needs nothing but itself: no script, style or font from
//! elsewhere. Its size is bounded: what is too much to be drawn one by one is drawn as counts.
//!
//! Places are parts of a hundred of the width, so that the page is any width, zooms and prints without being drawn again.
//! Whatever a colour says, a shape or a word says too.

mod calls;
mod chart;
mod course;
mod events;
mod fleet;
mod lane;
mod pins;
mod scale;
mod verdicts;

use std::time::Duration;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::moment::since_start;
use super::notes::{Notes, euros};
use super::telling::{Standing, Telling};
use super::text;
use crate::history::History;
use lane::Band;
use pins::Pins;
use scale::Scale;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// The page of a run.
pub fn page(history: &History, telling: &Telling) -> String {
    let (scale, pins, notes) = (Scale::of(history), Pins::of(telling), Notes::of(history));
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (telling.standing.word()) ": " (telling.title) " – scaleproof" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                (heading(history, telling))
                main {
                    (verdicts::convictions(telling, &pins))
                    (timeline(history, scale, &pins))
                    (verdicts::table(telling))
                    (events::table(history, &notes, &pins))
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

fn heading(history: &History, telling: &Telling) -> Markup {
    let standing = telling.standing;
    let totals = telling.totals();
    html! {
        header {
            h1 {
                span.badge.(standing.class()) { (verdicts::mark(standing)) " " (standing.word()) }
                " " (telling.title)
            }
            p.counts {
                b { (totals.held) } " held, " b { (totals.violated) } " violated, " b { (totals.unknown) } " unknown"
                @if totals.not_applicable > 0 { ", " b { (totals.not_applicable) } " not applicable" }
            }
            dl { @for (name, value) in facts(history, telling) { div { dt { (name) } dd { (value) } } } }
            p.repeat { span { "repeat" } code { (telling.repeat) } }
            @if let Some(why) = &telling.cut_short { p.warning { "This history is not whole: " (why) } }
            @for attempt in &telling.attempts { p.warning { "An attempt before was given up: " (text::given_up(attempt)) } }
            @for late in telling.overdue.iter().filter(|late| late.may_fail) { p.warning { (text::overdue(late)) } }
            @for deviation in &telling.deviations { p.warning { "Otherwise than documented: " (deviation) } }
        }
    }
}

fn facts(history: &History, telling: &Telling) -> Vec<(&'static str, String)> {
    let span = |ms| since_start(Duration::from_millis(ms));
    let version = telling.version.map(|version| format!(" {version}")).unwrap_or_default();
    let mut facts = vec![
        ("scenario", telling.scenario.clone()),
        ("subject", format!("{}{version} ({})", telling.subject, telling.provider)),
        ("seed", telling.seed.to_string()),
        ("virtual time", format!("{} ({})", span(telling.lasted_ms), telling.time)),
        ("real time", span(telling.took_ms)),
        ("cluster", format!("{} {}", telling.cluster, history.header.cluster.version)),
    ];
    facts.extend(telling.account.as_ref().map(|account| ("servers cost", euros(account.cost_millis))));
    facts.extend(telling.history.clone().map(|path| ("history", path)));
    facts.retain(|(_, value)| !value.trim().is_empty());
    facts
}

fn timeline(history: &History, scale: Scale, pins: &Pins<'_>) -> Markup {
    let bands = [
        pins.band(scale),
        course::phases_and_steps(history, scale, pins),
        course::faults(history, scale, pins),
        fleet::pods_band(history, scale),
        fleet::nodes_band(history, scale, pins),
        fleet::servers_band(history, scale, pins),
        calls::band(history, scale, pins),
        course::subject(history, scale, pins),
    ];
    let shown = |band: &&Band| !band.rows.is_empty();
    html! {
        section.frame aria-label="Timeline" {
            div.tools {
                h2 #timeline { "Timeline" }
                button type="button" data-zoom="0.5" title="zoom out (-)" { "−" }
                button type="button" data-zoom="2" title="zoom in (+)" { "+" }
                button type="button" data-zoom="0" title="whole run (0)" { "whole run" }
                output #cursor { "point at the timeline, or focus it and use + − 0 and the arrow keys" }
            }
            div.timeline tabindex="0" style=(format!("--tick:{}", scale.left(scale.tick())))
                data-span-ms=(scale.end().as_millis()) {
                div.sheet {
                    div.row.axis {
                        span.label { "virtual time" }
                        div.lane {
                            @for at in scale.ticks() {
                                span style=(format!("left:{}", scale.left(at))) { (axis(at)) }
                            }
                        }
                    }
                    @for band in bands.iter().filter(shown) { (lane::band(band, scale)) }
                    div.lines aria-hidden="true" {
                        @for at in pins.moments(scale) { i style=(format!("left:{}", scale.left(at))) {} }
                        i #hair {}
                    }
                }
            }
        }
    }
}

/// A moment of the axis, without seconds that say nothing.
fn axis(at: Duration) -> String {
    let moment = since_start(at);
    moment.strip_suffix("m00s").map(|minutes| format!("{minutes}m")).unwrap_or(moment)
}

impl Standing {
    /// The class of the page's style for it.
    fn class(self) -> &'static str {
        match self {
            Standing::Held => "held",
            Standing::Convicted => "convicted",
            Standing::Violated => "violated",
            Standing::Unknown => "unknown",
            Standing::NotApplicable => "inapplicable",
        }
    }
}
