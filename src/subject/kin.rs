//! Whatever a subject has started: found by a mark in its environment, which children inherit, and ended with it.
//!
//! A container ends with its first process, and so does this, also with those that have left their process group.

use std::fs;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};

const MARK: &str = "SCALEPROOF_SUBJECT";
/// Some may be starting others just now.
const ROUNDS: u32 = 10;

/// All processes of a replica.
pub(super) struct Kin {
    value: String,
}

impl Kin {
    /// Those of the replica with this directory: no other run has the same.
    pub(super) fn of(directory: &Path) -> Self {
        Self { value: directory.display().to_string() }
    }

    /// What stands in the environment of each.
    pub(super) fn mark(&self) -> (&'static str, &str) {
        (MARK, &self.value)
    }

    /// Kills whoever is still there.
    pub(super) fn end(&self) {
        for _ in 0..ROUNDS {
            let killed =
                self.all().into_iter().filter(|pid| kill_process(*pid, Signal::KILL).is_ok()).count();
            if killed == 0 {
                return;
            }
        }
    }

    fn all(&self) -> Vec<Pid> {
        let mark = format!("{MARK}={}", self.value);
        let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
        let pids = processes.flatten().filter_map(|process| process.file_name().to_str()?.parse().ok());
        let marked = |pid: &i32| {
            // Those of others cannot be read, and those that have ended have none.
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
        };
        pids.filter(marked).filter_map(Pid::from_raw).collect()
    }
}
