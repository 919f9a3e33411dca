//! The program `mock-hetzner`: a Hetzner Cloud for whoever can set an endpoint.
//!
//! It is the library with a command line before it, and can do nothing that the library cannot.

mod program;

use std::process::ExitCode;

fn main() -> ExitCode {
    program::main(std::env::args_os())
}
