//! The program: hands its arguments to [`scaleproof::cli`] and ends with the exit code that comes back.

use std::process::ExitCode;

use scaleproof::exit::Exit;

fn main() -> ExitCode {
    let end = std::panic::catch_unwind(|| scaleproof::cli::main(std::env::args_os()));
    // The panic has said where; a caller sees from the code whose mistake it was.
    end.unwrap_or(Exit::Bug).into()
}
