//! The cases under `tests/admit`: an object goes in, and what is stored or refused comes out.

use std::sync::Arc;

use serde_json::{Value, json};

use super::read::{deep, inner_mut, put, text};
use super::{Request, Shelf, Verb, admit, allocate, default, for_create, for_update, review, validate};
use crate::status::Status;

const NOW: &str = "2026-01-02T03:04:05Z";
const UID: &str = "00000000-0000-0000-0000-000000000001";
const FILES: [&str; 4] = ["pods", "workloads", "cluster", "services"];

fn read(file: &str) -> Vec<Value> {
    let path = format!("{}/tests/admit/{file}.yaml", env!("CARGO_MANIFEST_DIR"));
    serde_yaml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

struct Objects(Vec<Arc<Value>>);

impl Shelf for Objects {
    fn get(&self, kind: &str, namespace: &str, name: &str) -> Option<Arc<Value>> {
        let mut all = self.list(kind, namespace).into_iter();
        all.find(|object| object["metadata"]["name"] == name)
    }

    fn list(&self, kind: &str, namespace: &str) -> Vec<Arc<Value>> {
        let is_wanted = |object: &&Arc<Value>| {
            object["kind"] == kind && (namespace.is_empty() || object["metadata"]["namespace"] == namespace)
        };
        self.0.iter().filter(is_wanted).cloned().collect()
    }
}

fn shelf() -> Objects {
    Objects(read("shelf").into_iter().map(Arc::new).collect())
}

/// Writes as a server does. `old` is the stored object of an update.
fn write(given: &Value, old: Option<&Value>, subresource: &str) -> Result<Value, Status> {
    let shelf = shelf();
    let mut object = given.clone();
    let (group, version) =
        text(given, "apiVersion").split_once('/').unwrap_or(("", text(given, "apiVersion")));
    let kind = text(given, "kind");
    let namespace = deep(given, &["metadata", "namespace"]).and_then(Value::as_str).unwrap_or_default();
    let name = deep(given, &["metadata", "name"]).and_then(Value::as_str).unwrap_or_default();
    let resource = format!("{}s", kind.to_ascii_lowercase());
    let verb = if old.is_some() { Verb::Update } else { Verb::Create };
    let request = Request { verb, group, kind, resource: &resource, subresource, namespace, name };
    default(group, version, kind, &mut object);
    admit(&request, &mut object, old, &shelf)?;
    let metadata = inner_mut(&mut object, "metadata").unwrap();
    put(metadata, "uid", UID);
    match old {
        None => {
            put(metadata, "creationTimestamp", NOW);
            for_create(group, version, kind, &mut object, NOW);
        }
        Some(old) => {
            put(metadata, "resourceVersion", "1");
            for_update(group, kind, subresource, &mut object, old, NOW);
        }
    }
    if (group, kind, subresource) == ("", "Service", "") {
        allocate(&mut object, old, &shelf);
    }
    let wrong = validate(group, version, kind, subresource, &object, old);
    if !wrong.is_empty() {
        return Err(Status::invalid(group, kind, name, wrong));
    }
    review(&request, &object, old, &shelf)?;
    Ok(object)
}

/// What came out, without what differs from run to run.
fn outcome(case: &Value) -> Value {
    let old = case.get("old").map(|old| write(old, None, "").unwrap());
    match write(&case["given"], old.as_ref(), text(case, "subresource")) {
        Ok(mut object) => {
            let metadata = object["metadata"].as_object_mut().unwrap();
            for name in ["uid", "creationTimestamp", "resourceVersion"] {
                metadata.remove(name);
            }
            json!({"becomes": object})
        }
        Err(status) => json!({"refused": {"code": status.code, "message": status.message}}),
    }
}

#[test]
fn every_case_comes_out_as_written() {
    for file in FILES {
        for case in read(file) {
            let name = text(&case, "case");
            let got = outcome(&case);
            for key in ["becomes", "refused"] {
                assert_eq!(got.get(key), case.get(key), "{file}: {name}");
            }
        }
    }
}
