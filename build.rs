//! Writes the table of the scenarios that come along, for `src/scenario/builtin.rs`: every YAML file below `suites/`, so
//! that whoever adds one need not name it anywhere else.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

const SUITES: &str = "suites";

fn main() -> io::Result<()> {
    // A folder stands for all that is in it.
    for path in ["build.rs", SUITES] {
        println!("cargo::rerun-if-changed={path}");
    }
    let mut scenarios = Vec::new();
    collect(Path::new(SUITES), &mut scenarios)?;
    scenarios.sort();
    let mut table = String::from("&[\n");
    for path in scenarios {
        let name =
            path.to_str().ok_or_else(|| io::Error::other(format!("{} is not UTF-8", path.display())))?;
        let _ = writeln!(
            table,
            r#"    ({name:?}, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), {:?}))),"#,
            format!("/{name}")
        );
    }
    table.push_str("]\n");
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo has set no OUT_DIR"))?;
    fs::write(Path::new(&out).join("suites.rs"), table)
}

/// The YAML files in a folder and those below it.
fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, found)?;
        } else if path.extension().is_some_and(|end| end == "yaml") {
            found.push(path);
        }
    }
    Ok(())
}
