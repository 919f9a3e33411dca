//! CEL expressions, compiled for `kube-cel`.
//!
//! Two things are put right on the way. Functions get their first argument as a target, since the library loses the
//! errors of arguments. And an expression that fails is tried again in a form where `all` and `exists` look past an
//! item that fails, as the language wants, if another item decides.

use std::{collections::BTreeSet, fmt::Write as _, mem};

use kube_cel::cel::{
    Context, ExecutionError, IdedExpr, Value,
    common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr},
    parser::Parser,
};

use super::{
    evaluation,
    node::{Additional, Node},
};

/// What became of an expression.
#[derive(Debug)]
pub(crate) enum Program {
    Empty,
    Ready(Box<Ready>),
    /// It uses what this library has not.
    Beyond,
    /// A real server refuses it, with this sentence.
    Broken(String),
}

/// An expression that runs.
#[derive(Debug)]
pub(crate) struct Ready {
    expression: IdedExpr,
    /// The same with `all` and `exists` that look past failures.
    tolerant: IdedExpr,
}

impl Program {
    /// `node` is the schema of `self`, if its fields are to be checked.
    pub(crate) fn compile(source: &str, node: Option<&Node>) -> Self {
        if source.trim().is_empty() {
            return Self::Empty;
        }
        let mut expression = match Parser::new().enable_optional_syntax(true).parse(source) {
            Ok(expression) => expression,
            Err(error) => return Self::Broken(format!("compilation failed: {error}")),
        };
        let mut found = Found::default();
        found.walk(&expression, &mut vec!["self", "oldSelf"]);
        if let Some(name) = found.functions.iter().find(|name| !evaluation::has_function(name)) {
            return Self::beyond(source, name);
        }
        if found.structures {
            return Self::beyond(source, "structures");
        }
        if let Some(name) = found.strangers.first() {
            return Self::Broken(undeclared(source, name));
        }
        if let Some(name) = found.fields.iter().find(|name| node.is_some_and(|node| is_undefined(node, name)))
        {
            return Self::Broken(undefined(source, name));
        }
        mend(&mut expression);
        let mut tolerant = expression.clone();
        tolerate(&mut tolerant);
        Self::Ready(Box::new(Ready { expression, tolerant }))
    }

    fn beyond(source: &str, what: &str) -> Self {
        tracing::warn!(
            rule = source,
            missing = what,
            "a validation rule cannot be evaluated and is passed over"
        );
        Self::Beyond
    }

    /// Whether it uses a variable.
    pub(crate) fn mentions(&self, name: &str) -> bool {
        matches!(self, Self::Ready(ready) if ready.expression.references().has_variable(name))
    }

    /// The value in a scope. `None` if there is no program, or none that can run.
    pub(crate) fn run(&self, scope: &Context<'_>) -> Option<Result<Value, ExecutionError>> {
        let Self::Ready(ready) = self else { return None };
        let result = Value::resolve(&ready.expression, scope)
            .or_else(|error| Value::resolve(&ready.tolerant, scope).map_err(|_| error));
        if let Err(ExecutionError::UndeclaredReference(name)) = &result {
            tracing::warn!(missing = %name, "a validation rule cannot be evaluated and is passed over");
            return None;
        }
        Some(result)
    }
}

/// The sentence of a real compiler for an unknown name.
fn undeclared(source: &str, name: &str) -> String {
    let start = place_of(source, name);
    complaint(source, start, &format!("undeclared reference to '{name}' (in container '')"))
}

/// The same for a field that `self` does not have: it points at the dot.
fn undefined(source: &str, field: &str) -> String {
    let start = place_of(source, &format!("self.{field}")) + "self".len();
    complaint(source, start, &format!("undefined field '{field}'"))
}

/// Whether a schema says all fields that there can be, and not this one.
fn is_undefined(node: &Node, field: &str) -> bool {
    let closed = node.kind == "object"
        && !node.preserve
        && !node.embedded
        && matches!(node.additional, Additional::Unsaid | Additional::Forbidden);
    // The root has these without saying so; underscores escape names that CEL keeps for itself.
    let special = matches!(field, "apiVersion" | "kind" | "metadata") || field.contains("__");
    closed && !special && !node.properties.contains_key(field)
}

