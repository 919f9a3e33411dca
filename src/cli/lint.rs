//! `scaleproof lint`: every mistake of every scenario and every profile, in one go.

use std::path::{Path, PathBuf};

use super::lookup::{PROFILES, SUITES};
use super::{complain, files, say};
use crate::exit::Exit;

pub(super) const EXAMPLES: &str = "Examples:
  scaleproof lint
  scaleproof lint suites/incidents my-profile.yaml";

const BESIDE_SOURCE: &str = "fixtures/autoscalers";

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Files, or folders with all that is in them: everything here or, where there is nothing, what comes along, if left out
    #[arg(value_name = "FILES")]
    files: Vec<PathBuf>,
}

pub(super) fn lint(arguments: &Arguments) -> Result<Exit, Exit> {
    let everything = [SUITES, profiles()].map(PathBuf::from);
    let named = if arguments.files.is_empty() { &everything } else { arguments.files.as_slice() };
    let files = files::below(named)?;
    if files.is_empty() {
        complain("error: failed to find anything to check: there is no YAML file here");
        return Err(Exit::BadInput);
    }
    let wrong = files.iter().filter(|path| check(path).is_err()).count();
    if wrong > 0 {
        complain(&format!("\nfiles that cannot be used: {wrong} of {}", files.len()));
        return Err(Exit::BadInput);
    }
    say(&format!("files without a mistake: {}", files.len()))?;
    Ok(Exit::Held)
}

fn check(path: &Path) -> Result<(), Exit> {
    if is_profile(&files::text(path)?.1) {
        files::profile_at(path).map(drop)
    } else {
        files::scenario(path).map(drop)
    }
}

/// Where the profiles are: beside the source they are elsewhere than in what `scaleproof suites --write` has written.
fn profiles() -> &'static str {
    if Path::new(BESIDE_SOURCE).exists() { BESIDE_SOURCE } else { PROFILES }
}

/// A profile has a provider, and a scenario has none.
fn is_profile(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("provider:") || line.contains("profile.schema.json"))
}
