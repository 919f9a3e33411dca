//! Where a name leads: to a file or a folder here, or to what comes along inside the program. What is here wins.
//!
//! Scenarios come along as `suites/…`, profiles as `profiles/…`. Of a scenario, the `suites/` before it and the `.yaml`
//! behind it may be left out, here as well, so that a short name never means a file here and its neighbour inside.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use crate::document::meant;
use crate::{scenario, subject};

/// Below it are all scenarios.
pub(super) const SUITES: &str = "suites";
/// Below it are the profiles that come along.
pub(super) const PROFILES: &str = "profiles";
const YAML: &str = "yaml";

/// What a name leads to.
pub(super) enum Found {
    /// A file or a folder here.
    Here(PathBuf),
    /// One file that comes along, by its whole name, and its text.
    Along(PathBuf, &'static str),
    /// A folder of those that come along: all that is in it, in order.
    Folder(Vec<PathBuf>),
}

/// All that comes along, by its whole name, in order.
pub(super) fn along() -> Vec<(PathBuf, &'static str)> {
    let profiles = subject::builtin_names()
        .filter_map(|name| Some((with_end(&Path::new(PROFILES).join(name)), subject::builtin(name)?)));
    let scenarios = scenario::builtin().iter().map(|(name, text)| (PathBuf::from(name), *text));
    profiles.chain(scenarios).collect()
}

/// What a name leads to, if it leads anywhere.
pub(super) fn find(named: &Path) -> Option<Found> {
    let whole = whole(named);
    if let Some(here) = whole.iter().find(|name| name.exists()) {
        return Some(Found::Here(here.clone()));
    }
    let along = along();
    whole.iter().find_map(|name| {
        if let Some((path, text)) = along.iter().find(|(path, _)| path == name) {
            return Some(Found::Along(path.clone(), text));
        }
        let within: Vec<PathBuf> =
            along.iter().map(|(path, _)| path).filter(|path| path.starts_with(name)).cloned().collect();
        (!within.is_empty()).then_some(Found::Folder(within))
    })
}

/// What a name may be short for, itself first.
fn whole(named: &Path) -> Vec<PathBuf> {
    let mut names = vec![named.to_owned()];
    if is_short(named) {
        names.push(Path::new(SUITES).join(named));
    }
    if named.extension().is_none_or(|end| end != YAML) {
        let ended: Vec<PathBuf> = names.iter().map(|name| with_end(name)).collect();
        names.extend(ended);
    }
    names
}

/// A path that leads up, or begins at the root or with `./`, is meant as it is; and nobody names the folder twice.
fn is_short(named: &Path) -> bool {
    named.components().all(|part| matches!(part, Component::Normal(_)))
        && [SUITES, PROFILES].iter().all(|folder| !named.starts_with(folder))
}

/// That a name leads nowhere, as it reads after "failed to", and in a second line what to do.
pub(super) fn missing(named: &Path) -> String {
    let near = near(named).map_or_else(String::new, |near| format!("; {near}"));
    format!(
        "find {}: there is no such file or folder{near}\n  `scaleproof suites` lists the scenarios that come along, \
         `scaleproof suites --write DIR` gives them as files",
        named.display()
    )
}

/// What may have been meant, of what comes along: it is told where the name begins to be unknown.
fn near(named: &Path) -> Option<String> {
    let named = if is_short(named) { Path::new(SUITES).join(named) } else { named.to_owned() };
    let along = along();
    let mut folder = PathBuf::new();
    for part in named.components() {
        let next = folder.join(part);
        if along.iter().any(|(path, _)| path.starts_with(&next)) {
            folder = next;
            continue;
        }
        let below = along.iter().filter_map(|(path, _)| path.strip_prefix(&folder).ok());
        let known: BTreeSet<&str> =
            below.filter_map(|path| path.components().next()?.as_os_str().to_str()).collect();
        let word = part.as_os_str().to_str().filter(|_| !folder.as_os_str().is_empty())?;
        return Some(format!("in {}, {}", folder.display(), meant(word, known)));
    }
    None
}

/// A path with `.yaml` behind it, whatever it ends in.
fn with_end(path: &Path) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(".");
    path.push(YAML);
    path.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(named: &str) -> Vec<String> {
        match find(Path::new(named)) {
            None => Vec::new(),
            Some(Found::Here(path)) => vec![format!("here {}", path.display())],
            Some(Found::Along(path, _)) => vec![path.display().to_string()],
            Some(Found::Folder(paths)) => paths.iter().map(|path| path.display().to_string()).collect(),
        }
    }

    #[test]
    fn what_is_here_wins_over_what_comes_along() {
        for (named, here) in [
            ("suites/incidents", "suites/incidents"),
            ("incidents", "suites/incidents"),
            ("./suites/incidents", "./suites/incidents"),
            (
                "chaos/cloud/failed-lists-decide-nothing",
                "suites/chaos/cloud/failed-lists-decide-nothing.yaml",
            ),
            ("src", "src"),
        ] {
            assert_eq!(found(named), [format!("here {here}")], "{named}");
        }
        let profile = "profiles/mock-autoscaler-hetzner.yaml";
        assert_eq!(found(profile), [profile]);
        assert_eq!(found("profiles/mock-autoscaler-hetzner"), [profile]);
        assert_eq!(found("profiles").len(), subject::builtin_names().count());
        for nowhere in ["none", "./profiles", "../profiles", "/profiles", "profile", "profiles/mock"] {
            assert_eq!(found(nowhere), [""; 0], "{nowhere}");
        }
    }

    #[test]
    fn what_may_have_been_meant_is_told_where_it_is_unknown() {
        let near = |named: &str| near(Path::new(named));
        let folders = "in suites, there are `chaos`, `conformance`, `incidents`, `negative`";
        assert_eq!(near("none").as_deref(), Some(folders));
        assert_eq!(near("suites/none/more").as_deref(), Some(folders));
        assert_eq!(near("incidnts").as_deref(), Some("in suites, did you mean `incidents`?"));
        let deep = "in suites/chaos, did you mean `cloud`?";
        assert_eq!(near("chaos/clod/a.yaml").as_deref(), Some(deep));
        assert_eq!([near("./none"), near("/none"), near("incidents")], [None, None, None]);
    }
}
