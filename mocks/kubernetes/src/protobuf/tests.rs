//! The upstream fixtures, round trips, and bytes that are no protobuf.

use std::path::Path;

use serde_json::Value;

use super::{Error, decode, encode};

/// Upstream's `k8s.io/api/testdata/HEAD`; it is not part of this repository.
const FIXTURES: &str = "MOCK_KUBERNETES_API_TESTDATA";

#[test]
fn upstream_fixtures_decode_to_their_json_and_encode_to_their_bytes() {
    let Ok(directory) = std::env::var(FIXTURES) else {
        eprintln!("SKIPPED: {FIXTURES} names no directory with upstream's fixtures");
        return;
    };
    let (mut passed, mut unknown, mut failed) = (0, Vec::new(), Vec::new());
    for file in std::fs::read_dir(directory).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "pb") {
            continue;
        }
        match fixture(&path) {
            Ok(()) => passed += 1,
            Err(Failure::Unknown) => unknown.push(path),
            Err(Failure::Different(how)) => failed.push(format!("{}: {how}", path.display())),
        }
    }
    eprintln!("{passed} fixtures passed; kinds that are not served: {unknown:#?}");
    assert!(failed.is_empty(), "{failed:#?}");
    assert!(passed > 100);
}

enum Failure {
    Unknown,
    Different(String),
}

fn fixture(path: &Path) -> Result<(), Failure> {
    let different = |how: &str| Failure::Different(how.to_owned());
    let bytes = std::fs::read(path).unwrap();
    let expected: Value =
        serde_json::from_slice(&std::fs::read(path.with_extension("json")).unwrap()).unwrap();
    let decoded = match decode(&bytes) {
        Err(Error::UnknownKind { .. }) => return Err(Failure::Unknown),
        other => other.map_err(|error| Failure::Different(error.to_string()))?,
    };
    if decoded != expected {
        return Err(Failure::Different(format!("decoded\n{decoded}\nexpected\n{expected}")));
    }
    let mut conformed = expected.clone();
    let message = crate::schema::schema()
        .api_kind(expected["apiVersion"].as_str().unwrap(), expected["kind"].as_str().unwrap())
        .unwrap();
    let unknown =
        crate::schema::conform(message, &mut conformed).map_err(|error| Failure::Different(error))?;
    if conformed != expected || !unknown.is_empty() {
        return Err(Failure::Different(format!(
            "conformed, unknown {unknown:?}\n{conformed}\nexpected\n{expected}"
        )));
    }
    let encoded = encode(&expected).map_err(|error| Failure::Different(error.to_string()))?;
    if encoded == bytes { Ok(()) } else { Err(different("encoded bytes differ")) }
}
