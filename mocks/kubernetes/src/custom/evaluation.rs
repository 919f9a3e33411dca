//! Rules in CEL, evaluated along an object.
//!
//! A rule that looks at `oldSelf` runs only where there is an old value to compare with. What another rule finds wrong
//! with a value that an update left alone is tolerated. Costs are not counted.

use std::sync::Arc;

use kube_cel::{
    KubeCelExt as _,
    cel::{
        Context, ExecutionError, IdedExpr, Value as Cel, extractors::This, objects::OptionalValue,
        parser::Parser,
    },
};
use serde_json::Value;

use super::{
    cel_value,
    correlation::{Pair, old_item},
    node::Node,
    number::Num,
    path,
    rule::Rule,
};
use crate::status::Wrong;

thread_local! {
    /// The functions of Kubernetes. They are the same everywhere, and a context cannot be shared.
    static FUNCTIONS: Context<'static> = functions();
}

fn functions() -> Context<'static> {
    let mut functions = Context::default().with_all();
    // The library counts the bytes of a text; the language counts its characters.
    functions.add_function("size", |This(this): This<Cel>| size(&this));
    functions
}

fn size(value: &Cel) -> Result<i64, ExecutionError> {
    let size = match value {
        Cel::List(items) => items.len(),
        Cel::Map(entries) => entries.map.len(),
        Cel::String(text) => text.chars().count(),
        Cel::Bytes(bytes) => bytes.len(),
        _ => return Err(ExecutionError::NoSuchOverload),
    };
    Ok(i64::try_from(size).unwrap_or(i64::MAX))
}

/// Works with the functions of Kubernetes.
pub(super) fn with_functions<T>(work: impl FnOnce(&Context<'static>) -> T) -> T {
    FUNCTIONS.with(work)
}

/// Whether a function is known by this name, plain or as a method.
pub(crate) fn has_function(name: &str) -> bool {
    let named = name.starts_with(|char: char| char.is_ascii_alphabetic());
    let unknown = |source: String| {
        let Ok(expression) = Parser::new().parse(&source) else { return false };
        let result = with_functions(|functions| Cel::resolve(&expression, functions));
        matches!(result, Err(ExecutionError::UndeclaredReference(_)))
    };
    !named || !unknown(format!("{name}(0)")) || (!name.contains('.') && !unknown(format!("0.{name}()")))
}

/// Evaluates an expression of one variable `x`.
pub(super) fn apply(expression: &IdedExpr, x: Cel) -> Option<Cel> {
    with_functions(|functions| {
        let mut scope = functions.new_inner_scope();
        scope.add_variable_from_value("x", x);
        Cel::resolve(expression, &scope).ok()
    })
}

/// What the rules find wrong with a value.
pub(crate) fn validate(value: &Value, node: &Node, old: Option<&Value>, at: &str) -> Vec<Wrong> {
    let pair = old.map(|old| Pair { new: value, old, node });
    let mut wrong = Vec::new();
    with_functions(|functions| {
        let mut walk = Walk { functions, wrong: &mut wrong };
        walk.value(value, old, node, at, Ratchet { here: pair, above: None });
    });
    wrong
}

/// What of the old object corresponds: to this value, and to the nearest one above it.
#[derive(Clone, Copy)]
struct Ratchet<'a> {
    here: Option<Pair<'a>>,
    above: Option<Pair<'a>>,
}

impl<'a> Ratchet<'a> {
    fn tolerates(&self) -> bool {
        self.here.or(self.above).is_some_and(|pair| pair.unchanged())
    }

    fn below(self, child: impl FnOnce(Pair<'a>) -> Option<Pair<'a>>) -> Self {
        match self.here {
            Some(pair) => Self { here: child(pair), above: Some(pair) },
            None => self,
        }
    }

    fn field(self, name: &str) -> Self {
        if self.above.is_none() && matches!(name, "apiVersion" | "kind") {
            return Self { here: None, above: None };
        }
        self.below(|pair| pair.field(name))
    }
}

struct Walk<'w> {
    functions: &'w Context<'static>,
    wrong: &'w mut Vec<Wrong>,
}

