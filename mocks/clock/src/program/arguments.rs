//! The command line of the program.

use std::ffi::OsString;
use std::process::Command;

use clap::{Args, Parser, Subcommand};
use mock_clock::TimeArguments;

/// Any program under virtual time: ten idle minutes cost milliseconds, and nobody's timeout shrinks
#[derive(Debug, Parser)]
#[command(name = "mock-clock", version)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Run a program, and all that it starts, under virtual time
    Run(Run),
    /// Say whether programs can be brought onto a clock on this machine, and if not, why not
    Probe,
}

#[derive(Args, Debug)]
#[command(after_help = "\
The program is not changed, and has its input, output and errors for itself. Time passes as it
does elsewhere while it does anything, and jumps to its next deadline when all of it sleeps
(--idle-skip, if nothing else is said).

  mock-clock run --summary -- sleep 3600
  mock-clock run --start 2038-01-19T03:14:00Z -- sh -c 'date; sleep 10; date'
  mock-clock run --rate 30 -- some-server --port 8080

Whoever it talks to should share its clock: time jumps while it waits for an answer from elsewhere.
Then --rate is the way, or --real, which is real time and leaves the program wholly alone.

Signals go to the program, Ctrl-C too; what kills this kills the program.

Exit codes: the program's own, and
  64  bad input: arguments
  69  no virtual time for this program; the message says why and what to do
 126  the program is there, but cannot be started
 127  the program is not there
 128+N  signal N killed the program")]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) time: TimeArguments,

    /// Tell on standard error, when it has ended, how much time has passed
    #[arg(long)]
    pub(crate) summary: bool,

    /// Tell on standard error, every ten seconds in real time, what the clock does and why it does not jump
    #[arg(long)]
    pub(crate) watch: bool,

    /// What to run, with its arguments
    #[arg(required = true, trailing_var_arg = true, value_names = ["PROGRAM", "ARGUMENTS"])]
    program: Vec<OsString>,
}

impl Run {
    /// What to run.
    pub(crate) fn command(&self) -> Command {
        let (program, arguments) = self.program.split_first().expect("it is required");
        let mut command = Command::new(program);
        command.args(arguments);
        command
    }
}
