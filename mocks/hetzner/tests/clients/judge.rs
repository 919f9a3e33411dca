//! Whether a command did what was expected of it.

use regex::{Regex, RegexBuilder};
use serde_json::{Value, json};

use crate::cloud::Ended;
use crate::script::Step;

/// Why this is not what was expected.
pub(crate) fn judge(step: &Step, ended: &Ended) -> Result<(), String> {
    let mut wrong = Vec::new();
    if ended.code != step.code {
        wrong.push(format!("ended with {}, expected {}", ended.code, step.code));
    }
    wrong.extend(missing(&step.out, &ended.out).map(|line| format!("stdout: no {line:?}")));
    wrong.extend(missing(&step.err, &ended.err).map(|line| format!("stderr: no {line:?}")));
    if !step.json.is_empty() {
        let printed: Value = serde_json::from_str(&ended.out).unwrap_or_default();
        wrong.extend(step.json.iter().filter_map(|(place, expected)| {
            let found = printed.pointer(place).unwrap_or(&Value::Null);
            (found != expected).then(|| format!("{place}: {found}, expected {expected}"))
        }));
    }
    if wrong.is_empty() {
        return Ok(());
    }
    Err(format!("{}\n--- stdout\n{}--- stderr\n{}", wrong.join("\n"), ended.out, ended.err))
}

/// The first expected line that is not there behind the one before.
fn missing<'a>(expected: &'a str, printed: &str) -> Option<&'a str> {
    let mut rest = printed;
    for line in expected.lines().filter(|line| !line.is_empty()) {
        let Some(found) = regex(line).find(rest) else { return Some(line) };
        rest = &rest[found.end()..];
    }
    None
}

fn regex(text: &str) -> Regex {
    RegexBuilder::new(text).multi_line(true).build().unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn expectations_convict() {
    let texts: Step = serde_json::from_value(json!({"run": "", "out": "^a\n^b"})).unwrap();
    let facts: Step = serde_json::from_value(json!({"run": "", "json": {"/a": 1, "/b": null}})).unwrap();
    let held =
        |step, code, out: &str| judge(step, &Ended { code, out: out.to_owned(), err: String::new() }).is_ok();
    assert!(held(&texts, 0, "a\nb\n"));
    assert!(!held(&texts, 1, "a\nb\n"), "the exit code");
    assert!(!held(&texts, 0, "b\na\n"), "the order");
    assert!(!held(&texts, 0, "a\n"), "a line is missing");
    assert!(held(&facts, 0, r#"{"a": 1}"#));
    assert!(!held(&facts, 0, r#"{"a": 2}"#), "another value");
    assert!(!held(&facts, 0, r#"{"a": 1, "b": 0}"#), "a value where none is expected");
    assert!(!held(&facts, 0, "no JSON"));
}
