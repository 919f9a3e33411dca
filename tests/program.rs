//! The program as a shell sees it: what it prints, where, and the code it ends with.

#![expect(clippy::unwrap_used, reason = "all of this file is a test")]

use std::fs::File;
use std::process::{Command, Output, Stdio};

fn scaleproof(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scaleproof"));
    command.args(arguments).stdin(Stdio::null());
    command
}

fn run(arguments: &[&str]) -> (i32, String, String) {
    told(&scaleproof(arguments).output().unwrap())
}

fn told(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn run_says_that_nothing_was_judged_and_shows_the_clock() {
    let (code, out, err) = run(&["run"]);
    assert_eq!((code, err.as_str()), (2, ""), "{out}");
    assert!(out.contains("no autoscaler was judged: the harness is not built yet"), "{out}");
    assert!(out.contains("360 ticks of 10s, 0 of them early: 3600"), "{out}");
    assert!(out.ends_with("exit code 2: something is unknown, nothing was violated\n"), "{out}");
}

#[test]
fn help_shows_the_exit_codes() {
    for arguments in [&["--help"][..], &["run", "--help"]] {
        let (code, out, err) = run(arguments);
        assert_eq!((code, err.as_str()), (0, ""));
        assert!(out.contains("  64  bad input: scenario, profile or arguments\n"), "{out}");
    }
}

#[test]
fn bad_arguments_are_bad_input() {
    for arguments in [&[][..], &["walk"], &["run", "suites/nothing.yaml"], &["run", "--fast"]] {
        let (code, out, err) = run(arguments);
        assert_eq!((code, out.as_str()), (64, ""), "{arguments:?}");
        assert!(err.contains("Usage: scaleproof"), "{err}");
    }
}

#[test]
fn whoever_closes_the_output_has_seen_enough() {
    let mut child = scaleproof(&["run"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(told(&child.wait_with_output().unwrap()), (2, String::new(), String::new()));
}

#[test]
fn output_that_cannot_be_written_is_told() {
    let full = || File::options().write(true).open("/dev/full").unwrap();
    for arguments in [&["run"], &["--help"]] {
        let (code, _, err) = told(&scaleproof(arguments).stdout(full()).output().unwrap());
        assert_eq!(code, 69);
        assert!(err.starts_with("error: failed to write to standard output: No space left"), "{err}");
    }
    let refused = scaleproof(&["walk"]).stderr(full()).output().unwrap();
    assert_eq!(refused.status.code(), Some(64), "even if it cannot say why");
}
