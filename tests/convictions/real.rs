//! A real run of a scenario, by the program as a shell starts it, and who convicts in it.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use libtest_mimic::Failed;
use scaleproof::check::{Judged, Judgement, Outcome, judge};
use scaleproof::history::file;
use serde_json::{Value, json};

use super::table::Place;

pub(crate) const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// What a run says on a machine that had too much to do. It is no verdict: it is tried again, so often in all.
const LATE: &str = ": the harness was ";
const TRIES: u32 = 3;

/// What was judged, and what the program said.
pub(crate) struct Run {
    judgement: Judgement,
    said: String,
}

impl Run {
    /// Runs a scenario with a seed, whose subject has a defect or none, and asks for one expectation more than the scenario does;
    /// again on a machine that had too much to do.
    pub(crate) fn of(place: &Place, defect: Option<&str>, code: &str, seed: u64) -> Result<Self, Failed> {
        let mut run = Self::once(place, defect, code, seed)?;
        for _ in 1..TRIES {
            if !run.said.contains(LATE) {
                break;
            }
            run = Self::once(place, defect, code, seed)?;
        }
        Ok(run)
    }

    fn once(place: &Place, defect: Option<&str>, code: &str, seed: u64) -> Result<Self, Failed> {
        let folder = Folder::new();
        let scenario = folder.0.join(format!("{}.yaml", place.name()));
        fs::write(&scenario, changed(place, defect, code)?.to_string())?;
        let output = Command::new(env!("CARGO_BIN_EXE_scaleproof"))
            .current_dir(ROOT)
            .arg("run")
            .arg(&scenario)
            .args(["--subject", place.subject(), "--seed", &seed.to_string(), "--report"])
            .arg(&folder.0)
            .stdin(Stdio::null())
            .output()?;
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        let history = folder.0.join(format!("{}-{seed}/history.jsonl", place.name()));
        let history = file::open(&history).map_err(|error| format!("failed to {error}\n{said}"))?;
        Ok(Self { judgement: judge(&history), said })
    }

    pub(crate) fn convicted(&self) -> BTreeSet<String> {
        self.judgement.violated().iter().map(ToString::to_string).collect()
    }

    /// Whether anything could be told: a harness that was late or in trouble acquits nobody.
    pub(crate) fn tells(&self) -> bool {
        let held = |judged: &Judged| matches!(&judged.outcome, Outcome::Judged(verdict) if verdict.is_held());
        self.judgement.judged.iter().any(held)
    }

    /// What is wrong with it.
    pub(crate) fn told(&self, expected: &str) -> Failed {
        format!("{expected}, and {:?} do\n{}", self.convicted(), self.said).into()
    }
}

/// The scenario as it stands but for the defect and what is asked.
fn changed(place: &Place, defect: Option<&str>, code: &str) -> Result<Value, Failed> {
    let path = place.path();
    let text = fs::read_to_string(&path).map_err(|e| format!("failed to read {}: {e}", path.display()))?;
    let mut scenario: Value = serde_yaml::from_str(&text)?;
    if let Some(defect) = defect {
        scenario["given"]["options"]["defect"] = json!(defect);
    }
    let asked = scenario["expect"].as_array_mut().ok_or("it expects nothing")?;
    if !code.is_empty() && !asked.contains(&json!(code)) {
        asked.push(json!(code));
    }
    Ok(scenario)
}

/// A folder of one run. It goes with it.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder =
            std::env::temp_dir().join(format!("scaleproof-convictions-{}-{number}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
