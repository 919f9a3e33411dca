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

/// The shortest of the incidents.
const SHORT: &str = "suites/incidents/s3-the-network-plugin-is-late.yaml";

#[test]
fn a_run_ends_with_a_verdict_and_leaves_its_history() {
    let folder = std::env::temp_dir().join(format!("scaleproof-test-{}", std::process::id()));
    let folder = folder.to_str().unwrap();
    let (code, out, err) = run(&["run", SHORT, "--seed", "7", "--report", folder]);
    assert_eq!((code, err), (0, format!("[1/1] {SHORT}, seed 7\n")), "{out}");
    assert!(out.contains("seed 7") && out.ends_with("exit code 0: all expectations held\n"), "{out}");
    let history = format!("{folder}/s3-the-network-plugin-is-late-7/history.jsonl");
    let (code, again, err) = run(&["check", &history]);
    assert_eq!((code, err.as_str()), (0, ""), "{again}");
    for file in ["report.json", "junit.xml", "summary.md", "s3-the-network-plugin-is-late-7/timeline.html"] {
        assert!(std::fs::metadata(format!("{folder}/{file}")).unwrap().len() > 100, "{file}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_scenario_that_comes_along_runs_where_there_is_no_file() {
    let folder = std::env::temp_dir().join(format!("scaleproof-empty-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let named = SHORT.strip_prefix("suites/").unwrap().strip_suffix(".yaml").unwrap();
    let here = |arguments: &[&str]| told(&scaleproof(arguments).current_dir(&folder).output().unwrap());
    let (code, out, err) = here(&["run", named, "--seed", "7", "--report", "report"]);
    assert_eq!((code, err), (0, format!("[1/1] {SHORT}, seed 7\n")), "{out}");
    let report = std::fs::read_to_string(folder.join("report/report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let repeat = report["runs"][0]["repeat"].as_str().unwrap();
    let words: Vec<&str> = repeat.split(' ').collect();
    assert_eq!(words[..3], ["scaleproof", "run", SHORT]);
    // The same words for a schedule are understood where nothing is run.
    let (code, _, err) = here(&["plan", words[2], words[3], words[4], "--seed", "7"]);
    assert_eq!((code, err.as_str()), (0, ""), "{repeat}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_is_missing_is_named() {
    let (code, _, err) = run(&["run", SHORT, "--binary", "no-such-autoscaler"]);
    assert_eq!(code, 69);
    assert!(err.contains("failed to find the program no-such-autoscaler: build or download"), "{err}");
    let (code, _, err) = run(&["run", "suites/nothing.yaml"]);
    assert_eq!(code, 64);
    assert!(err.contains("suites/nothing.yaml"), "{err}");
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
    for arguments in [&[][..], &["walk"], &["run", "--fast"]] {
        let (code, out, err) = run(arguments);
        assert_eq!((code, out.as_str()), (64, ""), "{arguments:?}");
        assert!(err.contains("Usage: scaleproof"), "{err}");
    }
}

#[test]
fn whoever_closes_the_output_has_seen_enough() {
    let mut child = scaleproof(&["list"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(told(&child.wait_with_output().unwrap()), (0, String::new(), String::new()));
}

#[test]
fn output_that_cannot_be_written_is_told() {
    let full = || File::options().write(true).open("/dev/full").unwrap();
    for arguments in [&["list"], &["--help"]] {
        let (code, _, err) = told(&scaleproof(arguments).stdout(full()).output().unwrap());
        assert_eq!(code, 69);
        assert!(err.starts_with("error: failed to write to standard output: No space left"), "{err}");
    }
    let refused = scaleproof(&["walk"]).stderr(full()).output().unwrap();
    assert_eq!(refused.status.code(), Some(64), "even if it cannot say why");
}
