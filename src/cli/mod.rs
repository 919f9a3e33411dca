//! The command line: one file a verb. It may use everything, and nobody uses it.

mod check;
mod completions;
mod explain;
mod fields;
mod files;
mod flavour;
mod interruption;
mod lint;
mod list;
mod lookup;
mod paint;
mod plan;
mod run;
mod schema;
mod seed;
mod suites;
mod up;

use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};

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
    /// Run scenarios against an autoscaler, and judge it
    #[command(after_help = format!("{}\n\n{}", run::EXAMPLES, exit::help()))]
    Run(run::Arguments),
    /// Print the schedule of everything that a run will do
    #[command(after_help = plan::EXAMPLES)]
    Plan(plan::Arguments),
    /// Check scenarios and profiles, and tell every mistake in them
    #[command(after_help = lint::EXAMPLES)]
    Lint(lint::Arguments),
    /// Judge stored histories again
    #[command(after_help = check::EXAMPLES)]
    Check(check::Arguments),
    /// Say what an expectation means, who promised it, and what its check does not catch
    #[command(after_help = explain::EXAMPLES)]
    Explain(explain::Arguments),
    /// Show all expectations, and the scenarios with what they exercise
    #[command(after_help = list::EXAMPLES)]
    List(list::Arguments),
    /// List the scenarios that come along, or write them as files
    #[command(after_help = suites::EXAMPLES)]
    Suites(suites::Arguments),
    /// Print the JSON schema of scenarios or profiles, for editors
    #[command(after_help = schema::EXAMPLES)]
    Schema(schema::Arguments),
    /// Start cluster, cloud and world without a subject, to look at them by hand
    #[command(after_help = up::EXAMPLES)]
    Up(up::Arguments),
    /// Print what a shell needs to complete words and flags
    #[command(after_help = completions::EXAMPLES)]
    Completions(completions::Arguments),
}

/// Does what the arguments ask for.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    // The autoscaler that comes along is this program by another name: it must be there wherever this one is.
    if arguments.get(1).is_some_and(|word| word == run::MOCK) {
        return mock_autoscaler::main(arguments.into_iter().skip(1));
    }
    if arguments.get(1).is_some_and(|word| word == run::ERRAND) {
        return run::errand().into();
    }
    verb(arguments).into()
}

fn verb(arguments: Vec<OsString>) -> Exit {
    let done = match Arguments::try_parse_from(arguments) {
        Ok(Arguments { verb }) => match verb {
            Verb::Run(arguments) => run::run(&arguments),
            Verb::Plan(arguments) => plan::plan(&arguments),
            Verb::Lint(arguments) => lint::lint(&arguments),
            Verb::Check(arguments) => check::check(&arguments),
            Verb::Explain(arguments) => explain::explain(&arguments),
            Verb::List(arguments) => list::list(&arguments),
            Verb::Suites(arguments) => suites::suites(&arguments),
            Verb::Schema(arguments) => schema::schema(&arguments),
            Verb::Up(arguments) => up::up(&arguments),
            Verb::Completions(arguments) => completions::completions(&arguments, Arguments::command()),
        },
        Err(refusal) if refusal.use_stderr() => {
            complain(&refusal.render().to_string());
            Ok(Exit::BadInput)
        }
        Err(help) => say(&help.render().to_string()).map(|()| Exit::Held),
    };
    done.unwrap_or_else(|exit| exit)
}

/// Prints to standard output. Whoever closes it early, like `head`, has seen enough; a full disk has not.
fn say(text: &str) -> Result<(), Exit> {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{}", text.trim_end()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            complain(&format!("error: failed to write to standard output: {e}"));
            Err(Exit::Missing)
        }
        _ => Ok(()),
    }
}

/// Prints to standard error; if even that fails, the exit code must do.
fn complain(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", text.trim_end());
}
