//! Every scenario under `suites/` as a test of its own, run by the program as a user would: `cargo nextest run --test suites`.
//! They are found when the tests are run, so that a new one is a test at once.
//!
//! The environment chooses who is judged, and how: `SCALEPROOF_SUITES` (folders or files with other scenarios, with colons
//! between them), `SCALEPROOF_SUBJECT` (a profile), `SCALEPROOF_BINARY` (its program), `SCALEPROOF_CLUSTER`, `SCALEPROOF_TIME`,
//! `SCALEPROOF_SEED`, and `SCALEPROOF_REPORT`, a folder in which histories and timelines stay. A test fails unless its verdict is
//! held; a scenario of `suites/negative/` holds if the wrong subject in it is convicted. A scenario that is not applicable to
//! the subject is ignored, and the reason stands before its name.

#![expect(clippy::unwrap_used, reason = "all of this binary is a test")]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output, Stdio};

use libtest_mimic::{Arguments, Failed, Trial};

/// What was run on a machine that had too much to do has no verdict: it is tried again, so often.
const RETRIES: &str = "2";

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut scenarios = Vec::new();
    let named = env::var("SCALEPROOF_SUITES").unwrap_or_else(|_| "suites".to_owned());
    for folder in named.split(':').filter(|folder| !folder.is_empty()) {
        below(Path::new(folder), &mut scenarios);
    }
    let asked = arguments.filter.as_ref().filter(|_| arguments.exact);
    // Each test is a process of its own: what is asked for by its name, and has no reason before it, is known to be applicable.
    let trials = match asked.and_then(|asked| scenarios.iter().find(|scenario| name(scenario) == *asked)) {
        Some(scenario) => vec![trial(scenario.clone(), None)],
        None => match told(&scenarios) {
            Ok(told) => told.into_iter().map(|(scenario, foreign)| trial(scenario, foreign)).collect(),
            Err(why) => vec![Trial::test("the_scenarios_are_read", move || Err(why.into()))],
        },
    };
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// The scenarios that a path leads to, in order.
fn below(path: &Path, found: &mut Vec<PathBuf>) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let Ok(entries) = fs::read_dir(&from) else {
        found.push(path.to_owned());
        return;
    };
    let mut entries: Vec<PathBuf> = entries.map(|entry| path.join(entry.unwrap().file_name())).collect();
    entries.sort();
    for entry in entries {
        if Path::new(env!("CARGO_MANIFEST_DIR")).join(&entry).is_dir() {
            below(&entry, found);
        } else if entry.extension().is_some_and(|end| end == "yaml") {
            found.push(entry);
        }
    }
}

/// A test is called by the path of its scenario.
fn name(scenario: &Path) -> String {
    scenario.with_extension("").to_string_lossy().into_owned()
}

/// Each scenario, and why it is not applicable if it is not, as the program says.
fn told(scenarios: &[PathBuf]) -> Result<Vec<(PathBuf, Option<String>)>, String> {
    if scenarios.is_empty() {
        return Ok(Vec::new());
    }
    let output = program(scenarios).arg("--list").output().unwrap();
    if !output.status.success() {
        return Err(said(&output));
    }
    let out = String::from_utf8_lossy(&output.stdout);
    let read = |line: &str| match line.strip_prefix("not applicable ") {
        Some(line) => {
            let (scenario, why) = line.split_once(": ").unwrap();
            (PathBuf::from(scenario), Some(why.to_owned()))
        }
        None => (PathBuf::from(line.strip_prefix("applicable ").unwrap()), None),
    };
    Ok(out.lines().map(read).collect())
}

fn trial(scenario: PathBuf, foreign: Option<String>) -> Trial {
    let trial = Trial::test(name(&scenario), move || suite(&scenario));
    match foreign {
        Some(why) => trial.with_kind(format!("not applicable: {why}")).with_ignored_flag(true),
        None => trial,
    }
}

/// The program, told to run these as the environment says.
fn program(scenarios: &[PathBuf]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scaleproof"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).stdin(Stdio::null()).args(["run", "--negative"]);
    command.args(scenarios);
    command.args(["--seed", &env::var("SCALEPROOF_SEED").unwrap_or_else(|_| "1".to_owned())]);
    for (flag, variable) in [
        ("--subject", "SCALEPROOF_SUBJECT"),
        ("--binary", "SCALEPROOF_BINARY"),
        ("--cluster", "SCALEPROOF_CLUSTER"),
        ("--time", "SCALEPROOF_TIME"),
    ] {
        if let Some(value) = env::var_os(variable) {
            command.arg(flag).arg(value);
        }
    }
    command
}

fn suite(scenario: &Path) -> Result<(), Failed> {
    let mut command = program(&[scenario.to_owned()]);
    if let Some(folder) = env::var_os("SCALEPROOF_REPORT") {
        // Wherever a scenario lies, its report lies below the folder.
        let within = scenario.with_extension("").components().filter(is_name).collect::<PathBuf>();
        command.arg("--report").arg(Path::new(&folder).join(within));
    }
    let output = command.args(["--retry-late", RETRIES]).output()?;
    if output.status.success() { Ok(()) } else { Err(said(&output).into()) }
}

fn is_name(part: &std::path::Component<'_>) -> bool {
    matches!(part, std::path::Component::Normal(_))
}

fn said(output: &Output) -> String {
    let [out, err] =
        [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    format!("\n{out}{err}")
}
