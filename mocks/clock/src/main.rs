//! The program `mock-clock`: any command under virtual time.
//!
//! It is the library with a command line before it, and can do nothing that the library cannot.

mod program;

use std::process::ExitCode;

fn main() -> ExitCode {
    program::main(std::env::args_os())
}
