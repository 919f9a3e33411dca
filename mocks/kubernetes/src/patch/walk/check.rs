//! Whether an object fits its structure.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::fields::{Element, shown};
use super::super::structure::{Kind, List, Scalar, Structure};
use super::super::{as_go, go_type};
use super::element;

/// What does not fit, in upstream's words. `None` if all fits.
pub(in crate::patch) fn check(object: &Value, place: Structure<'_>) -> Option<String> {
    let mut check = Check { path: Vec::new(), wrong: Vec::new() };
    check.visit(object, place);
    match &check.wrong[..] {
        [] => None,
        [one] => Some(one.clone()),
        many => Some(format!("errors:\n  {}", many.join("\n  "))),
    }
}

struct Check {
    path: Vec<Element>,
    wrong: Vec<String>,
}

impl Check {
    fn visit(&mut self, value: &Value, place: Structure<'_>) {
        match (place.kind(Some(value)), value) {
            (_, Value::Null) => {}
            (Kind::Scalar(wanted), scalar) => self.scalar(wanted, scalar),
            (Kind::Map { .. }, Value::Object(fields)) => {
                for (name, value) in fields {
                    self.path.push(Element::Field(name.clone()));
                    match place.field(name) {
                        Some(field) => self.visit(value, field.structure),
                        None => self.wrong("field not declared in schema"),
                    }
                    self.path.pop();
                }
            }
            (Kind::List(kind), Value::Array(items)) => self.items(items, kind, place),
            (Kind::Map { .. }, other) => self.wrong(&format!("expected map, got &{{{}}}", as_go(other))),
            (Kind::List(_), other) => self.wrong(&format!("expected list, got &{{{}}}", as_go(other))),
        }
    }

    fn scalar(&mut self, wanted: Scalar, value: &Value) {
        match (wanted, value) {
            (Scalar::Number, Value::Number(_))
            | (Scalar::Text, Value::String(_))
            | (Scalar::Truth, Value::Bool(_)) => {}
            (Scalar::Any, other) if !other.is_object() && !other.is_array() => {}
            (Scalar::Number, other) => {
                let got = go_type(other);
                self.wrong(&format!("expected numeric (int or float), got {got}"));
            }
            (Scalar::Text, other) => {
                self.wrong(&format!("expected string, got &value.valueUnstructured{{Value:{other}}}"));
            }
            (Scalar::Truth, other) => {
                self.wrong(&format!("expected boolean, got &{{{}}}", as_go(other)));
            }
            (Scalar::Any, other) => {
                self.wrong(&format!("expected any scalar, got &{{{}}}", as_go(other)));
            }
        }
    }

    fn items(&mut self, items: &[Value], kind: List, place: Structure<'_>) {
        let mut seen = BTreeSet::new();
        for (at, item) in items.iter().enumerate() {
            let step = if kind == List::Atomic {
                Element::Index(i64::try_from(at).unwrap_or(i64::MAX))
            } else {
                match element(item, kind, place) {
                    Ok(element) => element,
                    Err(error) => return self.wrong(&format!("element {at}: {error}")),
                }
            };
            if !seen.insert(step.clone()) {
                self.wrong(&format!("duplicate entries for key {step}"));
            }
            self.path.push(step);
            self.visit(item, place.item());
            self.path.pop();
        }
    }

    fn wrong(&mut self, message: &str) {
        let path = shown(&self.path);
        self.wrong.push(if path.is_empty() { message.to_owned() } else { format!("{path}: {message}") });
    }
}
