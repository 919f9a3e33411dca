//! What may not be here, or only in one file: names that say nothing, clocks, real waits, randomness.

use crate::sources::{Source, names};

/// No file or folder is called so: a thing that has a noun is called by it.
const NAMES: [&str; 5] = ["util", "common", "helpers", "types", "imp"];

/// Something that is called, where it may be, and what to use instead.
struct Ban {
    what: &'static str,
    only_in: &'static [&'static str],
    instead: &'static str,
}

/// Where real time is measured, or somebody waits for it on purpose.
const MEASURED: &str = "mocks/clock/benches/clock.rs";
const MACHINE: &str = "mocks/clock/src/machine.rs";
const CLOCK: &str = "the clock of the run (mock-clock)";
const ORDERED: &str = "an ordered map: runs must not differ by the order of a hash";
const SEED: &str = "the generator of src/plan, which the seed decides";

const CALLS: [Ban; 16] = [
    Ban { what: "Instant::now", only_in: &[MEASURED], instead: CLOCK },
    Ban { what: "SystemTime::now", only_in: &[], instead: CLOCK },
    Ban { what: "Timestamp::now", only_in: &[], instead: CLOCK },
    Ban { what: "Zoned::now", only_in: &[], instead: CLOCK },
    Ban { what: "clock_gettime", only_in: &[MACHINE], instead: CLOCK },
    Ban {
        what: "thread::sleep",
        only_in: &[MACHINE, "mocks/clock/tests/processes/poll.rs", "mocks/clock/tests/processes/kill.rs"],
        instead: CLOCK,
    },
    Ban { what: "tokio::time", only_in: &[], instead: CLOCK },
    Ban { what: "wait_timeout", only_in: &[], instead: CLOCK },
    Ban { what: "wait_timeout_while", only_in: &["mocks/clock/src/timers.rs"], instead: CLOCK },
    Ban { what: "park_timeout", only_in: &[], instead: CLOCK },
    Ban { what: "recv_timeout", only_in: &[], instead: CLOCK },
    Ban { what: "HashMap", only_in: &[], instead: ORDERED },
    Ban { what: "HashSet", only_in: &[], instead: ORDERED },
    Ban { what: "RandomState", only_in: &[], instead: SEED },
    Ban { what: "rand", only_in: &[], instead: SEED },
    Ban { what: "getrandom", only_in: &[], instead: SEED },
];

/// The rules and their examples name what they forbid.
const ABOUT_BANS: &str = "tests/tidy";

/// A finding if some part of the path says nothing.
pub(crate) fn name(path: &str) -> Option<String> {
    let silent = |part: &&str| NAMES.contains(&part.split('.').next().unwrap_or_default());
    let part = path.split('/').find(silent)?;
    Some(format!("{path}: `{part}` says nothing; a helper lives with its only user, a shared one has a noun"))
}

/// What a file calls and may not.
pub(crate) fn calls(source: &Source) -> Vec<String> {
    if source.path.starts_with(ABOUT_BANS) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for name in names(source) {
        for ban in CALLS.iter().filter(|ban| !ban.only_in.contains(&source.path.as_str())) {
            if names_it(&name.segments, ban.what) {
                let Ban { what, instead, .. } = ban;
                findings.push(format!(
                    "{}:{}: `{what}` has no place here; use {instead}",
                    source.path, name.line
                ));
            }
        }
    }
    findings.dedup();
    findings
}

fn names_it(segments: &[String], what: &str) -> bool {
    let what: Vec<&str> = what.split("::").collect();
    segments.windows(what.len()).any(|window| window.iter().eq(&what))
}

/// Exceptions for files that do not need them.
pub(crate) fn stale(sources: &[Source]) -> Vec<String> {
    let needs = |path: &str, what: &str| {
        let source = sources.iter().find(|source| source.path == path);
        source.is_some_and(|source| names(source).iter().any(|name| names_it(&name.segments, what)))
    };
    let exceptions = CALLS.iter().flat_map(|ban| ban.only_in.iter().map(move |path| (ban.what, *path)));
    exceptions
        .filter(|(what, path)| !needs(path, what))
        .map(|(what, path)| format!("tests/tidy/bans.rs: {path} may use `{what}` and does not"))
        .collect()
}