impl Walk<'_> {
    fn value(&mut self, value: &Value, old: Option<&Value>, node: &Node, at: &str, ratchet: Ratchet<'_>) {
        if !node.ruled || value.is_null() {
            return;
        }
        let old = old.filter(|old| !old.is_null());
        if !node.rules.is_empty() {
            self.rules(value, old, node, at, ratchet);
        }
        match value {
            Value::Array(items) => {
                let Some(node_of_items) = &node.items else { return };
                for (index, item) in items.iter().enumerate() {
                    let old = old.and_then(|old| old_item(node, old, item));
                    let ratchet = ratchet.below(|pair| pair.item(index));
                    self.value(item, old, node_of_items, &path::index(at, index), ratchet);
                }
            }
            Value::Object(fields) => {
                for (name, value) in fields {
                    let old = old.and_then(|old| old.get(name));
                    let ratchet = ratchet.field(name);
                    if let Some(node) = node.additional.node() {
                        self.value(value, old, node, &path::key(at, name), ratchet);
                    } else if let Some(node) = node.properties.get(name) {
                        self.value(value, old, node, &path::field(at, name), ratchet);
                    }
                }
            }
            _ => {}
        }
    }

    fn rules(&mut self, value: &Value, old: Option<&Value>, node: &Node, at: &str, ratchet: Ratchet<'_>) {
        let mut scope = self.functions.new_inner_scope();
        scope.add_variable_from_value("self", cel_value::of(value, node, None));
        let old = old.filter(|_| node.rules.iter().any(|rule| rule.uses_old));
        let old = old.map(|old| cel_value::of(old, node, Some(value)));
        if let Some(old) = &old {
            scope.add_variable_from_value("oldSelf", old.clone());
        }
        let optional = old.clone().map_or_else(OptionalValue::none, OptionalValue::of);
        let mut optional_scope = scope.new_inner_scope();
        optional_scope.add_variable_from_value("oldSelf", Cel::Opaque(Arc::new(optional)));
        for rule in &node.rules {
            if rule.uses_old && old.is_none() && !rule.optional_old {
                continue;
            }
            let scope = if rule.optional_old { &optional_scope } else { &scope };
            self.rule(rule, scope, value, node, at, ratchet);
        }
    }

    fn rule(
        &mut self,
        rule: &Rule,
        scope: &Context<'_>,
        value: &Value,
        node: &Node,
        at: &str,
        ratchet: Ratchet<'_>,
    ) {
        match rule.program.run(scope) {
            None | Some(Ok(Cel::Bool(true))) => {}
            Some(Err(error)) => {
                let detail = said(&error, rule.label());
                let kind = Value::from(node.kind.as_str());
                self.wrong.push(Wrong::invalid(path::shown(at), &kind, &detail));
            }
            Some(Ok(_)) => {
                if rule.uses_old || !ratchet.tolerates() {
                    let detail = message(rule, scope).unwrap_or_else(|| rule.detail());
                    self.wrong.push(failure(rule, value, at, &detail));
                }
            }
        }
    }
}

/// The error for a rule that does not hold.
fn failure(rule: &Rule, value: &Value, at: &str, detail: &str) -> Wrong {
    let at = if rule.blamed.is_empty() { at.to_owned() } else { path::field(at, &rule.blamed) };
    let at = path::shown(&at);
    let value = if let Value::Number(number) = value { &Num::of(number).shown() } else { value };
    match rule.reason.as_str() {
        "FieldValueForbidden" => Wrong::forbidden(at, detail),
        "FieldValueRequired" => Wrong::required(at, detail),
        "FieldValueDuplicate" => Wrong::duplicate(at, value),
        _ if value.is_object() || value.is_array() => Wrong::invalid_unshown(at, detail),
        _ => Wrong::invalid(at, value, detail),
    }
}

/// The computed message, unless it is no good.
fn message(rule: &Rule, scope: &Context<'_>) -> Option<String> {
    let Cel::String(message) = rule.message_program.as_ref()?.run(scope)?.ok()? else { return None };
    let message = message.trim();
    let good = !message.is_empty() && message.len() <= 5 * 1024 && !message.contains('\n');
    good.then(|| message.to_owned())
}

const NO_QUANTITY: &str =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/// What a real evaluator says about an error.
fn said(error: &ExecutionError, rule: &str) -> String {
    let what = match error {
        ExecutionError::NoSuchKey(key) => format!("no such key: {key}"),
        ExecutionError::IndexOutOfBounds(index) => {
            format!("index out of bounds: {}", cel_value::shown(index))
        }
        ExecutionError::DivisionByZero(_) => "division by zero".to_owned(),
        ExecutionError::RemainderByZero(_) => "modulus by zero".to_owned(),
        ExecutionError::Overflow(..) => "integer overflow".to_owned(),
        ExecutionError::FunctionError { function, .. } if function == "quantity" => NO_QUANTITY.to_owned(),
        ExecutionError::FunctionError { function, .. }
            if ["int", "uint", "double"].contains(&function.as_str()) =>
        {
            format!("type conversion error from 'string' to '{function}'")
        }
        ExecutionError::FunctionError { message, .. } => message.clone(),
        ExecutionError::NoSuchOverload
        | ExecutionError::ValuesNotComparable(..)
        | ExecutionError::UnsupportedBinaryOperator(..)
        | ExecutionError::UnsupportedUnaryOperator(..)
        | ExecutionError::UnexpectedType { .. } => {
            return format!(
                "'no such overload': call arguments did not match a supported operator, function or macro signature \
                 for rule: {rule}"
            );
        }
        other => other.to_string(),
    };
    format!("{what} evaluating rule: {rule}")
}
