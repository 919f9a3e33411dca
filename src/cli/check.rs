//! `scaleproof check`: stored histories are judged again, without cluster, cloud or autoscaler.

use std::fs;
use std::path::{Path, PathBuf};

use super::paint::paint;
use super::{complain, say};
use crate::check::judge;
use crate::exit::Exit;
use crate::history::file;
use crate::report::text;
use crate::report::{Standing, Telling, html, json, junit, markdown};

pub(super) const EXAMPLES: &str = "Examples:
  scaleproof check run/history.jsonl
  scaleproof check runs/*.jsonl --report out
  scaleproof check --negative run/history.jsonl

`--report DIR` writes report.json, junit.xml, summary.md and a timeline (HTML) for each history.";

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Histories: JSON lines, as a run has stored them
    #[arg(value_name = "HISTORY", required = true)]
    histories: Vec<PathBuf>,
    /// Take the conviction of what a scenario names under `convicts` for what was wanted: its subject is wrong on purpose
    #[arg(long)]
    negative: bool,
    /// Write reports into this folder
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
}

pub(super) fn check(arguments: &Arguments) -> Result<Exit, Exit> {
    let paint = paint();
    let mut tellings = Vec::new();
    for (number, path) in arguments.histories.iter().enumerate() {
        let history = file::open(path).map_err(|error| {
            complain(&format!("error: failed to {error} ({})", path.display()));
            Exit::BadInput
        })?;
        let judgement = judge(&history);
        if !arguments.negative && !history.header.scenario.convicts.is_empty() {
            complain(&format!(
                "note: {} says that its subject is wrong on purpose; `--negative` takes a conviction for what was wanted",
                path.display()
            ));
        }
        let of = if arguments.negative { Telling::of_wrong_subject } else { Telling::of };
        let telling = of(&history, &judgement, Some(&path.to_string_lossy()));
        say(&text::run(&telling, paint))?;
        if let Some(folder) = &arguments.report {
            write(folder, &timeline_name(number, path), &html::page(&history, &telling))?;
        }
        tellings.push(telling);
    }
    if let Some(folder) = &arguments.report {
        reports(folder, &tellings)?;
    }
    if tellings.len() > 1 {
        say(&format!("\n{}", text::table(&tellings, paint)))?;
    }
    let exit = exit(Standing::of_all(&tellings));
    say(&format!("\nexit code {}: {}", exit.code(), exit.meaning()))?;
    Ok(exit)
}

/// How the program ends after this.
pub(super) fn exit(standing: Standing) -> Exit {
    match standing {
        Standing::Violated => Exit::Violated,
        Standing::Held | Standing::Convicted => Exit::Held,
        Standing::Unknown | Standing::NotApplicable => Exit::Unknown,
    }
}

/// What a history is called among the reports.
fn timeline_name(number: usize, path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    format!("{:02}-{stem}.html", number + 1)
}

/// The reports over all runs.
pub(super) fn reports(folder: &Path, tellings: &[Telling]) -> Result<(), Exit> {
    let bug = |what: &str, error: &dyn std::fmt::Display| {
        complain(&format!("error: failed to write {what}: {error}; this is a bug of scaleproof"));
        Exit::Bug
    };
    let json = json::document(tellings).map_err(|error| bug("the report as JSON", &error))?;
    let junit = junit::document(tellings).map_err(|error| bug("the report as JUnit XML", &error))?;
    write(folder, "report.json", &json)?;
    write(folder, "junit.xml", &junit)?;
    write(folder, "summary.md", &markdown::summary(tellings))
}

/// Writes a file of the reports, and the folder for it.
pub(super) fn write(folder: &Path, name: &str, text: &str) -> Result<(), Exit> {
    let path = folder.join(name);
    fs::create_dir_all(folder).and_then(|()| fs::write(&path, text)).map_err(|error| {
        complain(&format!("error: failed to write {}: {error}", path.display()));
        Exit::Missing
    })
}
