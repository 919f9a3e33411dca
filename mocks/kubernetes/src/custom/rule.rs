//! One entry of `x-kubernetes-validations`, compiled.
//!
//! A rule with an error is refused with its definition. A rule that a real server would take but `kube-cel` cannot
//! evaluate is passed over, with a warning each time a definition that has it is read.

use std::{collections::BTreeSet, fmt::Write as _};

use kube_cel::cel::{
    Context, ExecutionError, IdedExpr, Value as Cel,
    common::ast::{EntryExpr, Expr},
    parser::Parser,
};
use serde_json::Value;

use super::{
    evaluation,
    node::{Node, flag, text},
};

/// One rule.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) program: Program,
    /// What the message is computed with.
    pub(crate) message_program: Option<Program>,
    rule: String,
    message: String,
    /// `FieldValueInvalid` or another; may be empty.
    pub(crate) reason: String,
    /// The field to blame, below this node; may be empty.
    pub(crate) blamed: String,
    /// Whether the text of `fieldPath` leads to a field.
    pub(crate) blames_a_field: bool,
    pub(crate) optional_old: bool,
    pub(crate) uses_old: bool,
}

/// What became of an expression.
#[derive(Debug)]
pub(crate) enum Program {
    Empty,
    Ready(Box<IdedExpr>),
    /// It uses what this library has not.
    Beyond,
    /// A real server refuses it, with this sentence.
    Broken(String),
}

impl Rule {
    pub(crate) fn read_all(schema: &Value, node: &Node) -> Vec<Self> {
        let rules = schema.get("x-kubernetes-validations").and_then(Value::as_array);
        rules.into_iter().flatten().map(|rule| Self::read(rule, node)).collect()
    }

    fn read(spec: &Value, node: &Node) -> Self {
        let rule = text(spec, "rule");
        let program = Program::compile(&rule);
        let computed = text(spec, "messageExpression");
        let path = text(spec, "fieldPath");
        let blamed = if path.is_empty() { Some(String::new()) } else { normal_path(&path, node) };
        Self {
            uses_old: matches!(&program, Program::Ready(expression) if mentions(expression, "oldSelf")),
            program,
            message_program: (!computed.is_empty()).then(|| Program::compile(&computed)),
            rule,
            message: text(spec, "message"),
            reason: text(spec, "reason"),
            blames_a_field: blamed.is_some(),
            blamed: blamed.unwrap_or_default(),
            optional_old: flag(spec, "optionalOldSelf"),
        }
    }

    /// The message written in the definition, or the rule itself.
    pub(crate) fn label(&self) -> &str {
        if self.message.is_empty() { self.rule.trim() } else { self.message.trim() }
    }

    /// The detail of a failure when no message is computed.
    pub(crate) fn detail(&self) -> String {
        if self.message.is_empty() {
            format!("failed rule: {}", self.label())
        } else {
            self.label().to_owned()
        }
    }
}

impl Program {
    fn compile(source: &str) -> Self {
        if source.trim().is_empty() {
            return Self::Empty;
        }
        let expression = match Parser::new().enable_optional_syntax(true).parse(source) {
            Ok(expression) => expression,
            // Quoted identifiers are newer than the parser.
            Err(_) if source.contains('`') => return Self::beyond(source, "quoted identifiers"),
            Err(error) => return Self::Broken(format!("compilation failed: {error}")),
        };
        let mut found = Found::default();
        found.walk(&expression, &mut vec!["self", "oldSelf"]);
        if let Some(name) = found.strangers.first() {
            return Self::Broken(undeclared(source, name));
        }
        match found.functions.iter().find(|name| !evaluation::has_function(name)) {
            Some(name) => Self::beyond(source, name),
            None => Self::Ready(Box::new(expression)),
        }
    }

    fn beyond(source: &str, what: &str) -> Self {
        tracing::warn!(
            rule = source,
            missing = what,
            "a validation rule cannot be evaluated and is passed over"
        );
        Self::Beyond
    }

    /// The value in a scope. `None` if there is no program, or none that can run.
    pub(crate) fn run(&self, scope: &Context<'_>) -> Option<Result<Cel, ExecutionError>> {
        let Self::Ready(expression) = self else { return None };
        let result = Cel::resolve(expression, scope);
        if let Err(ExecutionError::UndeclaredReference(name)) = &result {
            tracing::warn!(missing = %name, "a validation rule cannot be evaluated and is passed over");
            return None;
        }
        Some(result)
    }
}

/// The sentence of a real compiler for an unknown name, with the place in the source.
fn undeclared(source: &str, name: &str) -> String {
    let in_word = |char: char| char.is_alphanumeric() || char == '_';
    let starts = source.match_indices(name).map(|(start, _)| start);
    let whole = |start: &usize| {
        !source[..*start].ends_with(in_word) && !source[start + name.len()..].starts_with(in_word)
    };
    let start = starts.filter(whole).next().unwrap_or_default();
    let line = source[..start].matches('\n').count();
    let column = source[..start].chars().rev().take_while(|&char| char != '\n').count();
    let mut sentence = format!(
        "compilation failed: ERROR: <input>:{}:{}: undeclared reference to '{name}' (in container '')",
        line + 1,
        column + 1
    );
    let text = source.lines().nth(line).unwrap_or_default();
    let _ = write!(sentence, "\n | {text}\n | {}^", ".".repeat(column));
    sentence
}

/// The names in an expression that are not its own.
#[derive(Default)]
struct Found<'e> {
    functions: BTreeSet<String>,
    strangers: Vec<&'e str>,
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
            Expr::Select(select) => self.walk(&select.operand, scope),
            Expr::Map(map) => self.entries(map.entries.iter().map(|entry| &entry.expr), scope),
            Expr::Struct(fields) => self.entries(fields.entries.iter().map(|entry| &entry.expr), scope),
            Expr::Unspecified | Expr::Literal(_) => {}
        }
    }

    fn entries(&mut self, entries: impl Iterator<Item = &'e EntryExpr>, scope: &mut Vec<&'e str>) {
        for entry in entries {
            match entry {
                EntryExpr::StructField(field) => self.walk(&field.value, scope),
                EntryExpr::MapEntry(entry) => {
                    self.walk(&entry.key, scope);
                    self.walk(&entry.value, scope);
                }
            }
        }
    }
}

fn mentions(expression: &IdedExpr, name: &str) -> bool {
    expression.references().has_variable(name)
}

/// A `fieldPath`, as errors show it: `.spec.a` is `spec.a`, `['a']` names a field or an entry. `None` if it leads
/// nowhere.
pub(crate) fn normal_path(path: &str, node: &Node) -> Option<String> {
    let mut out = String::new();
    let mut node = node;
    let mut rest = path.trim();
    while !rest.is_empty() {
        let name;
        if let Some(tail) = rest.strip_prefix("['") {
            let (quoted, tail) = tail.split_once("']")?;
            name = quoted.replace("\\'", "'").replace("\\\\", "\\");
            rest = tail;
        } else {
            let tail = rest.strip_prefix('.')?;
            let end = tail.find(['.', '[']).unwrap_or(tail.len());
            name = tail[..end].to_owned();
            rest = &tail[end..];
        }
        if node.properties.is_empty() {
            node = node.additional.node()?;
            out = super::path::key(&out, &name);
        } else {
            node = node.properties.get(&name)?;
            out = super::path::field(&out, &name);
        }
    }
    Some(out)
}
