//! The program `mock-kubernetes`: a control plane for whoever has a kubeconfig.
//!
//! It is the library with a command line before it, and can do nothing that the library cannot.

mod program;

use std::process::ExitCode;

fn main() -> ExitCode {
    program::main(std::env::args_os())
}
