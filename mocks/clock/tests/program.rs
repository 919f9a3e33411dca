//! The program as a user meets it: its words, its exit codes, and whom signals reach.

#![expect(clippy::unwrap_used, reason = "all of this binary is a test")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mock-clock"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Exit code, output and errors of a program that ends by itself.
fn ended(arguments: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = program().args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

/// A shell under virtual time that has begun.
struct Shell {
    runner: Child,
    said: BufReader<ChildStdout>,
}

impl Shell {
    /// Runs a script, once it has said that it is ready.
    fn start(script: &str) -> Self {
        let mut runner = program();
        let mut runner =
            runner.stdin(Stdio::piped()).args(["run", "--", "sh", "-c", script]).spawn().unwrap();
        let mut said = BufReader::new(runner.stdout.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        Self { runner, said }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.runner), signal).unwrap();
    }

    /// All that it says until nobody is left who could say anything.
    fn rest(&mut self) -> String {
        let mut rest = String::new();
        self.said.read_to_string(&mut rest).unwrap();
        rest
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        // It has usually ended.
        let _ = self.runner.kill();
        let _ = self.runner.wait();
    }
}

#[test]
fn help_is_for_users() {
    let (code, help, told) = ended(&["run", "--help"]);
    assert_eq!((code, told.as_str()), (Some(0), ""));
    for word in
        ["--idle-skip", "--rate", "--real", "--start", "--summary", "--watch", "Exit codes", "-- sleep"]
    {
        assert!(help.contains(word), "{help}");
    }
    let (code, help, _) = ended(&["--help"]);
    assert!(code == Some(0) && help.contains("run") && help.contains("probe"), "{help}");
}

#[test]
fn bad_arguments_are_refused_with_a_reason() {
    for (arguments, reason) in [
        (&[][..], "Usage"),
        (&["run"], "PROGRAM"),
        (&["run", "--rate", "0.5", "true"], "may not be slower than real time"),
        (&["run", "--rate", "fast", "true"], "a number from 1 to 100"),
        (&["run", "--rate", "5", "--idle-skip", "true"], "cannot be used with"),
        (&["run", "--start", "tomorrow", "true"], "a moment like"),
        (&["run", "--start", "2500-01-01", "true"], "the latest start is"),
        (&["run", "--real", "--start", "2038-01-19", "true"], "real time has the machine's date"),
        (&["run", "--bogus", "true"], "--bogus"),
        (&["rin", "true"], "run"),
    ] {
        let (code, _, told) = ended(arguments);
        assert_eq!(code, Some(64), "{arguments:?}: {told}");
        assert!(told.contains(reason), "{arguments:?}: {told}");
    }
}

#[test]
fn this_machine_can_do_it() {
    assert_eq!(
        ended(&["probe"]),
        (Some(0), "programs can be brought onto a clock here\n".to_owned(), String::new())
    );
}

#[test]
fn a_program_that_is_not_there_is_told_from_one_that_cannot_be_started() {
    for mode in [&["run"][..], &["run", "--real"]] {
        for (name, code) in
            [("no-such-program", 127), ("/no/such/program", 127), ("/", 126), ("/etc/passwd", 126)]
        {
            let (got, _, told) = ended(&[mode, &["--", name]].concat());
            assert_eq!(got, Some(code), "{mode:?} {name}: {told}");
            assert!(told.starts_with(&format!("mock-clock: failed to start {name}: ")), "{told}");
        }
    }
}

#[test]
fn the_end_of_the_program_is_the_end_of_the_run() {
    for mode in [&["run"][..], &["run", "--rate", "2"]] {
        for (script, code) in
            [("exit 0", 0), ("exit 7", 7), ("exit 255", 255), ("kill -TERM $$", 143), ("kill -KILL $$", 137)]
        {
            let (got, said, told) = ended(&[mode, &["--", "sh", "-c", script]].concat());
            assert_eq!((got, said.as_str(), told.as_str()), (Some(code), "", ""), "{mode:?} {script}");
        }
    }
}

#[test]
fn arguments_reach_the_program_as_they_are() {
    for start in [&["run"][..], &["run", "--"], &["run", "--real"]] {
        let words = ["printf", "%s.", "--summary", "a b", "", "--"];
        let (code, said, told) = ended(&[start, &words].concat());
        assert_eq!((code, said.as_str(), told.as_str()), (Some(0), "--summary.a b..--.", ""));
    }
}