/// Where a word stands by itself.
fn place_of(source: &str, word: &str) -> usize {
    let in_word = |char: char| char.is_alphanumeric() || char == '_';
    let mut starts = source.match_indices(word).map(|(start, _)| start);
    let whole = |start: &usize| {
        !source[..*start].ends_with(in_word) && !source[start + word.len()..].starts_with(in_word)
    };
    starts.find(whole).unwrap_or_default()
}

/// An error with the place in the source.
fn complaint(source: &str, start: usize, why: &str) -> String {
    let start = start.min(source.len());
    let line = source[..start].matches('\n').count();
    let column = source[..start].chars().rev().take_while(|&char| char != '\n').count();
    let mut sentence = format!("compilation failed: ERROR: <input>:{}:{}: {why}", line + 1, column + 1);
    let text = source.lines().nth(line).unwrap_or_default();
    let _ = write!(sentence, "\n | {text}\n | {}^", ".".repeat(column));
    sentence
}

/// The names in an expression that are not its own.
#[derive(Default)]
struct Found<'e> {
    functions: BTreeSet<String>,
    strangers: Vec<&'e str>,
    /// What is read of `self` itself.
    fields: Vec<&'e str>,
    structures: bool,
}

/// Names of types, which stand for themselves in `type(x) == int`.
const TYPES: [&str; 15] = [
    "bool",
    "bytes",
    "double",
    "duration",
    "dyn",
    "int",
    "list",
    "map",
    "null_type",
    "string",
    "timestamp",
    "type",
    "uint",
    "optional_type",
    "google",
];

impl<'e> Found<'e> {
    fn walk(&mut self, expression: &'e IdedExpr, scope: &mut Vec<&'e str>) {
        match &expression.expr {
            Expr::Ident(name) => {
                let known =
                    name.starts_with('@') || scope.contains(&name.as_str()) || TYPES.contains(&name.as_str());
                if !known {
                    self.strangers.push(name);
                }
            }
            Expr::Call(call) => {
                let qualifier = call.target.as_deref().and_then(|target| match &target.expr {
                    Expr::Ident(name) if !scope.contains(&name.as_str()) => Some(name),
                    _ => None,
                });
                let name = &call.func_name;
                self.functions
                    .insert(qualifier.map_or_else(|| name.clone(), |space| format!("{space}.{name}")));
                let target = call.target.as_deref().filter(|_| qualifier.is_none());
                target.into_iter().chain(&call.args).for_each(|part| self.walk(part, scope));
            }
            Expr::Comprehension(loop_) => {
                self.walk(&loop_.iter_range, scope);
                self.walk(&loop_.accu_init, scope);
                let outer = scope.len();
                scope.extend([loop_.iter_var.as_str(), loop_.accu_var.as_str()]);
                scope.extend(loop_.iter_var2.as_deref());
                for part in [&loop_.loop_cond, &loop_.loop_step, &loop_.result] {
                    self.walk(part, scope);
                }
                scope.truncate(outer);
            }
            Expr::List(list) => list.elements.iter().for_each(|element| self.walk(element, scope)),
            Expr::Select(select) => {
                if matches!(&select.operand.expr, Expr::Ident(name) if name == "self") {
                    self.fields.push(&select.field);
                }
                self.walk(&select.operand, scope);
            }
            Expr::Map(map) => self.entries(map.entries.iter().map(|entry| &entry.expr), scope),
            Expr::Struct(_) | Expr::Unspecified => self.structures = true,
            Expr::Literal(_) => {}
        }
    }

    fn entries(&mut self, entries: impl Iterator<Item = &'e EntryExpr>, scope: &mut Vec<&'e str>) {
        for entry in entries {
            match entry {
                EntryExpr::StructField(_) => self.structures = true,
                EntryExpr::MapEntry(entry) => {
                    self.walk(&entry.key, scope);
                    self.walk(&entry.value, scope);
                }
            }
        }
    }
}

/// Every expression directly below one.
fn parts(expression: &mut IdedExpr) -> Vec<&mut IdedExpr> {
    match &mut expression.expr {
        Expr::Call(call) => call.target.as_deref_mut().into_iter().chain(&mut call.args).collect(),
        Expr::Comprehension(loop_) => {
            let ComprehensionExpr { iter_range, accu_init, loop_cond, loop_step, result, .. } = &mut **loop_;
            vec![iter_range, accu_init, loop_cond, loop_step, result]
        }
        Expr::List(list) => list.elements.iter_mut().collect(),
        Expr::Select(select) => vec![&mut *select.operand],
        Expr::Map(map) => {
            let entries = map.entries.iter_mut().filter_map(|entry| match &mut entry.expr {
                EntryExpr::MapEntry(entry) => Some([&mut entry.key, &mut entry.value]),
                EntryExpr::StructField(_) => None,
            });
            entries.flatten().collect()
        }
        Expr::Struct(_) | Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) => Vec::new(),
    }
}

