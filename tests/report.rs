//! Reports of histories: what they say, that they are whole, and that a browser shows them.
#![expect(clippy::unwrap_used, reason = "all of this binary is a test")]

#[path = "report/browser.rs"]
mod browser;
#[path = "report/pages.rs"]
mod pages;
#[path = "report/rich.rs"]
mod rich;
#[path = "checks/setting.rs"]
mod setting;
#[path = "report/short.rs"]
mod short;
#[path = "checks/story.rs"]
#[expect(dead_code, reason = "a report needs fewer words than the checks")]
mod story;
#[path = "report/verbs.rs"]
mod verbs;

use std::fs;
use std::path::{Path, PathBuf};

use scaleproof::check::judge;
use scaleproof::history::{History, file};
use scaleproof::report::Telling;

fn telling(history: &History) -> Telling {
    Telling::of(history, &judge(history), Some("runs/1/history.jsonl"))
}

fn rich_telling(history: &History) -> Telling {
    Telling::of(history, &rich::rich_judgement(history), Some("runs/1/history.jsonl"))
}

/// The histories by which checks are judged.
fn stored() -> Vec<(PathBuf, History)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/histories");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .flat_map(|code| fs::read_dir(code.unwrap().path()).unwrap())
        .map(|case| case.unwrap().path())
        .collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), file::open(&path).unwrap())).collect()
}

/// A folder of a test's own.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report").join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}
