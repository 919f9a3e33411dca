//! Whether runs of the same scenario agree, whatever their seed: a verdict that changes is a finding of its own, about
//! the subject or about the harness.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::telling::{Standing, Telling};
use super::text::printable;
use crate::check::Name;

/// Which scenarios have not always had the same verdicts. Nothing, if none was run more than once.
///
/// Not putting an expectation to the test with one seed is no other verdict, unless the scenario asks for it.
pub fn told<'a>(tellings: impl IntoIterator<Item = &'a Telling>) -> Option<String> {
    let mut order: Vec<&str> = Vec::new();
    let mut rounds: BTreeMap<&str, Vec<&Telling>> = BTreeMap::new();
    for telling in tellings {
        let of = rounds.entry(&telling.scenario).or_default();
        if of.is_empty() {
            order.push(&telling.scenario);
        }
        of.push(telling);
    }
    let most = rounds.values().map(Vec::len).max().filter(|most| *most > 1)?;
    let unstable: Vec<String> = order
        .iter()
        .filter_map(|scenario| Some((scenario, differences(&rounds[scenario])?)))
        .map(|(scenario, differences)| format!("  {}\n{differences}", printable(scenario)))
        .collect();
    let all = order.len();
    Some(if unstable.is_empty() {
        format!("{most} rounds: {all} of {all} scenarios had the same verdicts in each\n")
    } else {
        let same = all - unstable.len();
        format!(
            "{most} rounds: {same} of {all} scenarios had the same verdicts in each; these had not:\n{}",
            unstable.concat()
        )
    })
}

/// What differs, a line each; nothing if they agree.
fn differences(rounds: &[&Telling]) -> Option<String> {
    let codes: BTreeSet<&Name> = rounds
        .iter()
        .flat_map(|telling| &telling.findings)
        .filter(|finding| finding.asked)
        .map(|finding| &finding.code)
        .collect();
    let mut lines = String::new();
    let mut differ = |what: &str, standing: &dyn Fn(&Telling) -> Standing| {
        let mut seeds: BTreeMap<Standing, Vec<String>> = BTreeMap::new();
        for telling in rounds {
            seeds.entry(standing(telling)).or_default().push(telling.seed.to_string());
        }
        if seeds.len() > 1 {
            let parts: Vec<String> = seeds
                .iter()
                .map(|(standing, seeds)| format!("{} with {}", standing.word(), few(seeds)))
                .collect();
            let _ = writeln!(lines, "    {what}: {}", parts.join(", "));
        }
    };
    differ("all", &|telling| telling.standing);
    for code in codes {
        let found = |telling: &Telling| {
            telling.findings.iter().find(|finding| finding.code == *code).map(|finding| finding.standing)
        };
        differ(&code.to_string(), &|telling| found(telling).unwrap_or(Standing::NotApplicable));
    }
    (!lines.is_empty()).then_some(lines)
}

/// Some of the seeds; all, if they are few.
fn few(seeds: &[String]) -> String {
    match seeds {
        [seed] => format!("seed {seed}"),
        [.., last] if seeds.len() <= 5 => format!("seeds {} and {last}", seeds[..seeds.len() - 1].join(", ")),
        _ => format!("{} seeds, such as {}", seeds.len(), seeds[..3].join(", ")),
    }
}
