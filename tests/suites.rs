//! Every scenario under `suites/` as a test of its own, run by the program as a user would: `cargo nextest run suites`.
//!
//! The environment chooses who is judged, and how: `SCALEPROOF_SUBJECT` (a profile), `SCALEPROOF_BINARY` (its program),
//! `SCALEPROOF_CLUSTER`, `SCALEPROOF_TIME`, `SCALEPROOF_SEED`, and `SCALEPROOF_REPORT`, a folder in which histories and
//! timelines stay. A test fails unless its verdict is held; a scenario of `suites/negative/` holds if the wrong subject in
//! it is convicted.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rstest::rstest;

/// What a run says on a machine that had too much to do. It is no verdict: it is tried again, so often in all.
const LATE: &str = ": the harness was ";
const TRIES: u32 = 3;

#[rstest]
fn suite(#[files("suites/**/*.yaml")] scenario: PathBuf) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let scenario = scenario.strip_prefix(root).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_scaleproof"));
    command.current_dir(root).stdin(Stdio::null()).arg("run").arg(scenario);
    command.args(["--seed", &std::env::var("SCALEPROOF_SEED").unwrap_or_else(|_| "1".to_owned())]);
    for (flag, variable) in [
        ("--subject", "SCALEPROOF_SUBJECT"),
        ("--binary", "SCALEPROOF_BINARY"),
        ("--cluster", "SCALEPROOF_CLUSTER"),
        ("--time", "SCALEPROOF_TIME"),
    ] {
        if let Some(value) = std::env::var_os(variable) {
            command.arg(flag).arg(value);
        }
    }
    if let Some(folder) = std::env::var_os("SCALEPROOF_REPORT") {
        command.arg("--report").arg(Path::new(&folder).join(scenario.with_extension("")));
    }
    let mut output = command.output().unwrap();
    for _ in 1..TRIES {
        if !String::from_utf8_lossy(&output.stdout).contains(LATE) {
            break;
        }
        output = command.output().unwrap();
    }
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if out.starts_with("not applicable ") {
        println!("{out}");
        return;
    }
    assert!(output.status.success(), "\n{out}{err}");
}
