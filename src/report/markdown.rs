//! Runs as Markdown, for the page of a CI job: a table, and each run that did not hold in a block to open.

use std::fmt::Write as _;
use std::time::Duration;

use super::moment::since_start;
use super::telling::{Standing, Telling, Totals};
use super::text::{self, Paint};

/// So many runs are told in full; a job's page has its limits.
const BLOCKS: usize = 50;

/// The summary of these runs.
pub fn summary(tellings: &[Telling]) -> String {
    let runs = Totals::of(tellings.iter().map(|telling| telling.standing));
    let mut page = format!(
        "### scaleproof: {}\n\n{} runs: {} held, {} violated, {} unknown; {}\n\n",
        Standing::of_all(tellings).word(),
        tellings.len(),
        runs.held,
        runs.violated,
        runs.unknown,
        text::judged_on_claim(tellings, 0)
    );
    page.push_str("| verdict | scenario | subject | seed | held | violated | unknown | virtual time |\n");
    page.push_str("|---|---|---|--:|--:|---|---|--:|\n");
    for telling in tellings {
        let codes = |standing| {
            let codes: Vec<String> = telling.that(standing).map(|finding| finding.code.to_string()).collect();
            codes.join(" ")
        };
        let _ = writeln!(
            page,
            "| {} {} | {} | {} | {} | {} | {} | {} | {} |",
            mark(telling.standing),
            telling.standing.word(),
            cell(&telling.scenario),
            cell(&telling.subject),
            telling.seed,
            telling.totals().held,
            codes(Standing::Violated),
            codes(Standing::Unknown),
            since_start(Duration::from_millis(telling.lasted_ms)),
        );
    }
    asides(&mut page, tellings);
    let bad = || tellings.iter().filter(|telling| telling.standing >= Standing::Unknown);
    for telling in bad().take(BLOCKS) {
        block(&mut page, telling);
    }
    if let Some(rest) = bad().count().checked_sub(BLOCKS + 1) {
        let _ = writeln!(page, "\nand {} more that did not hold: see the JSON report.", rest + 1);
    }
    page
}

/// Attempts that were given up, and steps that waited in vain as they may; the others stand among what is unknown.
fn asides(page: &mut String, tellings: &[Telling]) {
    for telling in tellings {
        for attempt in &telling.attempts {
            let told = escaped(&text::given_up(attempt));
            let _ = writeln!(page, "\n{}: an attempt before was given up: {told}", cell(&telling.scenario));
        }
        for late in telling.overdue.iter().filter(|late| late.may_fail) {
            let _ = writeln!(page, "\n{}: {}", cell(&telling.scenario), escaped(&text::overdue(late)));
        }
    }
}

fn block(page: &mut String, telling: &Telling) {
    let told = text::run(telling, Paint::Plain);
    let fence = "`".repeat(longest_run_of_backticks(&told).max(2) + 1);
    let _ = writeln!(
        page,
        "\n<details><summary>{} <code>{}</code>: {}</summary>\n\n{fence}text\n{told}{fence}\n\n</details>",
        mark(telling.standing),
        escaped(&telling.scenario),
        escaped(&telling.title),
    );
}

fn mark(standing: Standing) -> &'static str {
    match standing {
        Standing::Held | Standing::Convicted => "✅",
        Standing::Violated => "❌",
        Standing::Unknown => "❔",
        Standing::NotApplicable => "➖",
    }
}

/// A text within a cell of a table.
fn cell(text: &str) -> String {
    escaped(text).replace('|', "\\|")
}

fn escaped(text: &str) -> String {
    text::printable(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn longest_run_of_backticks(text: &str) -> usize {
    text.split(|char| char != '`').map(str::len).max().unwrap_or(0)
}
