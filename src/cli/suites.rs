//! `scaleproof suites`: the scenarios that come along, by folder, or all that comes along as files to start from.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::lookup::{self, PROFILES, SUITES};
use super::{complain, say};
use crate::exit::Exit;
use crate::scenario::{self, Known};
use crate::subject;

pub(super) const EXAMPLES: &str = "Examples:
  scaleproof suites
  scaleproof suites --write .

`--write DIR` writes DIR/suites, DIR/profiles, and DIR/schemas, by which editors complete both. In DIR, `scaleproof run suites`
runs those files, for what is here wins over what comes along. `scaleproof list` says what scenarios exercise.";

/// The schemas, beside the source and among what is written. The first line of a file names the one for it.
const SCHEMAS_BESIDE_SOURCE: &str = "fixtures/schemas/";
const SCHEMAS: &str = "schemas/";
/// So many files are named when some are in the way.
const NAMED: usize = 5;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Write scenarios, profiles and schemas into this folder
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,
    /// Write over files that say something else
    #[arg(long, requires = "write")]
    force: bool,
}

pub(super) fn suites(arguments: &Arguments) -> Result<Exit, Exit> {
    match &arguments.write {
        Some(folder) => write(folder, arguments.force)?,
        None => say(&listed())?,
    }
    Ok(Exit::Held)
}

/// Folder by folder, each scenario with its claim.
fn listed() -> String {
    let mut folders: BTreeMap<&str, Vec<(&str, String)>> = BTreeMap::new();
    for (path, text) in scenario::builtin() {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let name = name.trim_end_matches(".yaml");
        let title =
            scenario::read(path, text, Known::default()).map_or_else(|_| String::new(), |read| read.title);
        folders.entry(folder.trim_start_matches("suites/")).or_default().push((name, title));
    }
    let mut text = String::new();
    for (folder, scenarios) in folders {
        let width = scenarios.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let _ = writeln!(text, "{folder}");
        for (name, title) in scenarios {
            let _ = writeln!(text, "  {name:<width$}  {title}");
        }
        text.push('\n');
    }
    text.push_str("`scaleproof run FOLDER` runs those of a folder, `scaleproof run FOLDER/NAME` runs one.");
    text
}

/// Writes all files, or none if some would be lost by it.
fn write(folder: &Path, force: bool) -> Result<(), Exit> {
    if folder.exists() && !folder.is_dir() {
        complain(&format!("error: failed to write to {}: it is a file", folder.display()));
        complain("  Name a folder: one that is not there is made.");
        return Err(Exit::BadInput);
    }
    let files = files();
    let (mut missing, mut other) = (Vec::new(), Vec::new());
    for (name, text) in &files {
        let path = folder.join(name);
        match fs::read(&path) {
            Ok(bytes) if bytes == text.as_bytes() => {}
            Ok(_) => other.push(name),
            Err(error) if error.kind() == ErrorKind::NotFound => missing.push(name),
            Err(error) => return Err(failed("read", &path, &error)),
        }
    }
    if !other.is_empty() && !force {
        complain(&refusal(folder, &other));
        return Err(Exit::BadInput);
    }
    for name in missing.iter().chain(&other) {
        let path = folder.join(name);
        let parent = path.parent().unwrap_or(folder);
        let written = fs::create_dir_all(parent).and_then(|()| fs::write(&path, &files[*name]));
        written.map_err(|error| failed("write", &path, &error))?;
    }
    say(&told(folder, &files, missing.len() + other.len()))
}

/// What comes along, by the path from the folder in which it is written.
fn files() -> BTreeMap<PathBuf, String> {
    let mut files: BTreeMap<PathBuf, String> = lookup::along()
        .into_iter()
        .map(|(path, text)| (path, text.replacen(SCHEMAS_BESIDE_SOURCE, SCHEMAS, 1)))
        .collect();
    let mut add = |name: &str, text: String| files.insert(Path::new(SCHEMAS).join(name), text);
    add("scenario.schema.json", shown(&scenario::schema()));
    add("profile.schema.json", shown(&subject::schema()));
    files
}

fn shown(schema: &Value) -> String {
    serde_json::to_string_pretty(schema).unwrap_or_default() + "\n"
}

/// That files are in the way, and what to do.
fn refusal(folder: &Path, other: &[&PathBuf]) -> String {
    let named: Vec<String> = other.iter().take(NAMED).map(|name| name.display().to_string()).collect();
    let more = match other.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "error: failed to write to {}: there is something else in {}{more}\n  \
         `--force` writes over what is there; another folder leaves it as it is.",
        folder.display(),
        named.join(", ")
    )
}

fn failed(what: &str, path: &Path, error: &io::Error) -> Exit {
    complain(&format!("error: failed to {what} {}: {error}", path.display()));
    complain("  Name a folder in which you may write.");
    Exit::Missing
}

/// What there is now, and what to do with it.
fn told(folder: &Path, files: &BTreeMap<PathBuf, String>, written: usize) -> String {
    let below = |part: &str| files.keys().filter(|name| name.starts_with(part)).count();
    let folder = folder.display();
    let mut text = format!("files written to {folder}: {written} of {}\n", files.len());
    if written < files.len() {
        let _ = writeln!(text, "  the others were there, word for word");
    }
    for (part, what) in [(SUITES, "scenarios"), (PROFILES, "profiles"), (SCHEMAS, "schemas, for editors")] {
        let _ = writeln!(text, "  {:<9} {} {what}", format!("{}/", part.trim_end_matches('/')), below(part));
    }
    let _ = write!(
        text,
        "\nNext: cd {folder}, change a scenario or write one beside it, then\n  scaleproof lint\n  scaleproof run suites/incidents"
    );
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_first_line_of_each_file_leads_to_its_schema() {
        let files = files();
        let schemas: BTreeSet<&Path> =
            files.keys().map(PathBuf::as_path).filter(|path| path.starts_with(SCHEMAS)).collect();
        assert_eq!(schemas.len(), 2);
        for (path, text) in files.iter().filter(|(path, _)| !path.starts_with(SCHEMAS)) {
            let first = text.lines().next().unwrap();
            let named = Path::new(first.split_once("$schema=").unwrap().1);
            // From its folder, one up for each `..`.
            let up = named.iter().take_while(|part| *part == "..").count();
            let base = path.ancestors().nth(1 + up).unwrap();
            let schema = base.join(named.iter().skip(up).collect::<PathBuf>());
            assert!(schemas.contains(schema.as_path()), "{}: {first}", path.display());
            let of = if path.starts_with(SUITES) { "scenario" } else { "profile" };
            assert!(first.contains(of), "{}: {first}", path.display());
        }
    }

    #[test]
    fn some_of_many_files_in_the_way_are_named() {
        let names: Vec<PathBuf> = (0..7).map(|number| PathBuf::from(number.to_string())).collect();
        let told = refusal(Path::new("there"), &names.iter().collect::<Vec<_>>());
        assert!(told.contains("there: there is something else in 0, 1, 2, 3, 4 and 2 more\n"), "{told}");
        assert!(!refusal(Path::new("there"), &[&names[0]]).contains("more"));
    }
}
