//! Scenarios and profiles as files: reading them, and telling what is wrong with them. [`lookup`] finds them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use mock_hetzner::{Catalogue, Deed, Trouble};
use serde_json::Value;

use super::complain;
use super::lookup::{self, Found};
use crate::check;
use crate::cloud;
use crate::code::Code;
use crate::exit::Exit;
use crate::scenario::{self, Known, Scenario};
use crate::subject::{self, Profile};

/// Reads a scenario; if it cannot be used, everything that is wrong with it has been told.
pub(super) fn scenario(named: &Path) -> Result<Scenario, Exit> {
    let (path, text) = text(named)?;
    scenario_of(&path.to_string_lossy(), &text)
}

/// Reads a scenario from its text; `named` is what mistakes in it are told of.
pub(super) fn scenario_of(named: &str, text: &str) -> Result<Scenario, Exit> {
    let catalogue = Catalogue::builtin();
    let machines: Vec<&str> = catalogue.server_types.iter().map(|machine| machine.name.as_str()).collect();
    let locations: Vec<&str> = catalogue.locations.iter().map(|location| location.name.as_str()).collect();
    let defects: Vec<&str> = mock_autoscaler::defects().collect();
    let codes: Vec<Code> =
        check::catalogue().into_iter().map(|expectation| expectation.code.clone()).collect();
    let known = Known {
        codes: Some(&codes),
        machines: Some(&machines),
        locations: Some(&locations),
        room: Some(cloud::room),
        defects: Some(&defects),
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
    let (path, text) = profile_text(named)?;
    profile_of(&path, &text)
}

/// The text of a profile that is given in this way, and its whole name.
pub(super) fn profile_text(named: &str) -> Result<(String, String), Exit> {
    let path = Path::new(named);
    let names = || subject::builtin_names().collect::<Vec<&str>>().join(", ");
    if path.extension().is_some_and(|end| end == "yaml") || named.contains('/') {
        if lookup::find(path).is_none() {
            complain(&format!("error: failed to find the profile {named}: there is no such file"));
            complain(&format!("  Those that come along go by their names: {}", names()));
            return Err(Exit::BadInput);
        }
        return text(path).map(|(path, text)| (path.to_string_lossy().into_owned(), text));
    }
    let Some(text) = subject::builtin(named) else {
        complain(&format!("error: failed to find the profile {named:?}: there are {}", names()));
        complain("  A profile of your own is named by its path: ./mine.yaml");
        return Err(Exit::BadInput);
    };
    Ok((named.to_owned(), text.to_owned()))
}

/// Reads a profile by its path.
pub(super) fn profile_at(named: &Path) -> Result<Profile, Exit> {
    let (path, text) = text(named)?;
    profile_of(&path.to_string_lossy(), &text)
}

/// Reads a profile from its text; `named` is what mistakes in it are told of.
pub(super) fn profile_of(named: &str, text: &str) -> Result<Profile, Exit> {
    subject::read(named, text).map_err(|mistakes| {
        complain(&mistakes.shown());
        Exit::BadInput
    })
}

/// The text of a file, here or of those that come along, and its whole name.
pub(super) fn text(named: &Path) -> Result<(PathBuf, String), Exit> {
    match lookup::find(named) {
        Some(Found::Here(path)) => read(&path).map(|text| (path, text)),
        Some(Found::Along(path, text)) => Ok((path, text.to_owned())),
        Some(Found::Folder(_)) => Err(unread(named, &io::ErrorKind::IsADirectory.into())),
        None => Err(missing(named)),
    }
}

fn read(path: &Path) -> Result<String, Exit> {
    fs::read_to_string(path).map_err(|error| unread(path, &error))
}

fn unread(path: &Path, error: &io::Error) -> Exit {
    complain(&format!("error: failed to read {}: {error}", path.display()));
    Exit::BadInput
}

fn missing(named: &Path) -> Exit {
    complain(&format!("error: failed to {}", lookup::missing(named)));
    Exit::BadInput
}

/// The YAML files that are named, by their whole names: files as they are, folders with all that is in them, in order, each
/// once. Names that lead nowhere have all been told.
pub(super) fn below(named: &[PathBuf]) -> Result<Vec<PathBuf>, Exit> {
    let (mut found, mut refused) = (Vec::new(), None);
    for name in named {
        let below = match lookup::find(name) {
            Some(Found::Here(path)) => below_here(&path)?,
            Some(Found::Along(path, _)) => vec![path],
            Some(Found::Folder(paths)) => paths,
            None => {
                refused = Some(missing(name));
                continue;
            }
        };
        for path in below {
            if !found.contains(&path) {
                found.push(path);
            }
        }
    }
    refused.map_or(Ok(found), Err)
}

/// The texts of the files that a profile of somebody's names, or of those in the folders that it names: none comes along.
pub(super) fn texts_here(named: &[String]) -> Result<Vec<String>, Exit> {
    let mut texts = Vec::new();
    for path in named {
        for path in below_here(Path::new(path))? {
            texts.push(read(&path)?);
        }
    }
    Ok(texts)
}

fn below_here(path: &Path) -> Result<Vec<PathBuf>, Exit> {
    let mut found = Vec::new();
    let mut waiting = vec![path.to_owned()];
    while let Some(path) = waiting.pop() {
        if !path.is_dir() {
            found.push(path);
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
