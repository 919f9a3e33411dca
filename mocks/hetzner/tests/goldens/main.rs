//! Conversations with the API, each with the answers that were recorded beside it.
//!
//! A file `talks/TOPIC.yaml` says what is asked and when; `talks/TOPIC.txt` holds what is answered. The requests go to the
//! engine itself, without sockets, with a fixed seed and a clock moved by hand, so that the same questions get the same
//! answers. With `UPDATE_GOLDENS=1` in the environment the answers are recorded anew: read what changed before it is
//! committed.
//!
//! The answers were held against the `OpenAPI` description of the API when they were recorded. What they say otherwise,
//! they say on purpose, as the API has moved on or clients need it:
//!
//! - There is no `datacenter` in servers and primary IPs (removed in July 2026); the profiles from before show it.
//! - `DELETE /load_balancers/{id}` is 201 with an action (since October 2026); the profiles from before say 204.
//! - An unassigned primary IP has the `assignee_type` `unassigned` (since August 2026).
//! - A token that may only look is told `forbidden`; `token_readonly` is the word of the profiles from before.
//! - `GET /networks/{id}/members` and fields that are newer are not described: `deprecation` of images and of load
//!   balancer types, `detail` of a failed health check.
//! - The profile 2024 has no `location` and no `locations`, and `traffic` among the prices.
//! - Wishes name images, server types and keys by number as well as by name.
#![expect(clippy::unwrap_used, reason = "all of this binary is a test")]

mod record;
mod talk;

use std::path::{Path, PathBuf};

use talk::Talk;

#[test]
fn answers_are_as_recorded() {
    let topics = topics();
    assert!(!topics.is_empty());
    let mut changed = Vec::new();
    for topic in topics {
        let talk = Talk::parse(&std::fs::read_to_string(&topic).unwrap())
            .unwrap_or_else(|error| panic!("{}: {error}", topic.display()));
        let said = talk.hold();
        let file = topic.with_extension("txt");
        if std::env::var_os("UPDATE_GOLDENS").is_some() {
            std::fs::write(&file, &said).unwrap();
        }
        let recorded = std::fs::read_to_string(&file).unwrap_or_default();
        changed.extend(first_difference(&recorded, &said).map(|what| format!("{}:{what}", file.display())));
    }
    assert!(
        changed.is_empty(),
        "{}\nif this is meant, record the answers anew with UPDATE_GOLDENS=1",
        changed.join("\n")
    );
}

/// The files of all conversations.
fn topics() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens/talks");
    let all = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut topics: Vec<PathBuf> =
        all.filter(|path| path.extension().is_some_and(|it| it == "yaml")).collect();
    topics.sort();
    topics
}

/// The first line that differs, and in which answer.
fn first_difference(recorded: &str, said: &str) -> Option<String> {
    if recorded == said {
        return None;
    }
    let (mut old, mut new) = (recorded.lines(), said.lines());
    let mut request = "";
    let mut number = 0;
    loop {
        number += 1;
        match (old.next(), new.next()) {
            (Some(old), Some(new)) if old == new => {
                if let Some(asked) = new.strip_prefix(record::ASKED) {
                    request = asked;
                }
            }
            (old, new) => {
                let [old, new] = [old, new].map(|line| line.unwrap_or("(the end)"));
                return Some(format!("{number}: after {request}\n  recorded: {old}\n  answered: {new}"));
            }
        }
    }
}
