//! What the program does: read its arguments, start a clock and a program on it, wait for its end.

mod arguments;
mod signals;
mod telling;

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{ExitCode, ExitStatus};

use clap::Parser as _;
use mock_clock::{Clock as _, ClockError, Log, LogLevel, Mode, SpawnError, Unsupported, VirtualClock};

use arguments::{Arguments, Run, Verb};
use signals::Signals;

/// The codes of `sysexits`, which scaleproof ends with too.
const BAD_INPUT: u8 = 64;
const UNAVAILABLE: u8 = 69;
/// Those of shells, and of `env`, `nice` and `timeout`.
const CANNOT_START: u8 = 126;
const NOT_FOUND: u8 = 127;
const SIGNALLED: i32 = 128;

pub(crate) fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let verb = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments.verb,
        Err(e) => {
            let code = if e.use_stderr() { BAD_INPUT } else { 0 };
            // Whoever closed the pipe does not want to read it.
            let _ = e.print();
            return code.into();
        }
    };
    let done = match verb {
        Verb::Run(run) => under_virtual_time(&run),
        Verb::Probe => probe().map_err(Trouble::Probe),
    };
    done.unwrap_or_else(|trouble| {
        telling::tell(&format!("failed to {trouble}"));
        trouble.code()
    })
    .into()
}

fn probe() -> Result<u8, Unsupported> {
    mock_clock::probe()?;
    // Whoever closed the pipe wants the exit code.
    let _ = writeln!(io::stdout(), "programs can be brought onto a clock here");
    Ok(0)
}

/// From the start of the program to its exit code.
fn under_virtual_time(told: &Run) -> Result<u8, Trouble> {
    let mode = told.time.mode().unwrap_or_default();
    if mode == Mode::Real {
        return Err(in_real_time(told));
    }
    // Before there is any other thread.
    let signals = Signals::hold().map_err(Trouble::System)?;
    let log = Log::start(LogLevel::Warn, env!("CARGO_CRATE_NAME"));
    let clock = VirtualClock::start(mode, told.time.start()).map_err(Trouble::Clock)?;
    log.date_by(&clock);
    let start = clock.now();
    let mut program = clock.spawn(told.command()).map_err(Trouble::Spawn)?;
    signals.pass_on_to(program.id()).map_err(Trouble::System)?;
    if told.watch {
        telling::watch(&clock).map_err(Trouble::Clock)?;
    }
    let end = program.wait().map_err(Trouble::System)?;
    if told.summary {
        telling::tell(&telling::summary(&clock, start));
    }
    Ok(code(end))
}

/// Becomes the program: nothing is between it and whoever started it. Comes back if that cannot be.
fn in_real_time(told: &Run) -> Trouble {
    if let Some(date) = told.time.start() {
        return Trouble::Clock(ClockError::DateOfRealTime(date));
    }
    if told.summary || told.watch {
        telling::tell("in real time there is no clock to tell of");
    }
    let mut command = told.command();
    let source = command.exec();
    Trouble::Spawn(SpawnError::Program { program: command.get_program().display().to_string(), source })
}

/// How a shell reports an end.
fn code(end: ExitStatus) -> u8 {
    let code = end.code().or_else(|| end.signal().map(|signal| SIGNALLED + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

/// Why the program has not run to its end. Reads after "failed to".
enum Trouble {
    Probe(Unsupported),
    Clock(ClockError),
    Spawn(SpawnError),
    System(io::Error),
}

impl Trouble {
    fn code(&self) -> u8 {
        match self {
            Self::Clock(ClockError::DateOfRealTime(_) | ClockError::StartTooLate(_)) => BAD_INPUT,
            Self::Spawn(SpawnError::Program { source, .. }) => match source.kind() {
                io::ErrorKind::NotFound => NOT_FOUND,
                _ => CANNOT_START,
            },
            _ => UNAVAILABLE,
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Probe(why) => write!(f, "bring programs onto a clock: {why}"),
            Self::Clock(source @ ClockError::Blind(_)) => {
                write!(f, "{source}\nchoose --rate N or --real")
            }
            Self::Clock(source) => write!(f, "{source}"),
            Self::Spawn(source @ SpawnError::Foreign { .. }) => {
                write!(f, "{source}\nrun it in real time with --real")
            }
            Self::Spawn(source) => write!(f, "{source}"),
            Self::System(source) => write!(f, "run the program: {source}"),
        }
    }
}
