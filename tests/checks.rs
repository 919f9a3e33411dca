//! Every check against histories that were written to hold, to violate, and to leave it unknown. The files are judged as they
//! lie under `fixtures/histories/CODE/CASE.VERDICT.jsonl`; the stories in `checks/` are how they are written.
#![expect(clippy::unwrap_used, reason = "all of this binary is a test")]

#[path = "checks/backoff.rs"]
mod backoff;
#[path = "checks/bounds.rs"]
mod bounds;
#[path = "checks/claims.rs"]
mod claims;
#[path = "checks/cluster_api.rs"]
mod cluster_api;
#[path = "checks/configuration.rs"]
mod configuration;
#[path = "checks/expected.rs"]
mod expected;
#[path = "checks/fault_tolerance.rs"]
mod fault_tolerance;
#[path = "checks/hygiene.rs"]
mod hygiene;
#[path = "checks/judging.rs"]
mod judging;
#[path = "checks/karpenter.rs"]
mod karpenter;
#[path = "checks/laws.rs"]
mod laws;
#[path = "checks/pod_safety.rs"]
mod pod_safety;
#[path = "checks/retold.rs"]
mod retold;
#[path = "checks/scale_down.rs"]
mod scale_down;
#[path = "checks/scale_up.rs"]
mod scale_up;
#[path = "checks/setting.rs"]
mod setting;
#[path = "checks/story.rs"]
mod story;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use scaleproof::check::{Verdict, catalogue};
use scaleproof::history::{Event, History, What};

use story::Story;

/// Code, case, expected verdict, and the story.
type Case = (&'static str, &'static str, &'static str, Story);

fn cases() -> Vec<Case> {
    [
        scale_up::cases(),
        bounds::cases(),
        scale_down::cases(),
        pod_safety::cases(),
        backoff::cases(),
        fault_tolerance::cases(),
        hygiene::cases(),
        configuration::cases(),
        cluster_api::cases(),
        karpenter::cases(),
        claims::cases(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/histories")
}

fn files() -> Vec<(String, PathBuf)> {
    let mut files = Vec::new();
    for code in fs::read_dir(folder()).unwrap() {
        let code = code.unwrap();
        for file in fs::read_dir(code.path()).unwrap() {
            files.push((code.file_name().into_string().unwrap(), file.unwrap().path()));
        }
    }
    files.sort();
    files
}

fn read(text: &str) -> History {
    let mut lines = text.lines();
    let header = serde_json::from_str(lines.next().unwrap()).unwrap();
    let events: Vec<Event> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
    let ended = events.last().is_some_and(|event| event.what == What::End);
    History { header, events, cut_short: (!ended).then(|| "it has no end".to_owned()) }
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Held { .. } => "held",
        Verdict::Violated { .. } => "violated",
        Verdict::Unknown { .. } => "unknown",
    }
}

#[test]
fn files_are_judged_as_they_are_named() {
    let mut wrong = Vec::new();
    for (code, path) in files() {
        let expectation = catalogue().into_iter().find(|one| one.code.as_str() == code).unwrap();
        let history = read(&fs::read_to_string(&path).unwrap());
        let verdict = (expectation.check)(&history);
        let expected = path.file_stem().and_then(|stem| Path::new(stem).extension()).unwrap().to_owned();
        if expected != word(&verdict) {
            wrong.push(format!("{}: {verdict:?}", path.display()));
        }
        if let Verdict::Violated { evidence, .. } = &verdict {
            let points = evidence.iter().all(|one| {
                !one.events.is_empty() && one.events.iter().all(|event| *event < history.events.len())
            });
            assert!(points, "{}: evidence must point to events: {evidence:?}", path.display());
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn every_expectation_has_convicted_and_held_and_not_known() {
    let mut seen: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (code, path) in files() {
        let verdict =
            Path::new(path.file_stem().unwrap()).extension().unwrap().to_string_lossy().into_owned();
        seen.entry(code).or_default().insert(verdict);
    }
    let all: BTreeSet<String> = ["held", "unknown", "violated"].map(str::to_owned).into();
    let short: Vec<_> = catalogue()
        .into_iter()
        .filter(|one| seen.get(one.code.as_str()) != Some(&all))
        .map(|one| &one.code)
        .collect();
    assert!(short.is_empty(), "without held, violated and unknown under fixtures/histories: {short:?}");
}

#[test]
fn the_files_are_as_the_stories_tell_them() {
    let generate = std::env::var_os("GENERATE").is_some() && std::env::var_os("CI").is_none();
    let mut stale = Vec::new();
    let mut told = BTreeSet::new();
    for (code, case, verdict, story) in cases() {
        let path = folder().join(code).join(format!("{case}.{verdict}.jsonl"));
        let text = story.text(code, case);
        assert!(told.insert(path.clone()), "{} is told twice", path.display());
        if fs::read_to_string(&path).ok().as_deref() == Some(&text) {
            continue;
        }
        if generate {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
        } else {
            stale.push(path);
        }
    }
    stale.extend(files().into_iter().map(|(_, path)| path).filter(|path| !told.contains(path)));
    let how = "GENERATE=1 cargo test --test checks the_files";
    assert!(stale.is_empty(), "stale, or told by no story: {stale:#?}\nwrite them anew with {how}");
}
