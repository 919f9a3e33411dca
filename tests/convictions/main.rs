//! That the checks have eyes: real runs of `scaleproof run`, each with an autoscaler that is wrong in one way, are judged
//! violated by the check that is about it, and by no others than those that are written down. And in the same scenarios
//! the correct autoscaler is convicted of nothing.
//!
//! `table.yaml` says who convicts whom where; a row is a test. The rows that it marks run every time: some of each topic, and
//! such as are quick. The others, and the acquittals in twenty seeds, run in the soak profile; the suites themselves acquit
//! in one seed every time. That no check and no defect is without a row is tested every time, too.
//!
//! What checks say of histories that nobody ran is proven in `checks.rs`.

#![expect(clippy::unwrap_used, reason = "all of this binary is a test")]

mod real;
mod table;

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::thread;

use libtest_mimic::{Arguments, Failed, Trial};
use real::Run;
use table::{Place, Row, Table};

/// What a row is run with.
const SEED: u64 = 1;
/// In how many seeds nobody is convicted who is right.
const SEEDS: u64 = 20;
/// So many of them at a time.
const ABREAST: usize = 4;

fn main() -> ExitCode {
    let table = Table::read();
    let mut trials = Vec::new();
    for (code, rows) in &table.rows {
        for row in rows {
            let (code, row) = (code.clone(), row.clone());
            let name = format!("convicted::{code}::{}::{}", row.defect, row.place.name());
            let soak = !row.often;
            trials.push(Trial::test(name, move || convicted(&code, &row)).with_ignored_flag(soak));
        }
    }
    for place in table.places() {
        let name = format!("acquitted::{}", place.name());
        trials.push(Trial::test(name, move || acquitted(&place)).with_ignored_flag(true));
    }
    trials.push(Trial::test("every_check_and_every_defect_has_its_row", move || {
        let missing = table.missing();
        if missing.is_empty() { Ok(()) } else { Err(missing.join("\n").into()) }
    }));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Runs a row, and compares who convicts with what is written down.
fn convicted(code: &str, row: &Row) -> Result<(), Failed> {
    let run = Run::of(&row.place, Some(&row.defect), code, SEED)?;
    let expected: BTreeSet<String> = row.also.iter().cloned().chain([code.to_owned()]).collect();
    if run.convicted() == expected { Ok(()) } else { Err(run.told(&format!("{expected:?} were to convict"))) }
}

/// Runs a scenario as it stands, again and again: nobody convicts.
fn acquitted(place: &Place) -> Result<(), Failed> {
    let seeds: Vec<u64> = (1..=SEEDS).collect();
    for abreast in seeds.chunks(ABREAST) {
        let runs: Vec<Result<Run, Failed>> = thread::scope(|scope| {
            let started: Vec<_> =
                abreast.iter().map(|seed| scope.spawn(|| Run::of(place, None, "", *seed))).collect();
            started.into_iter().map(|run| run.join().unwrap()).collect()
        });
        for run in runs {
            let run = run?;
            if !run.convicted().is_empty() {
                return Err(run.told("nobody was to convict"));
            }
            if !run.tells() {
                return Err(run.told("something was to be held"));
            }
        }
    }
    Ok(())
}
