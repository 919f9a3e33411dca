//! What people write, as it is read: each file under `tests/documents/` is refused with the report that stands beside
//! it, every suite and every profile is read, and a validator of another hand agrees with the schemas.

#![expect(clippy::unwrap_used, reason = "all of this file is a test")]

use std::fs;
use std::path::{Path, PathBuf};

use scaleproof::code::Code;
use scaleproof::document::Mistakes;
use scaleproof::scenario::{self, Known};
use scaleproof::subject;
use serde_json::Value;

/// Files below a folder that end so.
fn files(folder: &str, end: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(end) {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "{folder} has no {end}");
    found
}

/// As it is named from the root.
fn name(path: &Path) -> String {
    path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap().to_string_lossy().into_owned()
}

fn refused(path: &Path) -> Mistakes {
    let (name, text) = (name(path), fs::read_to_string(path).unwrap());
    let codes = [Code::new("SU-01"), Code::new("SD-01"), Code::new("HY-02")];
    let read = if name.contains("/scenario/") {
        scenario::read(&name, &text, Known { codes: Some(&codes), ..Known::default() }).map(drop)
    } else {
        subject::read(&name, &text).map(drop)
    };
    read.err().unwrap_or_else(|| panic!("{name} is accepted"))
}

#[test]
fn every_mistake_is_told_with_its_place_and_a_hint() {
    let update = std::env::var_os("UPDATE_EXPECTED").is_some();
    for path in files("tests/documents", ".yaml") {
        let refused = refused(&path);
        let told = format!("{refused}\n\n{}", refused.shown());
        let expected = path.with_extension("txt");
        if update {
            fs::write(&expected, &told).unwrap();
        }
        assert_eq!(told, fs::read_to_string(&expected).unwrap_or_default(), "{}", name(&path));
    }
}

#[test]
fn every_suite_and_every_profile_is_read() {
    for path in files("suites", ".yaml") {
        let text = fs::read_to_string(&path).unwrap();
        let up = "../".repeat(name(&path).matches('/').count());
        let first = format!("# yaml-language-server: $schema={up}fixtures/schemas/scenario.schema.json\n");
        assert!(text.starts_with(&first), "{} does not begin with {first}", name(&path));
        if let Err(mistakes) = scenario::read(&name(&path), &text, Known::default()) {
            panic!("{mistakes}");
        }
    }
    for path in files("fixtures/autoscalers", ".yaml") {
        if let Err(mistakes) = subject::read(&name(&path), &fs::read_to_string(&path).unwrap()) {
            panic!("{mistakes}");
        }
    }
}

#[test]
fn the_schemas_are_fresh() {
    let generate = std::env::var_os("GENERATE").is_some() && std::env::var_os("CI").is_none();
    for (kind, schema) in [("scenario", scenario::schema()), ("profile", subject::schema())] {
        let path = format!("{}/fixtures/schemas/{kind}.schema.json", env!("CARGO_MANIFEST_DIR"));
        let fresh = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap());
        if generate {
            fs::write(&path, &fresh).unwrap();
        }
        let how = "GENERATE=1 cargo test --test documents the_schemas_are_fresh";
        assert!(fs::read_to_string(&path).unwrap() == fresh, "{path} is stale; regenerate it with {how}");
    }
}

/// What only a reading knows, and no schema can say, begins so.
const BEYOND: [&str; 3] = ["only-references", "no-yaml", "fields-twice"];

#[test]
fn a_validator_of_another_hand_agrees() {
    let validators =
        [scenario::schema(), subject::schema()].map(|schema| jsonschema::validator_for(&schema).unwrap());
    let of = |path: &Path| {
        let is_profile = name(path).contains("profile") || name(path).contains("autoscalers");
        &validators[usize::from(is_profile)]
    };
    let read = |path: &Path| serde_yaml::from_str::<Value>(&fs::read_to_string(path).unwrap());
    for path in [files("suites", ".yaml"), files("fixtures/autoscalers", ".yaml")].concat() {
        let told: Vec<String> =
            of(&path).iter_errors(&read(&path).unwrap()).map(|error| error.to_string()).collect();
        assert!(told.is_empty(), "{}: {told:?}", name(&path));
    }
    for path in files("tests/documents", ".yaml") {
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        let beyond = BEYOND.iter().any(|beyond| stem.starts_with(beyond));
        let accepted = read(&path).is_ok_and(|value| of(&path).is_valid(&value));
        assert!(!accepted || beyond, "{} is refused by the reading only", name(&path));
        assert!(
            accepted || !stem.starts_with("only-references"),
            "{} is refused by the schema too",
            name(&path)
        );
    }
}
