//! What runs cost: `cargo bench --bench runs` prints a table, each scenario alone, and then how many run in a minute when
//! they go side by side. `cargo bench --bench runs -- FOLDER` takes other scenarios than the incidents.
//!
//! Each row is the program itself, run as its users run it, with the autoscaler that comes along. Overhead is the real time
//! that a run takes for each minute of the subject's own; the harness is late by what its own timers were.

#![expect(clippy::disallowed_methods, reason = "what is measured here is real time")]
#![expect(clippy::unwrap_used, reason = "a bench that cannot set its stage has nothing to tell")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use scaleproof::history::{History, What, file};

const SEED: &str = "7";
/// How often it looks how much memory the program has.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

fn main() {
    let folder = std::env::args().skip(1).find(|word| !word.starts_with("--"));
    let folder = PathBuf::from(folder.unwrap_or_else(|| "suites/incidents".to_owned()));
    let mut scenarios: Vec<PathBuf> = Vec::new();
    collect(&folder, &mut scenarios);
    scenarios.sort();
    println!(
        "{:>9} {:>8} {:>6} {:>12} {:>9} {:>10}  scenario",
        "virtual", "real", "times", "real/minute", "late max", "peak"
    );
    let mut peaks = Vec::new();
    for scenario in &scenarios {
        peaks.push(alone(scenario));
    }
    println!("peak memory of the harness over all: {:.0} MiB", peaks.into_iter().fold(0.0, f64::max));
    let processors = std::thread::available_parallelism().unwrap();
    let began = Instant::now();
    let status = program(&folder, &temporary("all")).status().unwrap();
    let minutes = began.elapsed().as_secs_f64() / 60.0;
    #[expect(clippy::cast_precision_loss, reason = "there are not that many")]
    let rate = scenarios.len() as f64 / minutes;
    println!(
        "{} scenarios side by side on {processors} processors: {rate:.1} a minute ({status})",
        scenarios.len()
    );
    let _ = fs::remove_dir_all(temporary("all"));
}

/// One run by itself; its peak memory in MiB.
fn alone(scenario: &Path) -> f64 {
    let report = temporary("one");
    let mut command = program(scenario, &report);
    let began = Instant::now();
    let mut child = command.args(["--jobs", "1"]).spawn().unwrap();
    let mut peak = 0.0_f64;
    while child.try_wait().unwrap().is_none() {
        peak = peak.max(memory(child.id()));
        std::thread::sleep(BETWEEN_LOOKS);
    }
    let real = began.elapsed().as_secs_f64();
    let mut histories = Vec::new();
    collect_named(&report, "history.jsonl", &mut histories);
    let Some(history) = histories.first().map(|path| file::open(path).unwrap()) else {
        println!("no history of {}: is it for another provider?", scenario.display());
        return peak;
    };
    let (whole, late) = told(&history);
    println!(
        "{:>8.0}s {real:>7.2}s {:>5.0}x {:>11.0}ms {late:>7.1}ms {peak:>7.0}MiB  {}",
        whole,
        whole / real,
        1000.0 * real / (whole / 60.0),
        scenario.display()
    );
    fs::remove_dir_all(report).unwrap();
    peak
}

/// How long a run was in virtual seconds, and how late the harness was at most, in milliseconds.
fn told(history: &History) -> (f64, f64) {
    let whole = history.events.last().map_or(Duration::ZERO, |event| event.at - history.header.began);
    let late = history.events.iter().filter_map(|event| match &event.what {
        What::Lag(lag) => Some(Duration::from_micros(lag.late_us).as_secs_f64() * 1000.0),
        _ => None,
    });
    (whole.as_secs_f64(), late.fold(0.0, f64::max))
}

/// The memory that the harness has, without the subject: the program and those of its children that are the same program.
fn memory(pid: u32) -> f64 {
    let own = fs::read_link(format!("/proc/{pid}/exe")).ok();
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let same = |pid: &u32| fs::read_link(format!("/proc/{pid}/exe")).ok() == own;
    let children = children.split_whitespace().filter_map(|child| child.parse().ok()).filter(same);
    children.chain([pid]).map(resident).sum()
}

fn resident(pid: u32) -> f64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}

fn program(scenarios: &Path, report: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scaleproof"));
    command.arg("run").arg(scenarios).args(["--seed", SEED, "--report"]).arg(report);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn temporary(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("scaleproof-bench-{name}-{}", std::process::id()))
}

fn collect(path: &Path, into: &mut Vec<PathBuf>) {
    if path.extension().is_some_and(|extension| extension == "yaml") {
        into.push(path.to_owned());
    }
    for entry in fs::read_dir(path).into_iter().flatten() {
        collect(&entry.unwrap().path(), into);
    }
}

fn collect_named(path: &Path, name: &str, into: &mut Vec<PathBuf>) {
    if path.file_name().is_some_and(|its| its == name) {
        into.push(path.to_owned());
    }
    for entry in fs::read_dir(path).into_iter().flatten() {
        collect_named(&entry.unwrap().path(), name, into);
    }
}
