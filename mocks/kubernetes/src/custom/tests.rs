//! Definitions of our own, and, where a directory of published ones is named, those too.
//!
//! `MOCK_KUBERNETES_CRDS` names a directory of definitions in YAML. If it also holds `cases.json` and `answers.json`
//! (objects, and what a real API server makes of them), the answers are compared word by word.

use std::{fs, path::Path};

use serde_json::{Value, json};

use super::{Definition, complete, correlation::same};

/// The definitions of a YAML text, completed.
fn definitions(text: &str) -> Vec<Value> {
    let documents =
        text.split("\n---").filter(|document| document.contains("kind: CustomResourceDefinition"));
    documents
        .map(|document| {
            let mut crd: Value = serde_yaml::from_str(document).unwrap();
            complete(&mut crd);
            crd
        })
        .collect()
}

fn published() -> Option<String> {
    let directory = std::env::var("MOCK_KUBERNETES_CRDS").ok();
    if directory.is_none() {
        eprintln!("SKIPPED: set MOCK_KUBERNETES_CRDS to a directory of published definitions");
    }
    directory
}

#[test]
fn published_definitions_are_read() {
    let Some(directory) = published() else { return };
    let mut count = 0;
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        for crd in definitions(&fs::read_to_string(&path).unwrap()) {
            if let Err(wrong) = Definition::read(&crd) {
                panic!("{}: {wrong:#?}", path.display());
            }
            count += 1;
        }
    }
    assert!(count > 0, "the directory holds no definitions");
}

/// The verdict on one case as the answers have it.
fn judge(definition: &Definition, case: &Value) -> Value {
    let version = definition.version(case["version"].as_str().unwrap()).unwrap();
    let mut object = case["object"].clone();
    let unknown = version.prune(&mut object);
    version.default(&mut object);
    let old = (!case["old"].is_null()).then(|| {
        let mut old = case["old"].clone();
        version.prune(&mut old);
        version.default(&mut old);
        old
    });
    let wrong = version.validate(&object, old.as_ref());
    let mut errors: Vec<String> =
        wrong.iter().map(|wrong| format!("{}|{wrong}", wrong.cause.reason)).collect();
    errors.sort();
    json!({"defaulted": object, "unknown": unknown, "errors": errors})
}

#[test]
fn answers_are_those_of_a_real_server() {
    let Some(directory) = published() else { return };
    let read = |name: &str| -> Option<Value> {
        serde_json::from_str(&fs::read_to_string(Path::new(&directory).join(name)).ok()?).ok()
    };
    let (Some(cases), Some(answers)) = (read("cases.json"), read("answers.json")) else {
        eprintln!("SKIPPED: no cases.json and answers.json in {directory}");
        return;
    };
    let (mut compared, mut differing) = (0, 0);
    for (file, answers) in cases.as_array().unwrap().iter().zip(answers.as_array().unwrap()) {
        let mut crd = file["crd"].clone();
        complete(&mut crd);
        let definition = Definition::read(&crd).unwrap();
        for (case, answer) in
            file["cases"].as_array().unwrap().iter().zip(answers["answers"].as_array().unwrap())
        {
            let ours = judge(&definition, case);
            compared += 1;
            for part in ["defaulted", "unknown", "errors"] {
                if !same(&ours[part], &answer[part]) {
                    differing += 1;
                    println!("{} {part}\n  ours   {}\n  theirs {}", file["file"], ours[part], answer[part]);
                    println!("  case {case}");
                }
            }
        }
    }
    assert_eq!(differing, 0, "of {compared}");
}
