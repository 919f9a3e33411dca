//! `scaleproof list`: the expectations there are, provider beside provider, the faults, and the scenarios with what they
//! exercise.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use super::{files, say};
use crate::check::{Expectation, catalogue};
use crate::code::Code;
use crate::exit::Exit;
use crate::fault;
use crate::scenario::Scenario;
use crate::terms::Provider;

pub(super) const EXAMPLES: &str = "Examples:
  scaleproof list
  scaleproof list --provider karpenter
  scaleproof list incidents

`scaleproof explain CODE` says more of an expectation or a fault.";

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Only what this provider has promised: hetzner, clusterapi or karpenter
    #[arg(long, value_parser = provider)]
    provider: Option<Provider>,
    /// Scenarios, or folders with all that is in them
    #[arg(value_name = "FILE", default_values = ["suites"])]
    files: Vec<PathBuf>,
}

/// A provider by its name.
fn provider(name: &str) -> Result<Provider, String> {
    let known = Provider::ALL.into_iter().find(|provider| provider.to_string() == name);
    known.ok_or_else(|| "one of hetzner, clusterapi, karpenter".to_owned())
}

pub(super) fn list(arguments: &Arguments) -> Result<Exit, Exit> {
    let mut scenarios = Vec::new();
    for path in files::below(&arguments.files)? {
        let scenario = files::scenario(&path)?;
        scenarios.push((path, scenario));
    }
    let asked = arguments.provider;
    let promised: Vec<&Expectation> = catalogue()
        .into_iter()
        .filter(|expectation| asked.is_none_or(|provider| expectation.providers.contains(&provider)))
        .collect();
    say(&expectations(&promised, &scenarios))?;
    say(&format!("\n{}", faults()))?;
    say(&format!("\n{}", table(&promised, &scenarios)))?;
    Ok(Exit::Held)
}

fn expectations(promised: &[&Expectation], scenarios: &[(PathBuf, Scenario)]) -> String {
    let mut exercised: BTreeMap<&Code, usize> = BTreeMap::new();
    for code in scenarios.iter().flat_map(|(_, scenario)| &scenario.expect) {
        *exercised.entry(code).or_default() += 1;
    }
    let mut text =
        format!("Expectations, and the versions that promise them\n  {:<6} {:<6}", "code", "level");
    let cells = |expectation: &Expectation| {
        Provider::ALL.map(|provider| {
            let promises = expectation.providers.contains(&provider);
            if promises { expectation.versions.to_string() } else { "-".to_owned() }
        })
    };
    let widths: Vec<usize> = (0..Provider::ALL.len())
        .map(|at| promised.iter().map(|one| cells(one)[at].len()).max().unwrap_or(0))
        .zip(Provider::ALL)
        .map(|(width, provider)| width.max(provider.to_string().len()))
        .collect();
    for (provider, width) in Provider::ALL.into_iter().zip(&widths) {
        let _ = write!(text, "  {provider:<width$}");
    }
    let _ = writeln!(text, "  scenarios  promise");
    for one in promised {
        let _ = write!(text, "  {:<6} {:<6}", one.code, one.level);
        for (cell, width) in cells(one).iter().zip(&widths) {
            let _ = write!(text, "  {cell:<width$}");
        }
        let times = match exercised.get(&one.code) {
            _ if one.always => "all".to_owned(),
            Some(times) => times.to_string(),
            None => "-".to_owned(),
        };
        let _ = writeln!(text, "  {times:>9}  {}", one.promise);
    }
    text
}

fn faults() -> String {
    let mut text = String::from("Faults (code, as a scenario writes it, what it does)\n");
    let width = fault::catalogue().iter().map(|fault| fault.name.len()).max().unwrap_or(0);
    for fault in fault::catalogue() {
        let _ = writeln!(text, "  {:<5} {:<width$}  {}", fault.code, fault.name, fault.does);
    }
    text
}

fn table(promised: &[&Expectation], scenarios: &[(PathBuf, Scenario)]) -> String {
    let is_promised = |code: &Code| promised.iter().any(|expectation| expectation.code == *code);
    let shown: Vec<_> =
        scenarios.iter().filter(|(_, scenario)| scenario.expect.iter().any(is_promised)).collect();
    let width = shown.iter().map(|(path, _)| path.as_os_str().len()).max().unwrap_or(0);
    let mut text = String::from("Scenarios (file, what it exercises, claim)\n");
    for (path, scenario) in shown {
        let codes: Vec<&str> = scenario.expect.iter().map(Code::as_str).collect();
        let (path, codes) = (path.display().to_string(), codes.join(" "));
        let _ = writeln!(text, "  {path:<width$}  {codes:<20} {}", scenario.title);
    }
    text
}
