//! Validation against the keywords of a schema, in upstream's order and words.
//!
//! When one of several schemas must hold and none does, the errors of the one that matched most are shown; the count
//! of matches is therefore part of the outcome. Rules in CEL and lists that are maps are checked elsewhere.

use serde_json::{Map, Value};

use super::{
    correlation::Pair,
    limits,
    node::{Additional, Node},
    number::Num,
    path,
};
use crate::status::Wrong;

/// What is wrong with a value of this schema. `old` makes it an update: what did not change is tolerated. `base` is
/// the path of the value itself in its object, which the sentences leave out.
pub(crate) fn validate(value: &Value, node: &Node, old: Option<&Value>, base: &str) -> Vec<Wrong> {
    let pair = old.map(|old| Pair { new: value, old, node });
    let at = At { base, name: "" };
    let mut outcome = check(value, node, at, pair);
    if pair.is_some_and(|pair| pair.unchanged()) {
        outcome.problems.clear();
    }
    outcome.problems.into_iter().map(|problem| problem.wrong).collect()
}

/// Where a value is.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    base: &'a str,
    /// The path below the base, as the sentences have it.
    pub(super) name: &'a str,
}

impl At<'_> {
    /// The path for the error of this name.
    pub(super) fn path(self, name: &str) -> String {
        let name = name.trim_start_matches('.');
        match (self.base, name) {
            (base, "") => path::shown(base).to_owned(),
            ("", name) => name.to_owned(),
            (base, name) => format!("{base}.{name}"),
        }
    }

    /// The path of the value itself.
    pub(super) fn here(self) -> String {
        self.path(self.name)
    }
}

/// An error, and the sentence by which the same error is known.
pub(super) struct Problem {
    sentence: String,
    wrong: Wrong,
}

/// What came of checking a value.
#[derive(Default)]
pub(super) struct Outcome {
    problems: Vec<Problem>,
    matches: usize,
}

impl Outcome {
    pub(super) fn fail(&mut self, sentence: impl Into<String>, wrong: Wrong) {
        let sentence = sentence.into();
        if self.problems.iter().all(|problem| problem.sentence != sentence) {
            self.problems.push(Problem { sentence, wrong });
        }
    }

    pub(super) fn count(&mut self) {
        self.matches += 1;
    }

    fn merge(&mut self, other: Self) {
        self.matches += other.matches;
        for problem in other.problems {
            self.fail(problem.sentence, problem.wrong);
        }
    }

    fn holds(&self) -> bool {
        self.problems.is_empty()
    }
}

fn check(value: &Value, node: &Node, at: At<'_>, pair: Option<Pair<'_>>) -> Outcome {
    let mut outcome = Outcome::default();
    if value.is_null() {
        check_type(value, node, at, &mut outcome);
        limits::choices(value, node, at, &mut outcome);
        return outcome;
    }
    if !node.kind.is_empty() || node.int_or_string || node.format.is_some() {
        check_type(value, node, at, &mut outcome);
        outcome.count();
    }
    junctions(value, node, at, &mut outcome);
    outcome.count();
    match value {
        Value::String(text) => limits::text(text, node, at, &mut outcome),
        Value::Number(number) => limits::number(Num::of(number), node, at, &mut outcome),
        Value::Array(items) => list(items, node, at, pair, &mut outcome),
        _ => {}
    }
    limits::choices(value, node, at, &mut outcome);
    outcome.count();
    if let Value::Object(fields) = value {
        object(fields, node, at, pair, &mut outcome);
        outcome.count();
    }
    outcome.count();
    outcome
}

/// A child, which may be an update of an old one.
fn check_child(value: &Value, node: &Node, at: At<'_>, pair: Option<Pair<'_>>) -> Outcome {
    let mut outcome = check(value, node, at, pair.map(|pair| Pair { node, ..pair }));
    if !outcome.holds() && pair.is_some_and(|pair| pair.unchanged()) {
        outcome.problems.clear();
    }
    outcome
}

fn check_type(value: &Value, node: &Node, at: At<'_>, outcome: &mut Outcome) {
    let expected = if node.int_or_string { "integer,string" } else { &node.kind };
    let takes = |kind: &str| expected.split(',').any(|expected| expected == kind);
    let (kind, sort) = match value {
        Value::Null if expected.is_empty() || node.nullable => return outcome.count(),
        Value::Null => ("null", ""),
        Value::Bool(_) => ("boolean", ""),
        Value::String(_) => ("string", ""),
        Value::Array(_) => ("array", ""),
        Value::Object(_) => ("object", ""),
        Value::Number(number) => match Num::of(number) {
            Num::Int(_) => ("integer", "int64"),
            Num::Float(_) => ("number", "float64"),
        },
    };
    let whole = matches!(value, Value::Number(number) if Num::of(number).is_whole());
    let fits = takes(kind) || (whole && takes("integer")) || (kind == "integer" && takes("number"));
    if let Some(format) = &node.format {
        if value.is_string() || value.is_array() {
            if !takes("number") && !takes("integer") {
                return outcome.count();
            }
        } else if !fits && kind != "null" {
            return wrong_type(at, &format.name, sort, outcome);
        }
    }
    if fits { outcome.count() } else { wrong_type(at, expected, kind, outcome) }
}

