//! A YAML document as a tree in which every value knows where it stands.
//!
//! A typed reading stops at the first mistake; a tree can be read to its end. It knows nothing of what the fields mean.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Number;
use serde_yaml::Spanned;

use super::mistake::{Mistake, Place};

/// A value and where it stands.
#[derive(Clone, Debug)]
pub struct Node {
    /// Where.
    pub place: Place,
    /// What.
    pub value: Value,
}

/// What can stand in a document.
#[derive(Clone, Debug)]
pub enum Value {
    /// Nothing at all.
    Nothing,
    /// `true` or `false`.
    Flag(bool),
    /// A number.
    Number(Number),
    /// A text.
    Text(String),
    /// Values, one after the other.
    List(Vec<Node>),
    /// Fields, in the order in which they are written; a field that is written twice is there twice.
    Map(Vec<Entry>),
}

/// A field.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name.
    pub key: String,
    /// Where the name stands.
    pub place: Place,
    /// Its value.
    pub node: Node,
}

impl Node {
    /// Reads one document; a text that is no YAML is a mistake, and the only one that is told.
    pub(super) fn parse(text: &str) -> Result<Node, Mistake> {
        // "no" stays a word, a field that is there twice is told with the rest, and a mistake is one line.
        let options = serde_yaml::options! {
            strict_booleans: true,
            with_snippet: false,
            duplicate_keys: serde_yaml::options::DuplicateKeyPolicy::LastWins,
        };
        serde_yaml::from_str_with_options::<Node>(text, options).map_err(|error| {
            let place = error.location().map_or(Place::START, |at| Place::from(&at).found(text));
            // The parser tells the place as well, which the report shows already.
            let told = error.to_string();
            let told = told.lines().next().unwrap_or_default();
            Mistake::at(place, format!("this is no YAML: {}", told.split(" at line ").next().unwrap_or(told)))
        })
    }

    /// The value of a field, if this is a map that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        let entry = self.entries().iter().find(|entry| entry.key == key)?;
        (!matches!(entry.node.value, Value::Nothing)).then_some(&entry.node)
    }

    /// The fields, if this is a map.
    pub fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The values, if this is a list.
    pub fn items(&self) -> &[Node] {
        match &self.value {
            Value::List(nodes) => nodes,
            _ => &[],
        }
    }

    /// The text, if this is one.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The whole number, if this is one that is not below zero.
    pub fn count(&self) -> Option<u64> {
        match &self.value {
            Value::Number(number) => number.as_u64(),
            _ => None,
        }
    }

    /// The same without places.
    pub fn plain(&self) -> serde_json::Value {
        match &self.value {
            Value::Nothing => serde_json::Value::Null,
            Value::Flag(flag) => (*flag).into(),
            Value::Number(number) => number.clone().into(),
            Value::Text(text) => text.clone().into(),
            Value::List(nodes) => nodes.iter().map(Node::plain).collect(),
            Value::Map(entries) => {
                entries.iter().map(|entry| (entry.key.clone(), entry.node.plain())).collect()
            }
        }
    }

    /// What it is, for a sentence.
    pub(super) fn told(&self) -> String {
        match &self.value {
            Value::Nothing => "nothing".to_owned(),
            Value::Flag(flag) => flag.to_string(),
            Value::Number(number) => number.to_string(),
            Value::Text(text) => format!("the text {text:?}"),
            Value::List(_) => "a list".to_owned(),
            Value::Map(_) => "a map of fields".to_owned(),
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Spanned { value, referenced, .. } = Spanned::<Value>::deserialize(deserializer)?;
        Ok(Node { place: Place::from(&referenced), value })
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Any)
    }
}

struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Nothing)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Nothing)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Flag(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        // What is not finite is no number to anybody here.
        Ok(Number::from_f64(number).map_or_else(|| Value::Text(number.to_string()), Value::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut nodes = Vec::new();
        while let Some(node) = list.next_element()? {
            nodes.push(node);
        }
        Ok(Value::List(nodes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(Spanned { value: key, referenced, .. }) = map.next_key::<Spanned<String>>()? {
            entries.push(Entry { key, place: Place::from(&referenced), node: map.next_value()? });
        }
        Ok(Value::Map(entries))
    }
}
