//! The known differences between ours and a real server, each with its reason.

use std::fmt;

use serde::Deserialize;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/transcripts/known.yaml");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Known {
    pub(crate) transcript: String,
    /// A step's name, or `*`.
    step: String,
    /// A place in the answer and all below it: `/status`, `/body/items/*/spec`; `*` is one part, whichever.
    at: String,
    #[expect(dead_code, reason = "for the reader of the file")]
    why: String,
}

pub(crate) fn read() -> Vec<Known> {
    serde_yaml::from_str(&std::fs::read_to_string(FILE).unwrap()).unwrap()
}

impl Known {
    pub(crate) fn covers(&self, step: &str, place: &str) -> bool {
        let same = |pattern: &str, part: &str| pattern == "*" || pattern == part;
        let mut parts = place.split('/');
        same(&self.step, step)
            && self.at.split('/').all(|pattern| parts.next().is_some_and(|part| same(pattern, part)))
    }
}

impl fmt::Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.transcript, self.step, self.at)
    }
}
