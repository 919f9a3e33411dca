//! How the program ends: one table for code, `--help` and README.

use std::fmt::Write;
use std::process::ExitCode;

/// What an exit code tells whoever started the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Every expectation held.
    Held,
    /// The subject broke an expectation.
    Violated,
    /// Nothing was violated, but not everything is known.
    Unknown,
    /// The user's input cannot be used.
    BadInput,
    /// The machine lacks something.
    Missing,
    /// The mistake is ours.
    Bug,
}

impl Exit {
    /// All of them, in the order of their codes.
    pub const ALL: [Exit; 6] =
        [Exit::Held, Exit::Violated, Exit::Unknown, Exit::BadInput, Exit::Missing, Exit::Bug];

    /// The code that the shell sees.
    pub fn code(self) -> u8 {
        match self {
            Exit::Held => 0,
            Exit::Violated => 1,
            Exit::Unknown => 2,
            Exit::BadInput => 64,
            Exit::Missing => 69,
            Exit::Bug => 70,
        }
    }

    /// The one with a code; a code of nobody is our bug.
    pub fn of(code: u8) -> Exit {
        Exit::ALL.into_iter().find(|exit| exit.code() == code).unwrap_or(Exit::Bug)
    }

    /// What it means, in half a sentence.
    pub fn meaning(self) -> &'static str {
        match self {
            Exit::Held => "all expectations held",
            Exit::Violated => "an expectation was violated",
            Exit::Unknown => "something is unknown, nothing was violated",
            Exit::BadInput => "bad input: scenario, profile or arguments",
            Exit::Missing => "a needed tool or service is missing; the message says which and how to get it",
            Exit::Bug => "a bug of scaleproof",
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

/// The table as `--help` shows it.
pub fn help() -> String {
    let mut text = String::from("Exit codes:\n");
    for exit in Exit::ALL {
        let _ = writeln!(text, "  {:>2}  {}", exit.code(), exit.meaning());
    }
    text
}

/// The table as the README shows it.
pub fn markdown() -> String {
    let mut text = String::from("| code | meaning |\n|--:|---|\n");
    for exit in Exit::ALL {
        let _ = writeln!(text, "| {} | {} |", exit.code(), exit.meaning());
    }
    text
}
