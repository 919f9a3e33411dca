//! A profile: how a build is started, what it is asked for by which flag, and what its timers are.
//!
//! In commands, arguments, environment and files, `{…}` stands for what a run decides: `{kubeconfig}`, `{cloud}` (the
//! endpoint of the cloud's API with its version), `{token}`, `{host}` (the replica's host name), `{port}` (a free one for its
//! health and metrics), `{directory}` (its own), `{ca}` (a file with the certificate of the door), `{proxy}`; in what is
//! repeated for each pool `{pool.name}`, `{pool.min}`, `{pool.max}`, `{pool.machine}`, `{pool.location}`; in what an option or a
//! timer adds `{value}`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::terms::{Period, Provider, SubjectOption, Timer, Timers, Version};

/// One file under `fixtures/autoscalers/`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// What it is called.
    pub name: String,
    /// How it buys nodes.
    pub provider: Provider,
    /// The program, unless `--binary` names another; the word `mock-autoscaler` is the one that scaleproof brings along.
    #[serde(default)]
    pub binary: Option<String>,
    /// Its version, unless it can be asked.
    #[serde(default)]
    pub version: Option<Version>,
    /// Arguments that make it print its version, if it has any.
    #[serde(default)]
    pub version_arguments: Vec<String>,
    /// Its arguments.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// Arguments that are repeated for each pool.
    #[serde(default)]
    pub pool_arguments: Vec<String>,
    /// Its environment.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Files that are written before it starts, by name within its directory.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// How it reaches the cloud.
    #[serde(default)]
    pub flavour: Flavour,
    /// What each option adds to its arguments; one that is not here cannot be asked of it.
    #[serde(default)]
    pub options: BTreeMap<SubjectOption, Vec<String>>,
    /// Its timers by default: those of its documents.
    pub timers: Timers,
    /// What sets a timer.
    #[serde(default)]
    pub timer_arguments: BTreeMap<Timer, Vec<String>>,
    /// Its health endpoint.
    #[serde(default)]
    pub health: Option<Health>,
    /// Where it runs otherwise than its documents say, in words.
    #[serde(default)]
    pub deviations: Vec<String>,
}

/// How a subject reaches the cloud.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flavour {
    /// It is told the endpoint.
    #[default]
    Endpoint,
    /// It cannot be told: it goes through a proxy, and trusts its certificate.
    Proxy,
}

/// How a kubelet would find out whether it is well.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Health {
    /// The path on its port.
    pub path: String,
    /// How often it is asked.
    pub every: Period,
    /// After so many bad answers it is started again.
    pub failures: u32,
}