#[test]
fn input_output_and_errors_are_the_programs_own() {
    let script = "cat; echo trouble >&2";
    let mut runner = program();
    let mut runner = runner.stdin(Stdio::piped()).args(["run", "--", "sh", "-c", script]).spawn().unwrap();
    runner.stdin.take().unwrap().write_all(b"one\ntwo").unwrap();
    let Output { status, stdout, stderr } = runner.wait_with_output().unwrap();
    assert!(status.success());
    assert_eq!((&stdout[..], &stderr[..]), (&b"one\ntwo"[..], &b"trouble\n"[..]));
}

#[test]
fn a_program_starts_at_the_date_that_is_named() {
    for (start, date) in [("2038-01-19", "2038-01-19 00:00"), ("2001-02-03T04:05:00Z", "2001-02-03 04:05")] {
        let (code, said, told) = ended(&["run", "--start", start, "--", "date", "-u", "+%F %H:%M"]);
        assert_eq!((code, said.trim(), told.as_str()), (Some(0), date, ""));
    }
}

#[test]
fn an_hour_asleep_passes_at_once_and_is_summed_up() {
    let (code, _, told) = ended(&["run", "--summary", "--", "sleep", "3600"]);
    assert_eq!(code, Some(0), "{told}");
    let (passed, rest) = told.strip_prefix("mock-clock: ").unwrap().split_once("s virtual in ").unwrap();
    assert!(passed.parse::<f64>().unwrap() >= 3600.0, "{told}");
    for word in [" real, ", " times as fast; jumps: ", ", over ", "; system calls taken over: "] {
        assert!(rest.contains(word), "{told}");
    }
    assert!(!rest.contains("never jumped"), "{told}");
}

#[test]
fn who_never_sleeps_is_told_that_time_never_jumped() {
    let (code, _, told) = ended(&["run", "--summary", "--", "true"]);
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("jumps: 0, ") && told.contains("\n  it never jumped; at the end: "), "{told}");
}

#[test]
fn a_constant_rate_has_nothing_to_say_of_jumps() {
    let (code, _, told) = ended(&["run", "--rate", "100", "--summary", "--", "sleep", "1"]);
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("WARN virtual time at 100 times real time"), "{told}");
    assert!(told.contains("jumps: 0, ") && !told.contains("never jumped"), "{told}");
}

#[test]
fn in_real_time_the_program_is_alone() {
    let (code, said, told) = ended(&["run", "--real", "--summary", "--", "sh", "-c", "echo $$; exit 3"]);
    assert_eq!((code, told.as_str()), (Some(3), "mock-clock: in real time there is no clock to tell of\n"));
    assert!(said.trim().parse::<u32>().is_ok(), "{said}");
    let runner = program().args(["run", "--real", "--", "sh", "-c", "echo $$"]).spawn().unwrap();
    let pid = runner.id();
    assert_eq!(runner.wait_with_output().unwrap().stdout, format!("{pid}\n").into_bytes());
}

#[test]
fn signals_are_passed_on() {
    for (signal, name) in [
        (Signal::INT, "INT"),
        (Signal::QUIT, "QUIT"),
        (Signal::TERM, "TERM"),
        (Signal::HUP, "HUP"),
        (Signal::USR1, "USR1"),
        (Signal::USR2, "USR2"),
    ] {
        let mut shell = Shell::start(&format!("trap 'echo {name}; exit 5' {name}; echo ready; read line"));
        shell.signal(signal);
        assert_eq!(shell.rest(), format!("{name}\n"));
        assert_eq!(shell.runner.wait().unwrap().code(), Some(5));
    }
}

#[test]
fn a_program_that_does_not_mind_a_signal_goes_on_and_so_does_the_run() {
    let mut shell =
        Shell::start("trap 'echo not yet' TERM; echo ready; until read line; do :; done; echo $line");
    shell.signal(Signal::TERM);
    let mut line = String::new();
    shell.said.read_line(&mut line).unwrap();
    assert_eq!(line, "not yet\n");
    shell.runner.stdin.take().unwrap().write_all(b"now\n").unwrap();
    assert_eq!(shell.rest(), "now\n");
    assert!(shell.runner.wait().unwrap().success());
}

#[test]
fn a_program_dies_with_its_run() {
    let mut shell = Shell::start("echo ready; read line; echo left");
    shell.signal(Signal::KILL);
    // The shell had the other end of this pipe, and its input is still open.
    assert_eq!(shell.rest(), "");
}
