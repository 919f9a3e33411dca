//! Which kubectls this machine has.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Those named in `KUBECTL`, otherwise those on the `PATH`, each once, in the order of their names.
pub(crate) fn kubectls() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = match env::var_os("KUBECTL") {
        Some(named) => env::split_paths(&named).filter(|path| !path.as_os_str().is_empty()).collect(),
        None => env::split_paths(&env::var_os("PATH").unwrap_or_default())
            .flat_map(|folder| on(&folder))
            .collect(),
    };
    found.sort_by_key(|path| (path.file_name().map(ToOwned::to_owned), path.clone()));
    let mut real = Vec::new();
    found.retain(|path| {
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        let new = !real.contains(&path);
        real.push(path);
        new
    });
    found
}

fn on(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let runs = |path: &Path| {
        fs::metadata(path).is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
    };
    let is_kubectl = |path: &Path| path.file_name().and_then(|name| name.to_str()).is_some_and(is_kubectl);
    entries.map(|entry| entry.path()).filter(|path| is_kubectl(path) && runs(path)).collect()
}

/// `kubectl`, `kubectl-1.30`, `kubectl.v1.30.2`; but `kubectl-tree` is a plugin.
fn is_kubectl(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("kubectl") else { return false };
    let version = rest.strip_prefix(['-', '.']).map(|version| version.trim_start_matches('v'));
    rest.is_empty()
        || version.is_some_and(|version| version.starts_with(|first: char| first.is_ascii_digit()))
}

pub(crate) fn plugins_are_no_kubectls() {
    for (name, is) in [
        ("kubectl", true),
        ("kubectl-1.30", true),
        ("kubectl.v1.30.2", true),
        ("kubectl-tree", false),
        ("kubectl-view_secret", false),
        ("kubectx", false),
    ] {
        assert_eq!(is_kubectl(name), is, "{name}");
    }
}
