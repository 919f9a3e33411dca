//! Runs as JSON, for programs.
//!
//! One object: `schema` (a number; it grows when a field changes its meaning or goes, not when one is added), `scaleproof`
//! (the version that wrote it), `verdict` (the worst of all runs: `held`, `convicted`, `unknown`, `violated`),
//! `runs_by_verdict` and `findings_by_verdict` ([`Totals`]), `judged_on_claim` (in how many scenarios something was decided that
//! they ask for), and `runs`, each a [`Telling`] with its fields as they are
//! documented there. Times are whole milliseconds since the run began; an `event` is the index of an event in the history:
//! the line with that index, counted from 0, after the header.

use serde::{Deserialize, Serialize};

use super::telling::{Standing, Telling, Totals};

/// The schema that is written.
pub const SCHEMA: u32 = 1;

/// The whole report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// The schema of what follows.
    pub schema: u32,
    /// The version of scaleproof that wrote it.
    pub scaleproof: String,
    /// The worst of all runs.
    pub verdict: Standing,
    /// How many runs came out how.
    pub runs_by_verdict: Totals,
    /// How many findings of all runs came out how.
    pub findings_by_verdict: Totals,
    /// In how many scenarios something was decided that they ask for.
    #[serde(default)]
    pub judged_on_claim: usize,
    /// Each run.
    pub runs: Vec<Telling>,
}

impl Document {
    /// The report of these runs.
    pub fn of(tellings: &[Telling]) -> Self {
        let findings = tellings.iter().flat_map(|telling| &telling.findings);
        Self {
            schema: SCHEMA,
            scaleproof: env!("CARGO_PKG_VERSION").to_owned(),
            verdict: Standing::of_all(tellings),
            runs_by_verdict: Totals::of(tellings.iter().map(|telling| telling.standing)),
            findings_by_verdict: Totals::of(findings.map(|finding| finding.standing)),
            judged_on_claim: Telling::judged_on_claim(tellings),
            runs: tellings.to_vec(),
        }
    }
}

/// The report of these runs as text.
pub fn document(tellings: &[Telling]) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(&Document::of(tellings)).map(|text| text + "\n")
}
