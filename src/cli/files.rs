//! Scenarios and profiles as files: finding them, reading them, and telling what is wrong with them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use mock_hetzner::{Catalogue, Deed, Trouble};
use serde_json::Value;

use super::complain;
use crate::check;
use crate::code::Code;
use crate::exit::Exit;
use crate::scenario::{self, Known, Scenario};
use crate::subject::{self, Profile};

/// Where the scenarios that come along are.
const SUITES: &str = "suites";

/// Reads a scenario; if it cannot be used, everything that is wrong with it has been told.
pub(super) fn scenario(path: &Path) -> Result<Scenario, Exit> {
    scenario_of(&path.to_string_lossy(), &text(path)?)
}

/// Reads a scenario from its text; `named` is what mistakes in it are told of.
pub(super) fn scenario_of(named: &str, text: &str) -> Result<Scenario, Exit> {
    let catalogue = Catalogue::builtin();
    let machines: Vec<&str> = catalogue.server_types.iter().map(|machine| machine.name.as_str()).collect();
    let locations: Vec<&str> = catalogue.locations.iter().map(|location| location.name.as_str()).collect();
    let codes: Vec<Code> =
        check::catalogue().into_iter().map(|expectation| expectation.code.clone()).collect();
    let known = Known {
        codes: Some(&codes),
        machines: Some(&machines),
        locations: Some(&locations),
        trouble: Some(trouble),
        deed: Some(deed),
    };
    scenario::read(named, text, known).map_err(|mistakes| {
        complain(&mistakes.shown());
        Exit::BadInput
    })
}

/// Reads a profile, given by its path or as one that comes along by its name; if it cannot be used, everything that is
/// wrong has been told.
pub(super) fn profile(named: &str) -> Result<Profile, Exit> {
    let path = Path::new(named);
    if path.extension().is_some_and(|end| end == "yaml") || named.contains('/') {
        return profile_at(path);
    }
    let Some(text) = subject::builtin(named) else {
        let names: Vec<&str> = subject::builtin_names().collect();
        complain(&format!("error: failed to find the profile {named:?}: there are {}", names.join(", ")));
        complain("  A profile of your own is named by its path: ./mine.yaml");
        return Err(Exit::BadInput);
    };
    profile_of(named, text)
}

/// Reads a profile by its path.
pub(super) fn profile_at(path: &Path) -> Result<Profile, Exit> {
    profile_of(&path.to_string_lossy(), &text(path)?)
}

fn profile_of(named: &str, text: &str) -> Result<Profile, Exit> {
    subject::read(named, text).map_err(|mistakes| {
        complain(&mistakes.shown());
        Exit::BadInput
    })
}

/// The text of a file.
pub(super) fn text(path: &Path) -> Result<String, Exit> {
    fs::read_to_string(path).map_err(|error| unread(path, &error))
}

fn unread(path: &Path, error: &io::Error) -> Exit {
    complain(&format!("error: failed to read {}: {error}", path.display()));
    if error.kind() == io::ErrorKind::NotFound && path.starts_with(SUITES) {
        complain(
            "  The scenarios that come along lie beside the source: run this there, or name files of your own.",
        );
    }
    Exit::BadInput
}

/// The YAML files that are named: files as they are, folders with all that is in them, in order, each once.
pub(super) fn below(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Exit> {
    let mut found = Vec::new();
    let mut waiting: Vec<PathBuf> = paths.iter().rev().cloned().collect();
    while let Some(path) = waiting.pop() {
        if !path.is_dir() {
            if !found.contains(&path) {
                found.push(path);
            }
            continue;
        }
        let entries = fs::read_dir(&path).map_err(|error| unread(&path, &error))?;
        let mut entries: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        entries.retain(|entry| entry.is_dir() || entry.extension().is_some_and(|end| end == "yaml"));
        entries.sort_by(|one, other| other.cmp(one));
        waiting.extend(entries);
    }
    Ok(found)
}

fn trouble(written: &Value) -> Result<(), String> {
    written.to_string().parse::<Trouble>().map(drop).map_err(|why| format!("failed to {why}"))
}

fn deed(written: &Value) -> Result<(), String> {
    serde_json::from_value::<Deed>(written.clone()).map(drop).map_err(|why| why.to_string())
}
