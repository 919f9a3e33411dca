//! Definitions of our own, and, where a directory of published ones is named, those too.
//!
//! `MOCK_KUBERNETES_CRDS` names a directory of definitions in YAML. If it also holds `cases.json` and `answers.json`
//! (objects, and what a real API server makes of them), the answers are compared word by word.

use std::{fs, path::Path};

use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
use serde_json::{Value, json};

use super::{Definition, Taken, Version, cells, complete, correlation::same, establish};

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

const ENGINES: &str = include_str!("../../tests/crds/engines.yaml");

fn engines() -> Definition {
    Definition::read(&definitions(ENGINES)[0]).unwrap()
}

fn cases(text: &str) -> Vec<Value> {
    serde_yaml::from_str(text).unwrap()
}

/// The sentences, sorted.
fn sentences(wrong: &Value) -> Vec<String> {
    let list = wrong.as_array().into_iter().flatten();
    let mut sentences: Vec<String> = list.map(|text| text.as_str().unwrap().to_owned()).collect();
    sentences.sort();
    sentences
}

fn engine(spec: &Value) -> Value {
    json!({
        "apiVersion": "test.example.com/v1", "kind": "Engine", "spec": spec,
        "metadata": {"name": "one", "namespace": "default"},
    })
}

#[test]
fn objects_are_judged_like_a_real_server_does() {
    let definition = engines();
    for case in cases(include_str!("../../tests/crds/engines.cases.yaml")) {
        let mut object = engine(&case["spec"]);
        if case["whole"].is_object() {
            object.as_object_mut().unwrap().remove("spec");
        }
        let old = if case["old"].is_null() { Value::Null } else { engine(&case["old"]) };
        let verdict = judge(&definition, &json!({"version": "v1", "object": object, "old": old}));
        let errors = sentences(&verdict["errors"]);
        let errors: Vec<_> = errors.iter().map(|error| error.split_once('|').unwrap().1.to_owned()).collect();
        let mut errors = errors;
        errors.sort();
        assert_eq!(errors, sentences(&case["wrong"]), "{}", case["case"]);
        assert_eq!(sentences(&verdict["unknown"]), sentences(&case["dropped"]), "{}", case["case"]);
    }
}

#[test]
fn definitions_are_refused_like_a_real_server_does() {
    for case in cases(include_str!("../../tests/crds/refused.cases.yaml")) {
        let mut crd = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "things.test.example.com"},
            "spec": {
                "group": "test.example.com", "scope": "Cluster", "names": {"plural": "things", "kind": "Thing"},
                "versions": [
                    {"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": case["schema"]}},
                ],
            },
        });
        complete(&mut crd);
        let wrong = Definition::read(&crd).unwrap_err();
        let wrong: Value = wrong.iter().map(ToString::to_string).collect();
        assert_eq!(sentences(&wrong), sentences(&case["wrong"]));
    }
}

#[test]
fn names_and_versions_are_checked() {
    let mut crd = definitions(ENGINES).remove(0);
    crd["metadata"]["name"] = json!("other");
    crd["spec"]["group"] = json!("nodots");
    crd["spec"]["scope"] = json!("Galaxy");
    crd["spec"]["versions"][0]["storage"] = json!(false);
    crd["spec"]["names"]["kind"] = json!("Bad Kind");
    crd["spec"]["names"]["listKind"] = json!("Bad Kind");
    let wrong = Definition::read(&crd).unwrap_err();
    let fields: Vec<_> = wrong.iter().map(|wrong| wrong.cause.field.as_str()).collect();
    let expected = [
        "metadata.name",
        "spec.group",
        "spec.scope",
        "spec.versions",
        "status.storedVersions",
        "spec.names.kind",
        "spec.names.listKind",
        "spec.names.listKind",
    ];
    assert_eq!(fields, expected);
}

#[test]
fn a_definition_is_established_once_its_names_are_free() {
    let mut crd = definitions(ENGINES).remove(0);
    assert_eq!(crd["spec"]["names"]["listKind"], "EngineList");
    assert_eq!(crd["spec"]["conversion"], json!({"strategy": "None"}));
    let taken = Taken { resources: ["engines".to_owned()].into(), ..Taken::default() };
    establish(&mut crd, "2024-01-01T00:00:00Z", &taken);
    assert_eq!(crd["status"]["conditions"][0]["reason"], "PluralConflict");
    assert_eq!(crd["status"]["acceptedNames"]["plural"], "");
    let states = |crd: &Value| {
        let conditions = crd["status"]["conditions"].as_array().unwrap().iter();
        conditions
            .map(|each| (each["status"].clone(), each["lastTransitionTime"].clone()))
            .collect::<Vec<_>>()
    };
    let early = json!("2024-01-01T00:00:00Z");
    assert_eq!(states(&crd), [(json!("False"), early.clone()), (json!("False"), early)]);
    establish(&mut crd, "2024-01-02T00:00:00Z", &Taken::default());
    establish(&mut crd, "2024-01-03T00:00:00Z", &Taken::default());
    let late = json!("2024-01-02T00:00:00Z");
    assert_eq!(states(&crd), [(json!("True"), late.clone()), (json!("True"), late)]);
    assert_eq!(crd["status"]["storedVersions"], json!(["v1"]));
    assert_eq!(crd["status"]["acceptedNames"], crd["spec"]["names"]);
}

