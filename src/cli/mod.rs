//! The command line: one file a verb. It may use everything, and nobody uses it.

mod run;

use std::ffi::OsString;
use std::io::Write;

use clap::{Parser, Subcommand};

use crate::exit::{self, Exit};

/// Chaos and conformance tests for Kubernetes node autoscalers.
#[derive(Debug, Parser)]
#[command(name = "scaleproof", version, about, after_help = exit::help())]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Run the default suite; as long as there is none, show what there is
    Run,
}

/// Does what the arguments ask for.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> Exit {
    match Arguments::try_parse_from(arguments) {
        Ok(Arguments { verb: Verb::Run }) => run::run(),
        Err(told) if told.use_stderr() => {
            let _ = told.print();
            Exit::BadInput
        }
        Err(help) => {
            let _ = help.print();
            Exit::Held
        }
    }
}

/// Prints to standard output. Whoever closes it early, like `head`, has seen enough.
fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}
