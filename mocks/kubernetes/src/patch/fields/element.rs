//! One step of a path: a field, an item by its key or value, or an index.

use std::cmp::Ordering;
use std::fmt;

use serde_json::{Map, Value};

/// A step. The order is the one in which conflicts are told.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::patch) enum Element {
    Field(String),
    /// An item of a list by some of its fields, sorted by name.
    Key(Vec<(String, Id)>),
    /// An item of a set.
    Value(Id),
    Index(i64),
}

/// A scalar that tells items apart.
#[derive(Clone, Debug)]
pub(in crate::patch) struct Id(Value);

impl Element {
    pub(in crate::patch) fn key(fields: Vec<(String, Value)>) -> Self {
        let mut fields: Vec<_> = fields.into_iter().map(|(name, value)| (name, Id(value))).collect();
        fields.sort();
        Self::Key(fields)
    }

    pub(in crate::patch) fn value(value: &Value) -> Self {
        Self::Value(Id(value.clone()))
    }

    /// The key of `FieldsV1`: `f:name`, `k:{"name":"x"}`, `v:"x"`, `i:0`.
    pub(super) fn to_wire(&self) -> String {
        match self {
            Self::Field(name) => format!("f:{name}"),
            Self::Key(fields) => {
                let fields: Map<String, Value> =
                    fields.iter().map(|(name, id)| (name.clone(), id.0.clone())).collect();
                format!("k:{}", Value::Object(fields))
            }
            Self::Value(id) => format!("v:{}", id.0),
            Self::Index(at) => format!("i:{at}"),
        }
    }

    /// Reads a key of `FieldsV1`; `None` if its kind is not known.
    pub(super) fn from_wire(wire: &str) -> Result<Option<Self>, String> {
        let Some((kind, rest)) = wire.split_once(':') else {
            return Err(format!("missing colon: {wire}"));
        };
        let parsed = |rest: &str| serde_json::from_str::<Value>(rest).map_err(|error| error.to_string());
        Ok(match kind {
            "f" => Some(Self::Field(rest.to_owned())),
            "v" => Some(Self::Value(Id(parsed(rest)?))),
            "k" => match parsed(rest)? {
                Value::Object(fields) => Some(Self::key(fields.into_iter().collect())),
                other => return Err(format!("expected the fields of a key, got {other}")),
            },
            "i" => Some(Self::Index(rest.parse().map_err(|_| format!("not an index: {rest}"))?)),
            _ => None,
        })
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Key(fields) => {
                let fields: Vec<String> =
                    fields.iter().map(|(name, id)| format!("{name}={}", id.0)).collect();
                write!(f, "[{}]", fields.join(","))
            }
            Self::Value(id) => write!(f, "[={}]", id.0),
            Self::Index(at) => write!(f, "[{at}]"),
        }
    }
}

/// A path as errors show it: `.spec.ports[port=80,protocol="TCP"]`.
pub(in crate::patch) fn shown(path: &[Element]) -> String {
    path.iter().map(ToString::to_string).collect()
}

impl Ord for Id {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Value::String(ours), Value::String(theirs)) => ours.cmp(theirs),
            (Value::Bool(ours), Value::Bool(theirs)) => ours.cmp(theirs),
            (Value::Number(ours), Value::Number(theirs)) => match (ours.as_i64(), theirs.as_i64()) {
                (Some(ours), Some(theirs)) => ours.cmp(&theirs),
                _ => ours.as_f64().unwrap_or(0.0).total_cmp(&theirs.as_f64().unwrap_or(0.0)),
            },
            (ours, theirs) => {
                let order = rank(ours).cmp(&rank(theirs));
                order.then_with(|| ours.to_string().cmp(&theirs.to_string()))
            }
        }
    }
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Number(_) => 0,
        Value::String(_) => 1,
        Value::Bool(_) => 2,
        Value::Array(_) => 3,
        Value::Object(_) => 4,
        Value::Null => 5,
    }
}

impl PartialOrd for Id {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Id {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Id {}
