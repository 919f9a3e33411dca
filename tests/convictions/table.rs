//! Who convicts whom where: `table.yaml`, and whether it is whole.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use scaleproof::check::catalogue;
use serde::Deserialize;

use super::real::ROOT;

const FILE: &str = "tests/convictions/table.yaml";

/// Checks that convict only whoever buys servers in Karpenter's way, which the autoscaler that comes along does not;
/// docs/track-record.md tells whom.
const ELSEWHERE: [&str; 1] = ["KL-08"];

/// The rows, by the code of the check that convicts.
pub(crate) struct Table {
    pub(crate) rows: BTreeMap<String, Vec<Row>>,
}

/// One way of being wrong, and where it shows.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    pub(crate) defect: String,
    #[serde(rename = "in")]
    pub(crate) place: Place,
    /// Who else convicts, by the nature of the defect.
    #[serde(default)]
    pub(crate) also: Vec<String>,
    /// Whether it runs every time.
    #[serde(default)]
    pub(crate) often: bool,
}

/// A scenario, from the root of the repository.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(transparent)]
pub(crate) struct Place(String);

impl Place {
    pub(crate) fn path(&self) -> std::path::PathBuf {
        Path::new(ROOT).join(&self.0)
    }

    /// Who is run there: scenarios about machine deployments, and those about claims, stand by themselves.
    pub(crate) fn subject(&self) -> &'static str {
        if self.0.contains("/cluster-api/") || self.0.contains("/s4-") {
            "mock-autoscaler-clusterapi"
        } else if self.0.contains("/karpenter/") || self.0.contains("/s5-") {
            "mock-autoscaler-karpenter"
        } else {
            "mock-autoscaler-hetzner"
        }
    }

    pub(crate) fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap().trim_end_matches(".yaml")
    }
}

impl Table {
    pub(crate) fn read() -> Self {
        let text = std::fs::read_to_string(Path::new(ROOT).join(FILE)).unwrap();
        Self { rows: serde_yaml::from_str(&text).unwrap() }
    }

    /// All scenarios in which anybody is convicted.
    pub(crate) fn places(&self) -> BTreeSet<Place> {
        self.rows.values().flatten().map(|row| row.place.clone()).collect()
    }

    /// What is not there: checks that convict nobody, and defects of which nobody is convicted though their check is there.
    pub(crate) fn missing(&self) -> Vec<String> {
        let checks: BTreeSet<String> = catalogue().into_iter().map(|one| one.code.to_string()).collect();
        let mut missing: Vec<String> = checks
            .iter()
            .filter(|code| !ELSEWHERE.contains(&code.as_str()))
            .filter(|code| self.rows.get(*code).is_none_or(Vec::is_empty))
            .map(|code| format!("{code} convicts nobody in {FILE}: name a defect and a scenario"))
            .collect();
        missing.extend(
            self.rows.keys().filter(|code| !checks.contains(*code)).map(|code| format!("{code} is no check")),
        );
        for (defect, code) in defects() {
            let told = self.rows.get(&code).is_some_and(|rows| rows.iter().any(|row| row.defect == defect));
            if checks.contains(&code) && !told {
                missing.push(format!("nobody is convicted of {defect} in {FILE}, which violates {code}"));
            }
        }
        missing
    }
}

/// The defects of the mock autoscaler, and the expectation that each violates.
fn defects() -> Vec<(String, String)> {
    let program = env!("CARGO_BIN_EXE_scaleproof");
    let output = Command::new(program).args(["mock-autoscaler", "--defects"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let pair = |line: &str| {
        let mut words = line.split_whitespace().map(str::to_owned);
        words.next().zip(words.next())
    };
    text.lines().filter_map(pair).collect()
}
