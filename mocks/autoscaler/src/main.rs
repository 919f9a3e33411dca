//! The program `mock-autoscaler`: the library with a command line before it. It can do nothing that the library cannot.

use std::process::ExitCode;

fn main() -> ExitCode {
    mock_autoscaler::main(std::env::args_os())
}
