//! Two conversations side by side: where they differ, and whether that is known.

use std::cell::Cell;

use serde_json::Value;

use crate::golden::Golden;
use crate::known::Known;

/// More than this many lines nobody reads.
const TOLD_MAX: usize = 60;

/// Fails with one line for each difference nobody has explained, and each explanation of nothing.
pub(crate) fn judge(
    transcript: &str,
    golden: &Golden,
    answers: &[Value],
    known: &[Known],
) -> Result<(), String> {
    let known: Vec<(&Known, Cell<bool>)> = known
        .iter()
        .filter(|known| known.transcript == transcript)
        .map(|known| (known, Cell::new(false)))
        .collect();
    let explained = |step: &str, place: &str| {
        let mut covers = false;
        for (entry, used) in known.iter().filter(|(entry, _)| entry.covers(step, place)) {
            let _: &&Known = entry;
            used.set(true);
            covers = true;
        }
        covers
    };
    let mut findings = Vec::new();
    if golden.answers.len() != answers.len() {
        findings.push(format!("{} answers instead of {}", answers.len(), golden.answers.len()));
    }
    for (real, ours) in golden.answers.iter().zip(answers) {
        let step = real["step"].as_str().unwrap_or_default();
        differences("", Some(real), Some(ours), &mut |place, real, ours| {
            if !explained(step, place) {
                findings.push(format!("{step}: {place}\n    real {}\n    ours {}", shown(real), shown(ours)));
            }
        });
    }
    let stale = known.iter().filter(|(_, used)| !used.get());
    findings.extend(stale.map(|(entry, _)| format!("known.yaml explains no difference any more: {entry}")));
    if findings.is_empty() {
        return Ok(());
    }
    let more = findings.len().saturating_sub(TOLD_MAX);
    findings.truncate(TOLD_MAX);
    Err(format!("differs from {}:\n{}\n(and {more} more)", golden.server, findings.join("\n")))
}

fn differences(
    place: &str,
    real: Option<&Value>,
    ours: Option<&Value>,
    tell: &mut impl FnMut(&str, Option<&Value>, Option<&Value>),
) {
    match (real, ours) {
        (Some(Value::Object(left)), Some(Value::Object(right))) => {
            for key in left.keys().chain(right.keys().filter(|key| !left.contains_key(*key))) {
                differences(&format!("{place}/{key}"), left.get(key), right.get(key), tell);
            }
        }
        (Some(Value::Array(left)), Some(Value::Array(right))) => {
            for index in 0..left.len().max(right.len()) {
                differences(&format!("{place}/{index}"), left.get(index), right.get(index), tell);
            }
        }
        _ if real == ours => {}
        _ => tell(place, real, ours),
    }
}

fn shown(value: Option<&Value>) -> String {
    let Some(value) = value else { return "nothing".to_owned() };
    let text = value.to_string();
    match text.char_indices().nth(300) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
