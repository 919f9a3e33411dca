//! Why a foreign program cannot be started on a virtual clock.

use std::fmt;
use std::io;

/// Why foreign programs cannot be brought onto a clock on this machine. A sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    why: String,
}

impl Unsupported {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self { why: why.into() }
    }
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl std::error::Error for Unsupported {}

/// Why a foreign program was not started. Reads after "failed to".
#[derive(Debug)]
pub enum SpawnError {
    /// The program itself cannot be started: it is not there, or is no program.
    Program {
        /// As it was named.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// This machine, or this program, does not let itself be brought onto a clock.
    Foreign {
        /// As it was named.
        program: String,
        /// What is in the way.
        why: Unsupported,
    },
    /// Only the process that made a clock can bring programs onto it.
    FromOutside(String),
}

impl fmt::Display for SpawnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpawnError::Program { program, source } => write!(f, "start {program}: {source}"),
            SpawnError::Foreign { program, why } => {
                write!(f, "bring {program} onto the clock: {why}; in real time it can run")
            }
            SpawnError::FromOutside(program) => {
                write!(f, "bring {program} onto the clock: only the process that made the clock can")
            }
        }
    }
}

impl std::error::Error for SpawnError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            SpawnError::Program { source, .. } => Some(source),
            SpawnError::Foreign { why, .. } => Some(why),
            SpawnError::FromOutside(_) => None,
        }
    }
}
