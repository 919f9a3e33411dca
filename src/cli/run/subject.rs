//! Who is under test: the profile, the program it names or the user names, and what that says of itself.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::cli::{complain, files, say};
use crate::exit::Exit;
use crate::subject::{Build, Profile, built_from, builtin_names, digest, digest_of, told_version};
use crate::terms::Version;

/// The word by which a profile names the autoscaler that comes along.
pub(in crate::cli) const MOCK: &str = "mock-autoscaler";

/// Who is under test, found and known.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Subject {
    pub(super) profile: Profile,
    /// The profile as it was named: by its name or by its path.
    pub(super) named: String,
    /// The SHA-256 of its file.
    pub(super) profile_digest: String,
    pub(super) program: PathBuf,
    /// Arguments before those of the profile: for a program that is several.
    pub(super) before: Vec<String>,
    pub(super) version: Option<Version>,
    pub(super) digest: Option<String>,
    /// The vendor's own definitions of what it works on, as they stand in its files.
    pub(super) definitions: Vec<String>,
}

impl Subject {
    /// Finds it; what is missing has been told.
    pub(super) fn find(
        profile: &str,
        binary: Option<&Path>,
        version: Option<Version>,
    ) -> Result<Subject, Exit> {
        let (path, text) = files::profile_text(profile)?;
        let (called, profile_digest) = (profile.to_owned(), digest_of(&text));
        let profile = files::profile_of(&path, &text)?;
        let Some(named) = binary.or(profile.binary.as_deref().map(Path::new)) else {
            complain(&format!(
                "error: the profile {} names no program: name one with --binary PATH",
                profile.name
            ));
            return Err(Exit::BadInput);
        };
        let (program, before) = if named == Path::new(MOCK) {
            (own()?, vec![MOCK.to_owned()])
        } else {
            (found(named)?, Vec::new())
        };
        let asked: Vec<String> = before.iter().chain(&profile.version_arguments).cloned().collect();
        let asks = !profile.version_arguments.is_empty();
        let version = version
            .or(profile.version)
            .or_else(|| asks.then(|| told_version(&program, &asked)).flatten())
            .or_else(|| before.is_empty().then(|| built_from(&program).ok().flatten()).flatten());
        let digest = digest(&program).ok();
        let definitions = files::texts_here(&profile.crds)?;
        let profile = profile.at(version);
        Ok(Subject { profile, named: called, profile_digest, program, before, version, digest, definitions })
    }
}

/// The profile of a program for which nobody has named one: what it says of its build. Nothing is said of the autoscaler
/// that comes along, whose flavour each scenario chooses; of all others somebody must say what they are.
pub(super) fn told_by(binary: &Path) -> Result<Option<&'static str>, Exit> {
    if binary.file_name().is_some_and(|name| name == MOCK) {
        return Ok(None);
    }
    let program = found(binary)?;
    if let Some(name) = Build::of(&program).ok().flatten().and_then(|build| build.profile()) {
        say(&format!(
            "{} is judged as {name}, as its build says; --subject names another",
            binary.display()
        ))?;
        return Ok(Some(name));
    }
    complain(&format!(
        "error: failed to tell what {} is: name its profile with --subject PROFILE; those that come along are {}",
        binary.display(),
        builtin_names().collect::<Vec<&str>>().join(", ")
    ));
    Err(Exit::BadInput)
}

/// This program.
pub(super) fn own() -> Result<PathBuf, Exit> {
    std::env::current_exe().map_err(|e| {
        complain(&format!("error: failed to find the program that runs: {e}"));
        Exit::Bug
    })
}

/// A program by its path, or by its name as a shell finds it.
fn found(named: &Path) -> Result<PathBuf, Exit> {
    let search = std::env::var_os("PATH").unwrap_or_default();
    let candidates: Vec<PathBuf> = if named.components().count() > 1 {
        vec![named.to_owned()]
    } else {
        std::env::split_paths(&search).map(|folder| folder.join(named)).collect()
    };
    let program =
        candidates.into_iter().find(|path| path.is_file()).and_then(|path| path.canonicalize().ok());
    program.ok_or_else(|| {
        complain(&format!(
            "error: failed to find the program {}: build or download the autoscaler, and name it with --binary PATH",
            named.display()
        ));
        Exit::Missing
    })
}
