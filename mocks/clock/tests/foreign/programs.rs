//! How the programs are built: each once, whichever test needs it first, and again when its sources change.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program in C, by the name of its source; `waits` is made of all sources that begin so.
pub(crate) fn c(name: &str) -> PathBuf {
    c_of_kind(name, "dynamic", "cc", &["-pthread"])
}

/// The same, of another kind: whichever compiler and options make it so.
pub(crate) fn c_of_kind(name: &str, kind: &str, compiler: &str, options: &[&str]) -> PathBuf {
    let mut command = Command::new(compiler);
    command.args(["-O1", "-g", "-Wall", "-Wextra"]).args(options);
    let of_it = |source: &Path| {
        let stem = source.file_stem().unwrap().to_str().unwrap();
        stem == name || stem.starts_with(&format!("{name}_"))
    };
    let sources: Vec<PathBuf> = sources("c").into_iter().filter(|source| of_it(source)).collect();
    built(&format!("{name}-{kind}"), command, &sources)
}

/// The program in Go.
pub(crate) fn go() -> PathBuf {
    let sources: Vec<PathBuf> = sources("go")
        .into_iter()
        .filter(|source| source.file_name() != Some(OsStr::new("tiny.go")))
        .collect();
    built("go", go_build(&[]), &sources)
}

/// The small program in Go, of another kind: whichever options make it so.
pub(crate) fn tiny_go(kind: &str, options: &[&str]) -> PathBuf {
    built(&format!("tiny-go-{kind}"), go_build(options), &[folder().join("tiny.go")])
}

pub(crate) fn go_is_here() -> bool {
    Command::new("go").arg("version").output().is_ok_and(|said| said.status.success())
}

/// Nothing but what is installed: no other version of Go, no modules, no C.
fn go_build(options: &[&str]) -> Command {
    let mut command = Command::new("go");
    command.env("CGO_ENABLED", "0").env("GOTOOLCHAIN", "local").env("GO111MODULE", "off").env("GOFLAGS", "");
    command.arg("build").args(options);
    command
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/foreign/programs")
}

fn sources(ending: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> = files.filter(|file| file.extension() == Some(OsStr::new(ending))).collect();
    found.sort();
    found
}

/// Builds a program, unless it has been built of the very same. Tests run in processes of their own, so whoever comes
/// first holds a lock meanwhile.
fn built(name: &str, mut command: Command, files: &[PathBuf]) -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("foreign");
    fs::create_dir_all(&place).unwrap();
    let lock = File::create(place.join(format!("{name}.lock"))).unwrap();
    lock.lock().unwrap();
    let (program, stamp) = (place.join(name), place.join(format!("{name}.stamp")));
    command.current_dir(folder()).arg("-o").arg(&program).args(files);
    let read = |file: &PathBuf| fs::read_to_string(file).unwrap();
    let made_of: String = sources("h").iter().chain(files).map(read).collect();
    let made_of = format!("{command:?}\n{made_of}");
    if fs::read_to_string(&stamp).is_ok_and(|stamp| stamp == made_of) && program.exists() {
        return program;
    }
    let said = command.output().unwrap_or_else(|e| panic!("{name} cannot be built: {command:?}: {e}"));
    assert!(said.status.success(), "{name} cannot be built:\n{}", String::from_utf8_lossy(&said.stderr));
    fs::write(stamp, made_of).unwrap();
    program
}
