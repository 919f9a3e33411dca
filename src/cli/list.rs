//! `scaleproof list`: the expectations there are, and the scenarios with what they exercise.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::{files, say};
use crate::check::catalogue;
use crate::code::Code;
use crate::exit::Exit;
use crate::terms::Provider;

pub(super) const EXAMPLES: &str = "Examples:
  scaleproof list
  scaleproof list --provider karpenter
  scaleproof list suites/incidents";

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Only what this provider has promised: hetzner, clusterapi or karpenter
    #[arg(long, value_parser = provider)]
    provider: Option<Provider>,
    /// Scenarios, or folders with all that is in them
    #[arg(value_name = "FILES", default_values = ["suites"])]
    files: Vec<PathBuf>,
}

/// A provider by its name.
fn provider(name: &str) -> Result<Provider, String> {
    let known = Provider::ALL.into_iter().find(|provider| provider.to_string() == name);
    known.ok_or_else(|| "one of hetzner, clusterapi, karpenter".to_owned())
}

pub(super) fn list(arguments: &Arguments) -> Result<Exit, Exit> {
    let mut scenarios: Vec<(PathBuf, String, Vec<Code>)> = Vec::new();
    for path in files::below(&there(&arguments.files))? {
        let scenario = files::scenario(&path)?;
        scenarios.push((path, scenario.title, scenario.expect));
    }
    say(&expectations(arguments.provider, &scenarios))?;
    say(&format!("\n{}", table(arguments.provider, &scenarios)))?;
    Ok(Exit::Held)
}

/// The default folder need not be there.
fn there(files: &[PathBuf]) -> Vec<PathBuf> {
    files.iter().filter(|path| path.exists() || *path != Path::new("suites")).cloned().collect()
}

fn expectations(provider: Option<Provider>, scenarios: &[(PathBuf, String, Vec<Code>)]) -> String {
    let mut exercised: BTreeMap<&Code, usize> = BTreeMap::new();
    for code in scenarios.iter().flat_map(|(_, _, codes)| codes) {
        *exercised.entry(code).or_default() += 1;
    }
    let mut text = String::from("Expectations (code, level, in how many scenarios, promise)\n");
    for one in catalogue().into_iter().filter(|one| provider.is_none_or(|by| one.providers.contains(&by))) {
        let times = exercised.get(&one.code).copied().unwrap_or(0);
        let always = if one.always { " (in every run)" } else { "" };
        let _ = writeln!(text, "  {:<6} {:<6} {times:>3}  {}{always}", one.code, one.level, one.promise);
    }
    text
}

fn table(provider: Option<Provider>, scenarios: &[(PathBuf, String, Vec<Code>)]) -> String {
    let promised = |code: &Code| {
        provider.is_none_or(|by| {
            catalogue().into_iter().any(|one| one.code == *code && one.providers.contains(&by))
        })
    };
    let shown: Vec<_> = scenarios.iter().filter(|(_, _, codes)| codes.iter().any(promised)).collect();
    let width = shown.iter().map(|(path, ..)| path.as_os_str().len()).max().unwrap_or(0);
    let mut text = String::from("Scenarios (file, what it exercises, claim)\n");
    for (path, title, codes) in shown {
        let codes: Vec<&str> = codes.iter().map(Code::as_str).collect();
        let _ = writeln!(text, "  {:<width$}  {:<20} {title}", path.display().to_string(), codes.join(" "));
    }
    text
}
