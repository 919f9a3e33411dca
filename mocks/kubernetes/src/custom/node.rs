//! One node of a schema, compiled: what `openAPIV3Schema` says, in a form that can be walked without looking at text.
//!
//! Unknown keywords are ignored here; `structure` is what complains about schemas that may not be.

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::Value;

use super::{format::Format, pattern, rule::Rule};

/// A schema node. Absent keywords are empty or `None`.
#[expect(clippy::struct_excessive_bools, reason = "each is a keyword")]
#[derive(Debug, Default)]
pub(crate) struct Node {
    /// `type`, or empty.
    pub(crate) kind: String,
    pub(crate) int_or_string: bool,
    pub(crate) nullable: bool,
    pub(crate) format: Option<Format>,
    pub(crate) default: Option<Value>,
    pub(crate) properties: BTreeMap<String, Node>,
    pub(crate) additional: Additional,
    pub(crate) items: Option<Box<Node>>,
    pub(crate) required: Vec<String>,
    pub(crate) preserve: bool,
    pub(crate) embedded: bool,
    pub(crate) list: List,
    pub(crate) limits: Limits,
    pub(crate) all_of: Vec<Node>,
    pub(crate) any_of: Vec<Node>,
    pub(crate) one_of: Vec<Node>,
    pub(crate) not: Option<Box<Node>>,
    pub(crate) rules: Vec<Rule>,
    /// Whether this node or one below it has rules.
    pub(crate) ruled: bool,
}

/// `additionalProperties`.
#[derive(Debug, Default)]
pub(crate) enum Additional {
    #[default]
    Unsaid,
    Forbidden,
    Anything,
    Like(Box<Node>),
}

/// `x-kubernetes-list-type`.
#[derive(Debug, Default)]
pub(crate) enum List {
    #[default]
    Atomic,
    Set,
    Map(Vec<String>),
}

/// The keywords that limit a value.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    pub(crate) choices: Vec<Value>,
    pub(crate) pattern: Option<(String, Regex)>,
    pub(crate) minimum: Option<f64>,
    pub(crate) maximum: Option<f64>,
    pub(crate) exclusive_minimum: bool,
    pub(crate) exclusive_maximum: bool,
    pub(crate) multiple_of: Option<f64>,
    pub(crate) min_length: Option<u64>,
    pub(crate) max_length: Option<u64>,
    pub(crate) min_items: Option<u64>,
    pub(crate) max_items: Option<u64>,
    pub(crate) unique_items: bool,
    pub(crate) min_properties: Option<u64>,
    pub(crate) max_properties: Option<u64>,
}

impl Node {
    /// Compiles a schema. Parts of the wrong JSON type count as absent.
    pub(crate) fn read(schema: &Value) -> Self {
        let mut node = Self {
            kind: text(schema, "type"),
            int_or_string: flag(schema, "x-kubernetes-int-or-string"),
            nullable: flag(schema, "nullable"),
            format: schema.get("format").and_then(Value::as_str).and_then(Format::named),
            default: schema.get("default").filter(|default| !default.is_null()).cloned(),
            properties: properties(schema),
            additional: Additional::read(schema.get("additionalProperties")),
            items: child(schema, "items"),
            required: texts(schema, "required"),
            preserve: flag(schema, "x-kubernetes-preserve-unknown-fields"),
            embedded: flag(schema, "x-kubernetes-embedded-resource"),
            list: List::read(schema),
            limits: Limits::read(schema),
            all_of: children(schema, "allOf"),
            any_of: children(schema, "anyOf"),
            one_of: children(schema, "oneOf"),
            not: child(schema, "not"),
            rules: Vec::new(),
            ruled: false,
        };
        node.rules = Rule::read_all(schema, &node);
        node.ruled = !node.rules.is_empty()
            || node.items.as_ref().is_some_and(|items| items.ruled)
            || node.additional.node().is_some_and(|node| node.ruled)
            || node.properties.values().any(|node| node.ruled);
        node
    }

    /// The schema of a field, declared by name or for all names.
    pub(crate) fn field(&self, name: &str) -> Option<&Node> {
        self.properties.get(name).or_else(|| self.additional.node())
    }
}

impl Additional {
    fn read(schema: Option<&Value>) -> Self {
        match schema {
            Some(Value::Bool(true)) => Self::Anything,
            Some(Value::Bool(false)) => Self::Forbidden,
            Some(schema @ Value::Object(_)) => Self::Like(Box::new(Node::read(schema))),
            _ => Self::Unsaid,
        }
    }

    pub(crate) fn node(&self) -> Option<&Node> {
        if let Self::Like(node) = self { Some(node) } else { None }
    }
}

impl List {
    fn read(schema: &Value) -> Self {
        match schema.get("x-kubernetes-list-type").and_then(Value::as_str) {
            Some("set") => Self::Set,
            Some("map") => Self::Map(texts(schema, "x-kubernetes-list-map-keys")),
            _ => Self::Atomic,
        }
    }
}

impl Limits {
    fn read(schema: &Value) -> Self {
        let number = |key: &str| schema.get(key).and_then(Value::as_f64);
        let count = |key: &str| schema.get(key).and_then(Value::as_u64);
        let pattern = schema.get("pattern").and_then(Value::as_str).filter(|pattern| !pattern.is_empty());
        Self {
            choices: schema.get("enum").and_then(Value::as_array).cloned().unwrap_or_default(),
            pattern: pattern.and_then(|text| Some((text.to_owned(), pattern::compile(text).ok()?))),
            minimum: number("minimum"),
            maximum: number("maximum"),
            exclusive_minimum: flag(schema, "exclusiveMinimum"),
            exclusive_maximum: flag(schema, "exclusiveMaximum"),
            multiple_of: number("multipleOf"),
            min_length: count("minLength"),
            max_length: count("maxLength"),
            min_items: count("minItems"),
            max_items: count("maxItems"),
            unique_items: flag(schema, "uniqueItems"),
            min_properties: count("minProperties"),
            max_properties: count("maxProperties"),
        }
    }
}

fn properties(schema: &Value) -> BTreeMap<String, Node> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten().map(|(name, schema)| (name.clone(), Node::read(schema))).collect()
}

fn child(schema: &Value, key: &str) -> Option<Box<Node>> {
    schema.get(key).filter(|child| child.is_object()).map(|child| Box::new(Node::read(child)))
}

fn children(schema: &Value, key: &str) -> Vec<Node> {
    schema.get(key).and_then(Value::as_array).into_iter().flatten().map(Node::read).collect()
}

/// A text, or empty.
pub(crate) fn text(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// A boolean, or false.
pub(crate) fn flag(value: &Value, key: &str) -> bool {
    value.get(key).and_then(Value::as_bool).unwrap_or_default()
}

/// The texts of a list; what is not a text is passed over.
pub(crate) fn texts(value: &Value, key: &str) -> Vec<String> {
    let list = value.get(key).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(|text| text.as_str().map(str::to_owned)).collect()
}