#[test]
fn a_scale_is_read_and_written() {
    let definition = engines();
    let version = definition.version("v1").unwrap();
    let mut object = engine(&json!({"name": "good"}));
    assert!(version.scale_of(&object).is_err());
    version.set_replicas(&mut object, 3);
    object["status"] = json!({"replicas": 2, "selector": "a=b"});
    let scale = version.scale_of(&object).unwrap();
    assert_eq!(scale["spec"], json!({"replicas": 3}));
    assert_eq!(scale["status"], json!({"replicas": 2, "selector": "a=b"}));
    assert_eq!(scale["metadata"], json!({"name": "one", "namespace": "default"}));
    let beta = definition.version("v1beta1").unwrap();
    assert!(beta.scale_of(&object).is_err());
    object["apiVersion"] = json!("test.example.com/v1beta1");
    assert!(beta.validate(&object, None).is_empty());
}

#[test]
fn status_and_the_rest_are_kept_apart() {
    let definition = engines();
    let version = definition.version("v1").unwrap();
    let mut old = engine(&json!({"name": "good"}));
    old["status"] = json!({"replicas": 1});
    let mut new = engine(&json!({"name": "new"}));
    new["status"] = json!({"replicas": "two"});
    let mut main = new.clone();
    version.update_without_status(&mut main, &old);
    assert_eq!((&main["spec"]["name"], &main["status"]), (&json!("new"), &json!({"replicas": 1})));
    let mut status = new.clone();
    Version::update_only_status(&mut status, &old);
    assert_eq!((&status["spec"]["name"], &status["status"]), (&json!("good"), &json!({"replicas": "two"})));
    let wrong = version.validate_status(&status, &old);
    let expected =
        "status.replicas: Invalid value: \"string\": replicas in body must be of type integer: \"string\"";
    assert_eq!(wrong[0].to_string(), expected);
    version.create_without_status(&mut new);
    assert_eq!(new.get("status"), None);
}

#[test]
fn columns_and_selectable_fields_show_values() {
    let definition = engines();
    let version = definition.version("v1").unwrap();
    let mut object = engine(&json!({"name": "good", "replicas": 3, "fast": true}));
    object["metadata"]["creationTimestamp"] = json!("2024-01-01T00:00:00Z");
    object["status"] = json!({"conditions": [{"type": "Other"}, {"type": "Ready", "status": "True"}]});
    let now = "2024-01-01T01:00:00Z".parse().unwrap();
    assert_eq!(cells(version, &object, now), [json!(3), json!("True"), json!(true), json!("60m")]);
}

/// Any JSON of names that the schema knows and of some that it does not.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z0-9:-]{0,6}".prop_map(Value::from),
    ];
    let definition = engines();
    let spec = &definition.version("v1").unwrap().root.properties["spec"];
    let mut names: Vec<String> = spec.properties.keys().cloned().collect();
    names.extend(["name", "port", "deep", "x", "list", "unknown"].map(str::to_owned));
    leaf.prop_recursive(4, 40, 8, move |inner| {
        let name = proptest::sample::select(names.clone());
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(name, inner, 0..8)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

#[test]
fn pruning_and_defaulting_settle_at_once_and_nothing_panics() {
    let definition = engines();
    let version = definition.version("v1").unwrap();
    let mut runner = TestRunner::new(Config { cases: 200, failure_persistence: None, ..Config::default() });
    let laws = |(spec, other): (Value, Value)| {
        let mut object = engine(&spec);
        version.prune(&mut object);
        version.default(&mut object);
        let settled = object.clone();
        prop_assert_eq!(version.prune(&mut object), Vec::<String>::new());
        version.default(&mut object);
        prop_assert_eq!(&object, &settled);
        version.validate(&object, None);
        version.validate(&engine(&other), Some(&object));
        version.validate(&other, Some(&spec));
        prop_assert_eq!(
            version
                .validate(&object, Some(&object))
                .iter()
                .filter(|wrong| wrong.cause.field == "spec.mode")
                .count(),
            0
        );
        Ok(())
    };
    runner.run(&(any_json(), any_json()), laws).unwrap();
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
                if !known_gap(answer) && !same(&ours[part], &answer[part]) {
                    differing += 1;
                    println!("{} {part}", file["file"]);
                    report("ours  ", &ours[part], &answer[part]);
                    report("theirs", &answer[part], &ours[part]);
                    println!("  case {case}");
                }
            }
        }
    }
    assert_eq!(differing, 0, "of {compared}");
}

/// Values of the wrong type or format, which only ratcheting lets through to the rules: a real server says that it
/// cannot convert them, we evaluate the rules. And the way Go prints a map where a count should be.
fn known_gap(answer: &Value) -> bool {
    let gaps = ["invalid data, expected ", "formatted string", "Invalid duration", "interface {}, expected "];
    sentences(&answer["errors"]).iter().any(|error| gaps.iter().any(|gap| error.contains(gap)))
}

/// Prints what only one side has.
fn report(side: &str, these: &Value, those: &Value) {
    let none = Vec::new();
    let list = |value: &Value| value.as_array().unwrap_or(&none).clone();
    let (these, those) = (list(these), list(those));
    for text in these.iter().filter(|text| !those.contains(text)) {
        println!("  {side} {text}");
    }
}
