//! What was found out, on the page: what was violated with its proofs, and a table of all that was judged.

use std::time::Duration;

use maud::{Markup, html};

use super::pins::Pins;
use crate::report::moment::since_start;
use crate::report::telling::{Finding, Proof, Shown, Standing, Telling};

/// So many proofs of one expectation are open; the rest can be opened.
const PROOFS: usize = 3;
/// So many convicting events are listed for one proof.
const EVENTS: usize = 5;

/// What convicts, each proof with its number.
pub(super) fn convictions(telling: &Telling, pins: &Pins<'_>) -> Markup {
    let convicting = || telling.findings.iter().filter(|found| !found.proofs.is_empty());
    html! {
        @if convicting().next().is_some() {
            section.convictions {
                @for finding in convicting() { (conviction(finding, pins)) }
            }
        }
    }
}

fn conviction(finding: &Finding, pins: &Pins<'_>) -> Markup {
    html! {
        article.(finding.standing.class()) {
            h3 {
                span.badge.(finding.standing.class()) { (mark(finding.standing)) " " (finding.standing.word()) }
                " " b { (finding.code) } " "
                @if let Some(level) = finding.level { small { (level) } " " }
                (finding.promise)
            }
            p.cited {
                @for cited in &finding.cited { a href=(cited.url) { (cited.document) } " " }
            }
            ol.proofs { @for (number, proof) in pins.of_finding(finding).take(PROOFS) { (told(number, proof)) } }
            @if pins.of_finding(finding).count() > PROOFS {
                details {
                    summary { (finding.proofs.len() - PROOFS) " more cases" }
                    ol.proofs {
                        @for (number, proof) in pins.of_finding(finding).skip(PROOFS) { (told(number, proof)) }
                    }
                }
            }
        }
    }
}

fn told(number: usize, proof: &Proof) -> Markup {
    let mut events: Vec<&Shown> = proof.events.iter().collect();
    events.sort_by_key(|shown| shown.event);
    html! {
        li id=(format!("proof-{number}")) {
            span.pin { (number) } " " (proof.says)
            ul {
                @for shown in events.iter().take(EVENTS) { (event(shown)) }
                @if events.len() > EVENTS { li { "and " (events.len() - EVENTS) " more events" } }
            }
            @if !proof.log.is_empty() {
                details {
                    summary { "what the subject wrote" }
                    ul { @for shown in &proof.log { (event(shown)) } }
                }
            }
        }
    }
}

fn event(shown: &Shown) -> Markup {
    let at = since_start(Duration::from_millis(shown.at_ms));
    html! {
        li { a href=(format!("#e{}", shown.event)) { "+" (at) " #" (shown.event) } " " (shown.says) }
    }
}

/// All that was judged, the worst first.
pub(super) fn table(telling: &Telling) -> Markup {
    let mut findings: Vec<&Finding> = telling.findings.iter().collect();
    findings.sort_by(|one, other| other.standing.cmp(&one.standing).then(one.code.cmp(&other.code)));
    html! {
        section {
            h2 #verdicts { "Verdicts" }
            table {
                thead { tr { th { "verdict" } th { "code" } th { "tested" } th { "promise" } } }
                tbody {
                    @for finding in findings {
                        tr {
                            td { span.badge.(finding.standing.class()) {
                                (mark(finding.standing)) " " (finding.standing.word())
                            } }
                            td { (finding.code) @if let Some(level) = finding.level { " " small { (level) } } }
                            td { @if let Some(times) = finding.exercised { (times) "×" } }
                            td {
                                (finding.promise)
                                @if let Some(why) = &finding.why { p.hint { (why) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A shape for each, for those who see no colours.
pub(super) fn mark(standing: Standing) -> &'static str {
    match standing {
        Standing::Held => "✓",
        Standing::Convicted => "◎",
        Standing::Violated => "✗",
        Standing::Unknown => "?",
        Standing::NotApplicable => "–",
    }
}
