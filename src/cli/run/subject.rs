//! Who is under test: the profile, the program it names or the user names, and what that says of itself.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::cli::{complain, files};
use crate::exit::Exit;
use crate::subject::{Profile, built_from, digest, told_version};
use crate::terms::Version;

/// The word by which a profile names the autoscaler that comes along.
pub(in crate::cli) const MOCK: &str = "mock-autoscaler";

/// Who is under test, found and known.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Subject {
    pub(super) profile: Profile,
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
        let profile = files::profile(profile)?;
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
        Ok(Subject { profile: profile.at(version), program, before, version, digest, definitions })
    }
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
