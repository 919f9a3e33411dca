//! What a control plane does in a second, and what it weighs: `cargo bench -p mock-kubernetes`.
//!
//! Everything goes over the wire, TLS and HTTP/2 included, from a client in the same process: the two share the
//! processors that are named above the table, and half of what is measured is the client. Each measurement runs in a
//! process of its own, several times, and the best run is shown. Nothing is asserted; the target stands beside the
//! figure. `taskset -c 0,1 cargo bench -p mock-kubernetes --bench control_plane` is what the targets are about, and a
//! word after `--` picks the measurements whose names contain it.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on has nothing to measure")]
#![expect(clippy::cast_precision_loss, reason = "figures are rounded for the eye")]

mod client;
mod creates;
mod lists;
mod memory;
mod objects;
mod pod;
mod report;
mod schedule;
mod start;
mod watches;

use std::process::{Command, Stdio};
use std::thread::available_parallelism;

use report::{Row, best};

/// Says to a child which of the measurements is its own.
const ONE: &str = "MEASURE";

/// A measurement: its name, how often it is taken, and how.
type Measurement = (&'static str, u32, fn() -> Vec<Row>);

const MEASUREMENTS: [Measurement; 6] = [
    ("start", 3, start::measure),
    ("creates", 3, creates::measure),
    ("watches", 2, watches::measure),
    ("lists", 2, lists::measure),
    ("memory", 1, memory::measure),
    ("schedule", 2, schedule::measure),
];

fn main() {
    if let Ok(name) = std::env::var(ONE) {
        let (.., measure) = MEASUREMENTS.iter().find(|(found, ..)| *found == name).unwrap();
        for row in measure() {
            println!("{}", row.to_line());
        }
        return;
    }
    // `cargo test --benches` only asks whether the benchmarks run.
    let (mut all, mut asked) = (false, Vec::new());
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--bench" => all = true,
            option if option.starts_with('-') => {}
            _ => asked.push(argument),
        }
    }
    let chosen = MEASUREMENTS.iter().filter(|(name, ..)| match asked.as_slice() {
        [] => all || *name == "start",
        words => words.iter().any(|word| name.contains(word.as_str())),
    });
    println!("\n{} processors, shared by server and client; best of the runs", processors());
    println!("\n| what | figure | target on 2 processors | runs |\n|---|--:|--:|--:|");
    for (name, runs, _) in chosen {
        let rounds: Vec<Vec<Row>> = (0..*runs).map(|_| in_a_child(name)).collect();
        for row in best(rounds) {
            println!("| {} | {} | {} | {runs} |", row.what, row.figure(), row.target());
        }
    }
}

fn in_a_child(name: &str) -> Vec<Row> {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let output = command.env(ONE, name).stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success(), "{name} did not come to its end: {}", output.status);
    String::from_utf8(output.stdout).unwrap().lines().filter_map(Row::of_line).collect()
}

fn processors() -> usize {
    available_parallelism().map_or(1, Into::into)
}

/// Runs a measurement on as many threads as there are processors.
fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_multi_thread().enable_io().build().unwrap().block_on(future)
}
