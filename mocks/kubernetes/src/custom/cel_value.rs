//! JSON values as CEL values, typed by their schema.
//!
//! Numbers follow the schema, so `1` and `1.0` are one value; texts with a format become times, durations or bytes;
//! field names are escaped, keys of maps are not. Items of old lists that are maps or sets are put in the order of
//! the new list, since their order means nothing.

use std::sync::{Arc, LazyLock};

use base64::Engine as _;
use kube_cel::cel::{
    IdedExpr, Value as Cel,
    objects::{Key, Map},
    parser::Parser,
};
use serde_json::Value;

use super::{
    correlation::{old_item, same},
    evaluation,
    node::{Additional, List, Node},
    number::Num,
};

/// The value as a rule sees it. `like` is the new value, if this is the old one.
pub(crate) fn of(value: &Value, node: &Node, like: Option<&Value>) -> Cel {
    match value {
        Value::Null => Cel::Null,
        Value::Bool(bool) => Cel::Bool(*bool),
        Value::Number(number) => match (Num::of(number), node.kind.as_str()) {
            (number, "number") => Cel::Float(number.as_f64()),
            (Num::Int(int), _) => Cel::Int(int),
            (number, "integer") if number.is_whole() => Cel::Int(number.trunc()),
            (number, _) => Cel::Float(number.as_f64()),
        },
        Value::String(text) => self::text(text, node),
        Value::Array(items) => {
            let Some(of_items) = &node.items else { return plain(value) };
            let items = ordered(items, value, node, like);
            let items = items.into_iter().map(|(item, like)| of(item, of_items, like)).collect();
            Cel::List(Arc::new(items))
        }
        Value::Object(fields) => {
            let is_map = !matches!(node.additional, Additional::Unsaid | Additional::Forbidden);
            // A null field is an absent one; a null entry of a map is an entry.
            let present = fields.iter().filter(|(_, value)| node.properties.is_empty() || !value.is_null());
            let entries = present.map(|(name, value)| {
                let key = if is_map { name.clone() } else { escape(name) };
                let like = like.and_then(|like| like.get(name));
                let value = node.field(name).map_or_else(|| plain(value), |node| of(value, node, like));
                (Key::String(Arc::new(key)), value)
            });
            Cel::Map(Map { map: Arc::new(entries.collect()) })
        }
    }
}

/// A value that no schema describes.
fn plain(value: &Value) -> Cel {
    match value {
        Value::Array(items) => Cel::List(Arc::new(items.iter().map(plain).collect())),
        Value::Object(fields) => {
            let entries =
                fields.iter().map(|(name, value)| (Key::String(Arc::new(name.clone())), plain(value)));
            Cel::Map(Map { map: Arc::new(entries.collect()) })
        }
        scalar => of(scalar, &Node::default(), None),
    }
}

/// The items, each with the new item that it resembles.
fn ordered<'a>(
    items: &'a [Value],
    list: &'a Value,
    node: &Node,
    like: Option<&'a Value>,
) -> Vec<(&'a Value, Option<&'a Value>)> {
    let new = like.and_then(Value::as_array).filter(|new| new.len() == items.len());
    let find = |new: &'a Value| match &node.list {
        List::Atomic => None,
        List::Set => items.iter().find(|item| same(item, new)),
        List::Map(_) => old_item(node, list, new),
    };
    let found: Option<Vec<_>> =
        new.and_then(|new| new.iter().map(|new| Some((find(new)?, Some(new)))).collect());
    found.unwrap_or_else(|| items.iter().map(|item| (item, None)).collect())
}

static TIMESTAMP: LazyLock<Option<IdedExpr>> = LazyLock::new(|| Parser::new().parse("timestamp(x)").ok());
static DURATION: LazyLock<Option<IdedExpr>> = LazyLock::new(|| Parser::new().parse("duration(x)").ok());

fn text(text: &str, node: &Node) -> Cel {
    let string = |text: &str| Cel::String(Arc::new(text.to_owned()));
    let convert = |with: &Option<IdedExpr>, text: &str| evaluation::apply(with.as_ref()?, string(text));
    let format = node.format.as_ref().filter(|_| !node.int_or_string).map(|format| format.name.as_str());
    let converted = match format {
        Some("date-time") => convert(&TIMESTAMP, text),
        Some("date") => convert(&TIMESTAMP, &format!("{text}T00:00:00Z")),
        Some("duration") => convert(&DURATION, text),
        Some("byte") => base64::engine::general_purpose::STANDARD
            .decode(text)
            .ok()
            .map(|bytes| Cel::Bytes(Arc::new(bytes))),
        _ => None,
    };
    converted.unwrap_or_else(|| string(text))
}

/// Words of the language, which cannot be field names as they are.
const RESERVED: [&str; 21] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "false",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "namespace",
    "null",
    "package",
    "return",
    "true",
    "var",
    "void",
    "while",
];

/// A field name as rules write it.
fn escape(name: &str) -> String {
    if RESERVED.contains(&name) {
        return format!("__{name}__");
    }
    let escapes = [("__", "__underscores__"), (".", "__dot__"), ("-", "__dash__"), ("/", "__slash__")];
    let mut escaped = name.to_owned();
    for (from, to) in escapes {
        escaped = escaped.replace(from, to);
    }
    escaped
}

/// A scalar as errors print it.
pub(crate) fn shown(value: &Cel) -> String {
    match value {
        Cel::Int(int) => int.to_string(),
        Cel::UInt(int) => int.to_string(),
        Cel::String(text) => text.to_string(),
        other => format!("{other:?}"),
    }
}
