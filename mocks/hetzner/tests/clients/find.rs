//! Which clients this machine has.

use std::env;
use std::path::{Path, PathBuf};

/// The CLIs named in `HCLOUD`, otherwise the first on the `PATH`.
pub(crate) fn clis() -> Vec<PathBuf> {
    if let Some(named) = env::var_os("HCLOUD") {
        return env::split_paths(&named).filter(|path| !path.as_os_str().is_empty()).collect();
    }
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .map(|folder| folder.join("hcloud"))
        .find(|file| file.is_file())
        .into_iter()
        .collect()
}

/// The Python that has hcloud-python.
pub(crate) fn python() -> Option<PathBuf> {
    if let Some(named) = env::var_os("HCLOUD_PYTHON") {
        return Some(PathBuf::from(named));
    }
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent()?;
    // The last thing that is written when the environment is made.
    let whole = target.join("clients/venv/whole").is_file();
    whole.then(|| target.join("clients/venv/bin/python"))
}
