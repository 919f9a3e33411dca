//! All state as text: written down, read again by the same or a later program.

use std::fmt;
use std::sync::Arc;

use mock_clock::Time;
use serde::{Deserialize, Serialize};

use crate::catalogue::Catalogue;
use crate::engine::Engine;
use crate::project::Project;
use crate::project::soundness;

/// The form that is written. Another form gets another number.
const VERSION: u32 = 1;

/// The state of a cloud at a moment. It prints as JSON and is read from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    version: u32,
    taken: Time,
    project: Project,
}

/// What a text was that is no state. Reads after "failed to".
#[derive(Debug)]
pub struct SnapshotError(String);

impl Snapshot {
    /// Reads what was written.
    pub fn parse(text: &str) -> Result<Self, SnapshotError> {
        let version: Version =
            serde_json::from_str(text).map_err(|e| SnapshotError(format!("read the state: {e}")))?;
        if version.version != VERSION {
            let message = format!(
                "read the state: it has version {}, and this program knows {VERSION}",
                version.version
            );
            return Err(SnapshotError(message));
        }
        serde_json::from_str(text).map_err(|e| SnapshotError(format!("read the state: {e}")))
    }

    /// When it was taken; if the clock has gone back, the latest moment that it knows of.
    pub fn taken(&self) -> Time {
        self.taken
    }
}

/// The part of a state that every version has.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

impl fmt::Display for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SnapshotError {}

impl Engine {
    /// Everything there is, to be written down.
    pub fn snapshot(&self, now: Time) -> Snapshot {
        let taken = now.max(self.project.now);
        Snapshot { version: VERSION, taken, project: self.project.clone() }
    }

    /// Goes on where a snapshot ends, unless it refers to something that is not there or not for sale any more.
    pub fn resume(snapshot: Snapshot, catalogue: Arc<Catalogue>, now: Time) -> Result<Self, String> {
        let mut project = snapshot.project;
        project.catalogue = catalogue;
        soundness::check(&project)?;
        let mut engine = Self::with(project);
        engine.advance(now);
        Ok(engine)
    }
}
