//! A run for a terminal or a log. A failure is readable in ten lines: what was promised, what happened, what was around it,
//! and how to see it again. Whether there are colours, the caller decides.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

use super::moment::since_start;
use super::notes::euros;
use super::telling::{Attempt, Finding, Overdue, Proof, Shown, Standing, Telling, Totals};
use crate::check::SEEN;

/// So many proofs of a violation are shown; the rest is counted.
const PROOFS: usize = 3;
/// So many convicting events of a proof.
const EVENTS: usize = 4;
/// So many events around them, once there is one proof.
const AROUND: usize = 2;

/// So many lines of the subject's log beside them, and so much of each.
const LOG: usize = 3;
const WIDE: usize = 200;

/// Whether words are coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// They are not: a log, a file, a pipe.
    Plain,
    /// They are: a terminal.
    Ansi,
}

impl Paint {
    /// A word in the colour of a standing.
    pub fn standing(self, standing: Standing, text: &str) -> String {
        let code = match standing {
            Standing::Held | Standing::Convicted => "32",
            Standing::Violated => "1;31",
            Standing::Unknown => "33",
            Standing::NotApplicable => "2",
        };
        self.sgr(code, text)
    }

    /// Less loud.
    fn dim(self, text: &str) -> String {
        self.sgr("2", text)
    }

    fn sgr(self, code: &str, text: &str) -> String {
        match self {
            Paint::Plain => text.to_owned(),
            Paint::Ansi => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
        }
    }
}

/// One run: what was violated in full, a line for each of the rest, and the way back to it if anything is not as it should be.
pub fn run(telling: &Telling, paint: Paint) -> String {
    let mut text = heading(telling, paint);
    for finding in telling.that(Standing::Violated) {
        text.push_str(&violation(finding, paint));
    }
    if let Some(why) = &telling.cut_short {
        line(&mut text, "  the history is not whole: ", why);
    }
    for attempt in &telling.attempts {
        line(&mut text, "  an attempt before was given up: ", &given_up(attempt));
    }
    let mut doubt = String::new();
    for standing in [Standing::Unknown, Standing::Convicted, Standing::Held, Standing::NotApplicable] {
        for finding in telling.that(standing) {
            let why = finding.why.as_deref().map(|why| briefly(why, &mut doubt));
            let _ = writeln!(text, "  {}", one_line(finding, why.as_deref(), paint));
        }
    }
    for late in telling.overdue.iter().filter(|late| late.may_fail) {
        line(&mut text, "  ", &overdue(late));
    }
    if telling.findings.is_empty() {
        text.push_str("  nothing was judged: the scenario expects nothing, and nothing that always binds was put to the test\n");
    }
    if telling.standing >= Standing::Unknown {
        line(&mut text, "  repeat   ", &telling.repeat);
        if let Some(history) = &telling.history {
            line(&mut text, "  history  ", history);
        }
    }
    text
}

/// Why nobody can say. What makes a whole run doubtful is told once.
fn briefly(why: &str, told: &mut String) -> String {
    match why.split_once(SEEN) {
        Some((doubt, seen)) if *told == doubt => format!("the same{SEEN}{seen}"),
        Some((doubt, _)) => {
            doubt.clone_into(told);
            why.to_owned()
        }
        None => why.to_owned(),
    }
}

fn line(text: &mut String, before: &str, words: &str) {
    let _ = writeln!(text, "{before}{}", printable(words));
}

fn heading(telling: &Telling, paint: Paint) -> String {
    let word = paint.standing(telling.standing, &telling.standing.word().to_uppercase());
    let version = telling.version.map(|version| format!(" {version}")).unwrap_or_default();
    let lasted = since_start(Duration::from_millis(telling.lasted_ms));
    let took = since_start(Duration::from_millis(telling.took_ms));
    let cost = telling.account.as_ref().map(|account| format!(", {}", euros(account.cost_millis)));
    let facts = format!(
        "{}{version}, seed {}, {lasted} in {took}{}",
        telling.subject,
        telling.seed,
        cost.unwrap_or_default()
    );
    let path = if telling.scenario.is_empty() { String::new() } else { format!("{}: ", telling.scenario) };
    format!("{word}  {path}{}  {}\n", printable(&telling.title), paint.dim(&facts))
}

/// One violation in full.
pub(super) fn violation(finding: &Finding, paint: Paint) -> String {
    let mut text = String::new();
    let level = finding.level.map(|level| format!(" {level}")).unwrap_or_default();
    let code = paint.standing(Standing::Violated, &format!("{}{level}", finding.code));
    let _ = writeln!(text, "  {code}  {}", printable(&finding.promise));
    if let Some(cited) = finding.cited.first() {
        let more = if finding.cited.len() > 1 {
            format!(" and {} more", finding.cited.len() - 1)
        } else {
            String::new()
        };
        let _ = writeln!(text, "    {}", paint.dim(&format!("{} <{}>{more}", cited.document, cited.url)));
    }
    if let Some(why) = &finding.why {
        line(&mut text, "    ", why);
    }
    for proof in finding.proofs.iter().take(PROOFS) {
        told(&mut text, proof, finding.proofs.len() == 1, paint);
    }
    if let Some(rest) = finding.proofs.len().checked_sub(PROOFS + 1) {
        let _ = writeln!(text, "    and {} more such cases", rest + 1);
    }
    text
}

