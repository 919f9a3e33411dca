//! Runs what a user of hcloud-python wrote.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cloud::Cloud;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients/python");

/// All there are, in the order of their names.
pub(crate) fn lives() -> Result<Vec<PathBuf>, String> {
    let folder = Path::new(FOLDER).join("lives");
    let entries = fs::read_dir(folder).map_err(|error| error.to_string())?;
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "py"));
    files.sort();
    Ok(files)
}

pub(crate) async fn live(cloud: &Cloud, python: &Path, file: &Path) -> Result<(), String> {
    let mut command = cloud.command(python);
    // No compiled file of ours lands beside the source.
    command.arg("-B").arg(file).env("PYTHONPATH", FOLDER);
    let ended = cloud.ended(command).await?;
    if ended.code == 0 { Ok(()) } else { Err(format!("{}{}", ended.out, ended.err)) }
}
