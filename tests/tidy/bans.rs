//! What may not be here, or only in a few files: clocks, real waits, hash maps, randomness, names that say nothing.
//!
//! Clocks, waits and maps are those of `clippy.toml`, which clippy knows by whatever name they go. Here the plain
//! names are looked for, so that a test run alone finds them too, and the way round clippy is guarded.

use crate::sources::{Source, names, read};

/// Files that may use what `clippy.toml` forbids, and say so with an `expect`.
const EXCEPTIONS: [&str; 10] = [
    "mocks/clock/src/machine.rs",
    "mocks/clock/src/timers.rs",
    "benches/runs.rs",
    "mocks/clock/benches/clock.rs",
    "mocks/clock/benches/foreign.rs",
    "mocks/clock/tests/foreign/playing.rs",
    "mocks/clock/tests/foreign/rust.rs",
    "mocks/clock/tests/foreign/serving.rs",
    "mocks/clock/tests/processes/kill.rs",
    "mocks/clock/tests/processes/poll.rs",
];

/// Files that may be unsafe, which the compiler denies to all others: what foreign programs are given, and their start.
const UNSAFE: [&str; 4] = [
    "mocks/clock/src/inject/blob/mod.rs",
    "mocks/clock/src/inject/trace.rs",
    "mocks/clock/src/inject/usher.rs",
    "src/subject/hosts.rs",
];

/// Crates that draw numbers, and the one place for them.
const RANDOM: [&str; 4] = ["rand", "fastrand", "getrandom", "uuid"];
const RANDOM_IN: &str = "src/plan/";

/// No module is called this: a thing that has a noun is called by it.
const NAMES: [&str; 8] = ["util", "utils", "common", "helper", "helpers", "types", "misc", "imp"];

/// A finding if the path of a module says nothing.
pub(crate) fn name(path: &str) -> Option<String> {
    let module = path.strip_suffix(".rs")?;
    let silent = module.split('/').find(|part| NAMES.contains(part))?;
    Some(format!(
        "{path}: `{silent}` says nothing; a helper lives with its only user, a shared one has a noun"
    ))
}

/// What a file uses and may not.
pub(crate) fn calls(source: &Source) -> Vec<String> {
    let excepted = EXCEPTIONS.contains(&source.path.as_str());
    let forbidden = forbidden();
    let mut findings = Vec::new();
    for name in names(source) {
        let has = |tail: &[String]| name.segments.windows(tail.len()).any(|window| window == tail);
        let mut tell = |what: &str| findings.push(format!("{}:{}: {what}", source.path, name.line));
        if let Some(ban) = forbidden.iter().find(|ban| !excepted && has(&ban.tail)) {
            tell(&format!("`{}` has no place here: {}", ban.tail.join("::"), ban.reason));
        }
        if !UNSAFE.contains(&source.path.as_str()) && name.segments.iter().any(|part| part == "unsafe_code") {
            tell("only the files listed in tests/tidy/bans.rs may be unsafe");
        }
        if !excepted && name.segments.iter().any(|part| part.starts_with("disallowed_")) {
            tell("only the files listed in tests/tidy/bans.rs may go round clippy.toml");
        }
        let first = name.segments[0].as_str();
        if RANDOM.contains(&first) && name.segments.len() > 1 && !source.path.starts_with(RANDOM_IN) {
            tell(&format!("`{first}` has no place here: the seed decides, and {RANDOM_IN} draws"));
        }
    }
    findings.dedup();
    findings
}

/// Exceptions for files that do not need them.
pub(crate) fn stale(sources: &[Source]) -> Vec<String> {
    let needs = |path: &str| {
        let source = sources.iter().find(|source| source.path == path);
        source.is_some_and(|source| source.text.contains("disallowed_"))
    };
    let unneeded = EXCEPTIONS.iter().filter(|path| !needs(path));
    unneeded.map(|path| format!("tests/tidy/bans.rs: {path} is an exception and needs none")).collect()
}

/// What `clippy.toml` forbids: the last one or two names of its path, and why.
struct Ban {
    tail: Vec<String>,
    reason: String,
}

fn forbidden() -> Vec<Ban> {
    let config: toml::Table = read("clippy.toml").text.parse().expect("clippy.toml is TOML");
    let mut bans = Vec::new();
    for (section, tail_length) in [("disallowed-methods", 2), ("disallowed-types", 1)] {
        for entry in config[section].as_array().expect("a list of what is forbidden") {
            let text = |key: &str| entry[key].as_str().expect("a path and a reason").to_owned();
            let path = text("path");
            let parts: Vec<String> = path.split("::").map(str::to_owned).collect();
            bans.push(Ban { tail: parts[parts.len() - tail_length..].to_vec(), reason: text("reason") });
        }
    }
    bans
}
