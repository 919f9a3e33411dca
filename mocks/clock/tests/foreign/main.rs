//! Foreign programs on our clock: what the acceptance list asks of programs that know nothing of it.
//!
//! The programs stand in `programs/`, in C and Go; those in Rust are roles of this very binary, which is why it has a
//! main function of its own. Each judges the clock it runs on and says what it found. Where no Go is installed, or
//! programs cannot be brought onto a clock, tests are skipped, and that is said; with `CLIENTS=required` they fail.

#![expect(clippy::unwrap_used, reason = "all of this binary is a test")]

mod calls;
mod clocks;
mod crowds;
mod kin;
mod kinds;
mod owners;
mod playing;
mod programs;
mod roles;
mod rust;
mod serving;
mod signals;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    if let Some(role) = std::env::var_os(roles::ROLE) {
        return roles::play(role.to_str().expect("roles are plain words"));
    }
    let tests = [
        calls::TESTS,
        clocks::TESTS,
        crowds::TESTS,
        kin::TESTS,
        kinds::TESTS,
        owners::TESTS,
        rust::TESTS,
        serving::TESTS,
        signals::TESTS,
    ];
    let missing = Missing::here();
    let trials = tests.concat().into_iter().map(|test| test.trial(&missing)).collect();
    let mut arguments = Arguments::from_args();
    // These tests measure each other's idleness if they share a process.
    arguments.test_threads = Some(1);
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// A test of this binary.
#[derive(Clone, Copy)]
struct Test {
    name: &'static str,
    run: fn(),
    needs_go: bool,
    soak: bool,
}

/// A test that plays a program in C or Rust.
const fn test(name: &'static str, run: fn()) -> Test {
    Test { name, run, needs_go: false, soak: false }
}

/// A test that plays the program in Go.
const fn go(name: &'static str, run: fn()) -> Test {
    Test { name, run, needs_go: true, soak: false }
}

impl Test {
    /// The same, but only when it is asked for.
    const fn soak(self) -> Test {
        Test { soak: true, ..self }
    }

    fn trial(self, missing: &Missing) -> Trial {
        let why = missing.clock.as_ref().or(missing.go.as_ref().filter(|_| self.needs_go));
        if let Some(why) = why {
            eprintln!("SKIPPED: {}, because {why}", self.name);
        }
        let run = move || {
            (self.run)();
            Ok::<(), Failed>(())
        };
        Trial::test(self.name, run).with_ignored_flag(self.soak || why.is_some())
    }
}

/// What is not there, and why.
struct Missing {
    clock: Option<String>,
    go: Option<String>,
}

impl Missing {
    /// What is required is not missing: its tests run, and fail.
    fn here() -> Missing {
        if std::env::var_os("CLIENTS").is_some_and(|wish| wish == "required") {
            return Missing { clock: None, go: None };
        }
        let clock = mock_clock::probe().err().map(|why| why.to_string());
        let go =
            (!programs::go_is_here()).then(|| "there is no Go (go.dev) here to build it with".to_owned());
        Missing { clock, go }
    }
}