/// What happened: the convicting events marked, the ones around them not.
fn told(text: &mut String, proof: &Proof, alone: bool, paint: Paint) {
    line(text, "    ", &proof.says);
    let convicting = proof.events.iter().take(EVENTS).map(|event| (true, event));
    let around = proof.around.iter().take(if alone { AROUND } else { 0 }).map(|event| (false, event));
    let mut shown: Vec<(bool, &Shown)> = convicting.chain(around).collect();
    shown.sort_by_key(|(_, event)| event.event);
    for (convicts, event) in shown {
        let at = since_start(Duration::from_millis(event.at_ms));
        let mark = if convicts { '>' } else { ' ' };
        let says = format!("    {mark} +{at:<10} #{:<5} {}", event.event, printable(&event.says));
        let _ = writeln!(text, "{}", if convicts { says } else { paint.dim(&says) });
    }
    if let Some(rest) = proof.events.len().checked_sub(EVENTS + 1) {
        let _ = writeln!(text, "      and {} more events", rest + 1);
    }
    for event in proof.log.iter().take(if alone { LOG } else { 0 }) {
        let at = since_start(Duration::from_millis(event.at_ms));
        let says: String = printable(&event.says).chars().take(WIDE).collect();
        let _ = writeln!(text, "{}", paint.dim(&format!("    | +{at:<10} #{:<5} {says}", event.event)));
    }
}

/// Why an attempt was given up, and where its history is.
pub fn given_up(attempt: &Attempt) -> String {
    let history = attempt.history.as_ref().map(|path| format!(" ({path})")).unwrap_or_default();
    format!("{}{history}", attempt.late)
}

/// A step that waited in vain, as it may.
pub(super) fn overdue(late: &Overdue) -> String {
    let at = since_start(Duration::from_millis(late.at_ms));
    format!("step {} was overdue at +{at}, as it may be: {}  {}", late.step, late.instead, late.says)
}

/// A finding in one line.
fn one_line(finding: &Finding, why: Option<&str>, paint: Paint) -> String {
    let word = paint.standing(finding.standing, finding.standing.word());
    let times = match finding.exercised {
        Some(1) => " (once)".to_owned(),
        Some(times) => format!(" ({times} times)"),
        None => String::new(),
    };
    let why = match (why, finding.standing) {
        (Some(why), _) => format!(": {}", printable(why)),
        (None, Standing::Convicted) => ", as it must be here".to_owned(),
        (None, _) => String::new(),
    };
    format!("{} {word}{times}{why}  {}", finding.code, paint.dim(&printable(&finding.promise)))
}

/// The table at the end of many runs: a line each, and the totals.
pub fn table(tellings: &[Telling], paint: Paint) -> String {
    let mut rows: Vec<(Standing, [String; 6])> = Vec::new();
    for telling in tellings {
        let totals = telling.totals();
        let worst = telling.that(telling.standing).map(|finding| finding.code.to_string());
        let codes: Vec<String> = match telling.standing {
            Standing::Violated | Standing::Unknown => worst.collect(),
            _ => Vec::new(),
        };
        rows.push((
            telling.standing,
            [
                telling.standing.word().to_owned(),
                telling.scenario.clone(),
                telling.seed.to_string(),
                format!("{}/{}/{}", totals.held, totals.violated, totals.unknown),
                since_start(Duration::from_millis(telling.lasted_ms)),
                codes.join(" "),
            ],
        ));
    }
    let titles =
        ["verdict", "scenario", "seed", "held/violated/unknown", "virtual", "which"].map(str::to_owned);
    let widths: Vec<usize> = (0..titles.len())
        .map(|at| {
            rows.iter().map(|(_, row)| &row[at]).chain([&titles[at]]).map(|cell| cell.chars().count()).max()
        })
        .map(Option::unwrap_or_default)
        .collect();
    let padded = |row: &[String; 6]| -> Vec<String> {
        row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect()
    };
    let mut text = format!("{}\n", paint.dim(padded(&titles).join("  ").trim_end()));
    for (standing, row) in &rows {
        let mut cells = padded(row);
        cells[0] = paint.standing(*standing, &cells[0]);
        let _ = writeln!(text, "{}", cells.join("  ").trim_end());
    }
    text + &totals(tellings)
}

/// How many scenarios were judged on what they ask for, of those that ran and of those that did not apply.
pub fn judged_on_claim(tellings: &[Telling], foreign: usize) -> String {
    let ran: BTreeSet<&str> = tellings.iter().map(|telling| telling.scenario.as_str()).collect();
    let judged = Telling::judged_on_claim(tellings);
    let not = if foreign == 0 { String::new() } else { format!(", {foreign} are not applicable") };
    format!("judged on their claim: {judged} of {} scenarios{not}", ran.len() + foreign)
}

/// The totals of many runs.
fn totals(tellings: &[Telling]) -> String {
    let runs = Totals::of(tellings.iter().map(|telling| telling.standing));
    let all =
        Totals::of(tellings.iter().flat_map(|telling| &telling.findings).map(|finding| finding.standing));
    format!(
        "{} runs: {} held, {} violated, {} unknown; {} expectations: {} held, {} violated, {} unknown, {} not applicable\n",
        tellings.len(),
        runs.held,
        runs.violated,
        runs.unknown,
        all.held + all.violated + all.unknown + all.not_applicable,
        all.held,
        all.violated,
        all.unknown,
        all.not_applicable
    )
}

/// One line, whatever a subject or a scenario has put into it.
pub(super) fn printable(text: &str) -> String {
    text.chars().map(|char| if char.is_control() { ' ' } else { char }).collect()
}
