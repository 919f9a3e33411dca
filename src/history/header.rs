//! What a history begins with: all that is needed to understand it, and to repeat it, without anything else.

use std::collections::BTreeMap;

use mock_clock::Time;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::code::Code;
use crate::terms::{Pool, Provider, Timers, Version};

/// The first line of a history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The format of the lines that follow.
    pub format: u32,
    /// The version of scaleproof that recorded it.
    pub scaleproof: String,
    /// What was to be shown.
    pub scenario: ScenarioFacts,
    /// What everything that was drawn was drawn from.
    pub seed: u64,
    /// What was to happen when: a plan as it prints.
    pub plan: Value,
    /// Who was under test.
    pub subject: SubjectFacts,
    /// The pools it was given.
    pub pools: Vec<Pool>,
    /// Where the Kubernetes API came from.
    pub cluster: ClusterFacts,
    /// How time passed: `idle-skip`, a rate, or `real`.
    pub time: String,
    /// The virtual moment at which the run began.
    pub began: Time,
    /// On what machine.
    pub machine: MachineFacts,
}

/// The scenario of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScenarioFacts {
    /// Its path, as it was given.
    pub path: String,
    /// What it claims.
    pub title: String,
    /// The SHA-256 of its file.
    pub digest: String,
    /// What it exercises.
    pub expect: Vec<Code>,
    /// It must be convicted of these, or the harness has no eyes: suites/negative.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub convicts: Vec<Code>,
}

impl ScenarioFacts {
    /// All that it asks for: what it exercises, and what must be convicted.
    pub fn claims(&self) -> impl Iterator<Item = &Code> {
        self.expect.iter().chain(&self.convicts)
    }
}

/// The subject of a run, as it really ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubjectFacts {
    /// The profile's name.
    pub profile: String,
    /// Its path, as it was given, if it is not one of those that come along by their names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile_path: Option<String>,
    /// The SHA-256 of its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile_digest: Option<String>,
    /// How it buys nodes.
    pub provider: Provider,
    /// Its version, if anybody knows it.
    pub version: Option<Version>,
    /// The SHA-256 of the program that was started.
    pub digest: Option<String>,
    /// The command line of every replica; `{port}` and its like stand for what each is told for itself, secrets among
    /// it. What each really ran with is an event.
    pub command: Vec<String>,
    /// The environment, in the same way.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// How many replicas.
    pub replicas: u32,
    /// Its timers as it was started.
    pub timers: Timers,
    /// What the scenario asked it to do otherwise than by default: option and value.
    pub options: BTreeMap<String, String>,
    /// Where it runs otherwise than its documents say: shortened timers, patched manifests.
    pub deviations: Vec<String>,
}

/// The cluster of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClusterFacts {
    /// `embedded`, `k3d`, `existing` or `envtest`.
    pub kind: String,
    /// The version it claims.
    pub version: String,
}

/// The machine of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MachineFacts {
    /// Operating system and kernel.
    pub system: String,
    /// How many processors.
    pub processors: u32,
}