fn wrong_type(at: At<'_>, expected: &str, got: &str, outcome: &mut Outcome) {
    let sentence = format!("{} in body must be of type {expected}: {got:?}", at.name);
    outcome.fail(sentence.clone(), Wrong::wrong_type(at.here(), &Value::from(got), &sentence));
}

/// `anyOf`, `oneOf`, `allOf`, `not`. Nothing is tolerated in them for being old.
fn junctions(value: &Value, node: &Node, at: At<'_>, outcome: &mut Outcome) {
    let fail = |outcome: &mut Outcome, tail: &str| {
        let sentence = format!("{:?} must {tail}", at.name);
        outcome.fail(sentence.clone(), Wrong::invalid(at.path(""), &Value::from(""), &sentence));
    };
    let try_all = |nodes: &[Node]| nodes.iter().map(|node| check(value, node, at, None)).collect::<Vec<_>>();
    if !node.any_of.is_empty() {
        let outcomes = try_all(&node.any_of);
        if let Some(good) = outcomes.iter().position(Outcome::holds) {
            outcome.merge(outcomes.into_iter().nth(good).unwrap_or_default());
        } else {
            fail(outcome, "validate at least one schema (anyOf)");
            outcome.merge(best(outcomes));
        }
    }
    if !node.one_of.is_empty() {
        let outcomes = try_all(&node.one_of);
        let good = outcomes.iter().filter(|outcome| outcome.holds()).count();
        match good {
            0 => {
                fail(outcome, "validate one and only one schema (oneOf). Found none valid");
                outcome.merge(best(outcomes));
            }
            1 => outcome.merge(outcomes.into_iter().find(Outcome::holds).unwrap_or_default()),
            many => {
                let tail =
                    format!("validate one and only one schema (oneOf). Found {many} valid alternatives");
                fail(outcome, &tail);
            }
        }
    }
    if !node.all_of.is_empty() {
        let outcomes = try_all(&node.all_of);
        let good = outcomes.iter().filter(|outcome| outcome.holds()).count();
        let all = good == outcomes.len();
        for each in outcomes {
            outcome.merge(each);
        }
        if !all {
            fail(
                outcome,
                &format!(
                    "validate all the schemas (allOf){}",
                    if good == 0 { ". None validated" } else { "" }
                ),
            );
        }
    }
    if node.not.as_deref().is_some_and(|not| check(value, not, at, None).holds()) {
        fail(outcome, "not validate the schema (not)");
    }
    outcome.count();
}

/// The first of those that matched most.
fn best(outcomes: Vec<Outcome>) -> Outcome {
    outcomes.into_iter().rev().max_by_key(|outcome| outcome.matches).unwrap_or_default()
}

fn list(items: &[Value], node: &Node, at: At<'_>, pair: Option<Pair<'_>>, outcome: &mut Outcome) {
    if let Some(node) = &node.items {
        for (index, item) in items.iter().enumerate() {
            let name = format!("{}[{index}]", at.name);
            let pair = pair.and_then(|pair| pair.item(index));
            outcome.merge(check_child(item, node, At { name: &name, ..at }, pair));
        }
    }
    limits::items(items, node, at, outcome);
    outcome.count();
    outcome.count();
}

fn object(
    fields: &Map<String, Value>,
    node: &Node,
    at: At<'_>,
    pair: Option<Pair<'_>>,
    outcome: &mut Outcome,
) {
    limits::properties(fields.len(), node, at, outcome);
    let child = |name: &str, value: &Value, node: &Node, path: &str| {
        // The version of an object is converted before it gets here, so it cannot be seen to change.
        let visible = !(at.name.is_empty() && matches!(name, "kind" | "apiVersion"));
        let pair = pair.filter(|_| visible).and_then(|pair| pair.field(name));
        check_child(value, node, At { name: path, ..at }, pair)
    };
    for (name, value) in fields.iter().filter(|(name, _)| !node.properties.contains_key(*name)) {
        match &node.additional {
            Additional::Forbidden => {
                let sentence = format!("{}.{name} in body is a forbidden property", at.name);
                let wrong = Wrong::invalid(at.here(), &Value::from(name.as_str()), &sentence);
                outcome.fail(sentence, wrong);
            }
            Additional::Like(node) => {
                outcome.merge(child(name, value, node, &format!("{}.{name}", at.name)));
            }
            Additional::Unsaid | Additional::Anything => {}
        }
    }
    for (name, node) in &node.properties {
        if let Some(value) = fields.get(name) {
            outcome.merge(child(name, value, node, &path::field(at.name, name)));
        }
    }
    for name in node.required.iter().filter(|name| !fields.contains_key(*name)) {
        let name = format!("{}.{name}", at.name);
        outcome.fail(format!("{name} in body is required"), Wrong::required(at.path(&name), ""));
    }
}
