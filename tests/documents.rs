//! What people write, as it is read: each file under `tests/documents/` is refused with the report that stands beside
//! it, every suite and every profile is read, and a validator of another hand agrees with the schemas.

#![expect(clippy::unwrap_used, reason = "all of this file is a test")]

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use scaleproof::code::Code;
use scaleproof::document::Mistakes;
use scaleproof::plan::Draw;
use scaleproof::scenario::{self, Known};
use scaleproof::subject;
use serde_json::{Value, json};

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

/// Changes one value somewhere, as a slip of the pen would.
fn slip(value: &mut Value, draw: &mut Draw) {
    let deeper = draw.one_of(4) != Some(0);
    match value {
        Value::Object(fields) if deeper && !fields.is_empty() => {
            let at = draw.one_of(fields.len()).unwrap();
            let name = fields.keys().nth(at).unwrap().clone();
            match draw.one_of(8) {
                Some(0) => drop(fields.remove(&name)),
                Some(1) => {
                    let moved = fields.remove(&name).unwrap();
                    fields.insert(format!("{name}s"), moved);
                }
                _ => slip(&mut fields[&name], draw),
            }
        }
        Value::Array(items) if deeper && !items.is_empty() => {
            let at = draw.one_of(items.len()).unwrap();
            slip(&mut items[at], draw);
        }
        _ => {
            let others = [
                json!(null),
                json!(true),
                json!(3),
                json!(-1),
                json!(1.5),
                json!(1e300),
                json!("x"),
                json!("10m"),
                json!([]),
                json!({}),
                json!({"x": 1}),
            ];
            *value = others[draw.one_of(others.len()).unwrap()].clone();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 400, ..ProptestConfig::default() })]

    /// Whatever the schema refuses is refused, and what is accepted by both is read.
    #[test]
    fn reading_and_schema_agree_about_every_slip(seed: u64) {
        thread_local! {
            static GOOD: (Vec<Value>, jsonschema::Validator) = {
                let read = |path: &PathBuf| serde_yaml::from_str(&fs::read_to_string(path).unwrap()).unwrap();
                let good = files("suites", ".yaml").iter().map(read).collect();
                (good, jsonschema::validator_for(&scenario::schema()).unwrap())
            };
        }
        GOOD.with(|(good, validator)| {
            let mut draw = Draw::new(seed);
            let mut value = good[draw.one_of(good.len()).unwrap()].clone();
            slip(&mut value, &mut draw);
            let told = scenario::read("slip.yaml", &value.to_string(), Known::default()).map_err(|told| told.to_string());
            let by_schema = validator.is_valid(&value);
            prop_assert!(by_schema || told.is_err(), "read, though the schema refuses it: {value}");
            if let Err(told) = told {
                prop_assert!(!told.contains("this cannot be read"), "{told}: {value}");
                let named = [
                    "is not given here", "is not deployed here", "is not hurt here", "is there already", "above its",
                    "is taken by", "cannot be \"", "by then", "no server is called", "no node has room for", "has no defect", "nothing is changed here",
                ];
                let only_reading = named.iter().any(|words| told.contains(words));
                prop_assert!(!by_schema || only_reading, "refused, though the schema accepts it: {told}: {value}");
            }
            Ok(())
        })?;
    }

    #[test]
    fn no_text_is_too_strange(text in "[ -~\\n]{0,60}", other in any::<String>()) {
        for text in [text, other] {
            if let Err(told) = scenario::read("strange.yaml", &text, Known::default()) {
                prop_assert!(!told.mistakes().is_empty() && !told.shown().is_empty());
            }
        }
    }
}
