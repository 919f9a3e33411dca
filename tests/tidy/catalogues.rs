//! The tables of expectations, faults and scenarios, as they stand in the documents.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use scaleproof::check::{Expectation, Kind, catalogue};
use scaleproof::fault;
use scaleproof::scenario::{Known, Scenario, read};
use scaleproof::terms::Provider;

use crate::sources::{files, read as text};

/// All scenarios there are, by their path below `suites/`.
fn scenarios() -> Vec<(String, Scenario)> {
    let yaml =
        |path: &String| path.starts_with("suites/") && Path::new(path).extension() == Some("yaml".as_ref());
    let paths = files().into_iter().filter(yaml);
    let scenario = |path: String| {
        let scenario = read(&path, &text(&path).text, Known::default()).unwrap_or_else(|e| panic!("{e}"));
        (path.trim_start_matches("suites/").to_owned(), scenario)
    };
    paths.map(scenario).collect()
}

/// Every expectation: for whom, where it is promised, and which scenarios exercise it.
pub(crate) fn expectations() -> String {
    let scenarios = scenarios();
    let mut table = String::from(
        "| code | promise | level | providers | versions | promised in | scenarios |\n|---|---|---|---|---|---|---|\n",
    );
    for one in catalogue() {
        let Expectation { code, promise, level, versions, .. } = one;
        let providers: Vec<String> = one.providers.iter().map(ToString::to_string).collect();
        let cited: Vec<String> =
            one.cite.iter().map(|cite| format!("[{}]({})", cell(cite.where_), cite.url)).collect();
        let mut exercise: Vec<String> = Vec::new();
        if one.always {
            exercise.push("all".to_owned());
        }
        let expecting = scenarios.iter().filter(|(_, scenario)| scenario.expect.contains(code));
        exercise.extend(expecting.map(|(path, _)| format!("[{}]({path})", stem(path))));
        let _ = writeln!(
            table,
            "| {code} | {} | {level} | {} | {versions} | {} | {} |",
            cell(promise),
            providers.join(", "),
            cited.join("; "),
            exercise.join(", "),
        );
    }
    table
}

/// Every fault.
pub(crate) fn faults() -> String {
    let mut table = String::from("| code | in a scenario | what it does |\n|---|---|---|\n");
    for fault in fault::catalogue() {
        let _ = writeln!(table, "| {} | `{}` | {} |", fault.code, fault.name, cell(fault.does));
    }
    table
}

/// Every scenario, by its folder.
pub(crate) fn suites() -> String {
    let mut table = String::from("| scenario | claim | exercises |\n|---|---|---|\n");
    for (path, scenario) in scenarios() {
        let codes: Vec<&str> = scenario.expect.iter().map(scaleproof::code::Code::as_str).collect();
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let _ = writeln!(
            table,
            "| {folder}/[{}]({path}) | {} | {} |",
            stem(&path),
            cell(&scenario.title),
            codes.join(" ")
        );
    }
    table
}

/// How many expectations there are about what, provider beside provider, and how many scenarios exercise them.
pub(crate) fn overview() -> String {
    let scenarios = scenarios();
    let mut kinds: BTreeMap<Kind, Vec<&Expectation>> = BTreeMap::new();
    for one in catalogue() {
        kinds.entry(one.kind).or_default().push(one);
    }
    let mut table = String::from("| about |");
    for provider in Provider::ALL {
        let _ = write!(table, " {provider} |");
    }
    table.push_str(" scenarios |\n|---|--:|--:|--:|--:|\n");
    for (kind, all) in kinds {
        let _ = write!(table, "| {} |", about(kind));
        for provider in Provider::ALL {
            let _ =
                write!(table, " {} |", all.iter().filter(|one| one.providers.contains(&provider)).count());
        }
        let exercises =
            |scenario: &Scenario| scenario.expect.iter().any(|code| all.iter().any(|one| one.code == *code));
        let _ = writeln!(table, " {} |", scenarios.iter().filter(|(_, one)| exercises(one)).count());
    }
    table
}

fn about(kind: Kind) -> &'static str {
    match kind {
        Kind::ScaleUp => "buying nodes",
        Kind::ScaleDown => "giving them back",
        Kind::MinMax => "minimum and maximum",
        Kind::Safety => "safety of pods, and of what is not the subject's",
        Kind::Backoff => "back-off and recovery",
        Kind::FaultTolerance => "faults of others",
        Kind::Hygiene => "nothing left lying about",
        Kind::Config => "settings",
    }
}

fn stem(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path).trim_end_matches(".yaml")
}

/// A text within a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;").replace('\n', " ")
}
