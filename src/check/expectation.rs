//! A documented promise: its code, its words, who made it where, and to whom it applies.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Verdict;
use crate::code::Code;
use crate::history::History;
use crate::terms::{Provider, Version};

/// One promise. It stands in the file of the check that decides it.
pub struct Expectation {
    /// What it is called for ever.
    pub code: Code,
    /// The promise, in one sentence.
    pub promise: &'static str,
    /// Who promised it, where.
    pub cite: &'static [Citation],
    /// How binding it is.
    pub level: Level,
    /// What it is about.
    pub kind: Kind,
    /// Whose promise it is.
    pub providers: &'static [Provider],
    /// From which version on, and before which.
    pub versions: Versions,
    /// Judged in every run of these providers, asked for or not.
    pub always: bool,
    /// The pure function that decides it.
    pub check: fn(&History) -> Verdict,
}

impl fmt::Debug for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Expectation")
            .field("code", &self.code)
            .field("promise", &self.promise)
            .finish_non_exhaustive()
    }
}

/// Where a promise is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Citation {
    /// The document, with heading or flag, or the issue.
    pub where_: &'static str,
    /// Its address, if it has one.
    pub url: &'static str,
}

/// How binding a promise is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Level {
    /// A user's document says so.
    Must,
    /// Robustness that no user's document promises: source, issue, or common sense.
    Should,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Level::Must => "MUST",
            Level::Should => "SHOULD",
        })
    }
}

/// What a promise is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Buying nodes.
    ScaleUp,
    /// Giving them back.
    ScaleDown,
    /// Minimum and maximum.
    MinMax,
    /// Running pods, and what is not the subject's.
    Safety,
    /// Back-off and recovery.
    Backoff,
    /// Faults of others.
    FaultTolerance,
    /// Nothing is left lying about.
    Hygiene,
    /// Settings.
    Config,
}

/// The versions to which a promise applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Versions {
    /// From this one on.
    pub since: Option<Version>,
    /// Before this one.
    pub until: Option<Version>,
}

impl fmt::Display for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&match (self.since, self.until) {
            (None, None) => "all".to_owned(),
            (Some(since), None) => format!("from {since}"),
            (None, Some(until)) => format!("before {until}"),
            (Some(since), Some(until)) => format!("from {since}, before {until}"),
        })
    }
}

impl Versions {
    /// All of them.
    pub const ALL: Versions = Versions { since: None, until: None };

    /// From this one on.
    pub const fn since(version: Version) -> Versions {
        Versions { since: Some(version), until: None }
    }

    /// Before this one.
    pub const fn until(version: Version) -> Versions {
        Versions { since: None, until: Some(version) }
    }

    /// Whether it is one of them. An unknown version is taken for the newest.
    pub fn hold(&self, version: Option<Version>) -> bool {
        let newest = Version::new(u32::MAX, 0, 0);
        let version = version.unwrap_or(newest);
        self.since.is_none_or(|since| version >= since) && self.until.is_none_or(|until| version < until)
    }
}
