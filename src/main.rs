//! The program: hands its arguments to [`scaleproof::cli`] and ends with the exit code that comes back.

use std::io::Write;
use std::process::ExitCode;

use scaleproof::exit::Exit;

fn main() -> ExitCode {
    let end = std::panic::catch_unwind(|| scaleproof::cli::main(std::env::args_os()));
    end.unwrap_or_else(|_| {
        let _ =
            writeln!(std::io::stderr(), "this is a bug of scaleproof: please report it with the lines above");
        Exit::Bug.into()
    })
}