/// Makes `size(x)` an `x.size()`.
fn mend(expression: &mut IdedExpr) {
    parts(expression).into_iter().for_each(mend);
    if let Expr::Call(call) = &mut expression.expr
        && call.target.is_none()
        && ["size", "int", "uint", "double", "string"].contains(&call.func_name.as_str())
        && call.args.len() == 1
    {
        call.target = call.args.pop().map(Box::new);
    }
}

fn call(name: &str, args: Vec<IdedExpr>) -> IdedExpr {
    let call = CallExpr { func_name: name.to_owned(), target: None, args };
    IdedExpr { id: 0, expr: Expr::Call(call) }
}

/// Puts before each `all` one that asks only whether some item is false for sure, before each `exists` one that asks
/// whether some item is true for sure.
fn tolerate(expression: &mut IdedExpr) {
    parts(expression).into_iter().for_each(tolerate);
    let Expr::Comprehension(original) = &expression.expr else { return };
    let Expr::Call(step) = &original.loop_step.expr else { return };
    let accumulates = matches!(step.args.first(), Some(IdedExpr { expr: Expr::Ident(name), .. }) if *name == original.accu_var);
    let ([so_far, holds], true) = (&step.args[..], accumulates) else { return };
    let not_false = |part: IdedExpr| call("@not_strictly_false", vec![part]);
    let not = |part: IdedExpr| call("!_", vec![part]);
    let sure = match step.func_name.as_str() {
        "_&&_" => not_false(holds.clone()),
        "_||_" => not(not_false(not(holds.clone()))),
        _ => return,
    };
    let name = step.func_name.clone();
    let mut first = original.clone();
    first.loop_step = call(&name, vec![so_far.clone(), sure]);
    let first = IdedExpr { id: 0, expr: Expr::Comprehension(first) };
    let original = mem::take(expression);
    *expression = call(&name, vec![first, original]);
}

#[cfg(test)]
mod tests {
    use kube_cel::cel::{Context, Value};

    use super::Program;
    use crate::custom::evaluation;

    fn run(source: &str) -> Result<bool, String> {
        let program = Program::compile(source, None);
        let result = evaluation::with_functions(|functions: &Context<'_>| program.run(functions));
        match result {
            Some(Ok(Value::Bool(bool))) => Ok(bool),
            other => Err(format!("{program:?}: {other:?}")),
        }
    }

    #[test]
    fn a_deciding_item_outweighs_a_failing_one() {
        for (source, value) in [
            ("[0, 1].exists(x, 1 / x == 1)", true),
            ("[1, 0].exists(x, 1 / x == 1)", true),
            ("[0, 1].all(x, 1 / x == 2)", false),
            ("[[0, 1], [1]].all(l, l.exists(x, 1 / x == 1))", true),
            ("size('é') == 1 && 'é'.size() == 1", true),
            ("1 / 0 == 1 || true", true),
        ] {
            assert_eq!(run(source), Ok(value), "{source}");
        }
        assert!(run("[0, 2].exists(x, 1 / x == 1)").is_err());
    }

    #[test]
    fn what_cannot_be_is_told_from_what_cannot_be_done_here() {
        for source in ["[1].all(i, x, x > 0)", "cel.bind(a, 1, a > 0)", "Thing{a: 1} == 1"] {
            assert!(matches!(Program::compile(source, None), Program::Beyond), "{source}");
        }
        for (source, why) in [
            ("self.x +", "compilation failed: ERROR: <input>:1:9: Syntax error"),
            (
                "true &&\n  that.x",
                "compilation failed: ERROR: <input>:2:3: undeclared reference to 'that' (in container '')\n |   that.x\n | ..^",
            ),
        ] {
            let Program::Broken(said) = Program::compile(source, None) else { panic!("{source} compiles") };
            assert!(said.starts_with(why), "{said}");
        }
    }
}
