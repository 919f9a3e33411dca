//! One entry of `x-kubernetes-validations`, compiled.
//!
//! A rule with an error is refused with its definition. A rule that a real server would take but `kube-cel` cannot
//! evaluate is passed over, with a warning each time a definition that has it is read.

use serde_json::Value;

use super::{
    node::{Node, flag, text},
    program::Program,
};

/// One rule.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) program: Program,
    /// What the message is computed with.
    pub(crate) message_program: Option<Program>,
    source: String,
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

impl Rule {
    pub(crate) fn read_all(schema: &Value, node: &Node) -> Vec<Self> {
        let rules = schema.get("x-kubernetes-validations").and_then(Value::as_array);
        rules.into_iter().flatten().map(|rule| Self::read(rule, node)).collect()
    }

    fn read(spec: &Value, node: &Node) -> Self {
        let source = text(spec, "rule");
        let program = Program::compile(&source, Some(node));
        let computed = text(spec, "messageExpression");
        let path = text(spec, "fieldPath");
        let blamed = if path.is_empty() { Some(String::new()) } else { normal_path(&path, node) };
        Self {
            uses_old: program.mentions("oldSelf"),
            program,
            message_program: (!computed.is_empty()).then(|| Program::compile(&computed, Some(node))),
            source,
            message: text(spec, "message"),
            reason: text(spec, "reason"),
            blames_a_field: blamed.is_some(),
            blamed: blamed.unwrap_or_default(),
            optional_old: flag(spec, "optionalOldSelf"),
        }
    }

    /// The message written in the definition, or the rule itself.
    pub(crate) fn label(&self) -> &str {
        if self.message.is_empty() { self.source.trim() } else { self.message.trim() }
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
