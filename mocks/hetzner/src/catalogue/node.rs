//! A YAML or JSON document as a tree in which every value knows its line and column.
//!
//! A typed reading stops at the first mistake; a tree can be read to its end. It knows nothing of what the fields mean.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_yaml::Spanned;

use super::error::Place;

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) place: Place,
    pub(super) value: Value,
}

/// What can stand in a document.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Nothing,
    Flag(bool),
    Integer(i128),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// A key with its value.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) place: Place,
    pub(super) node: Node,
}

impl Node {
    /// Reads one document; a text that is no YAML is the place and a sentence.
    pub(super) fn parse(text: &str) -> Result<Node, (Place, String)> {
        // "no" stays a word, and a mistake is one line.
        let options = serde_yaml::options! { strict_booleans: true, with_snippet: false };
        serde_yaml::from_str_with_options::<Node>(text, options).map_err(|error| {
            let place = error.location().map_or(Place { line: 1, column: 1 }, |at| Place::from(&at));
            if let serde_yaml::Error::DuplicateMappingKey { key: Some(key), .. } = &error {
                return (place, format!("the field {key} is there twice"));
            }
            // The parser tells the place as well, which stands in front already.
            let told = error.to_string();
            let told = told.lines().next().unwrap_or_default();
            (place, format!("this is no YAML: {}", told.split(" at line ").next().unwrap_or(told)))
        })
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
        Ok(Value::Integer(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Integer(number.into()))
    }

    fn visit_i128<E>(self, number: i128) -> Result<Value, E> {
        Ok(Value::Integer(number))
    }

    fn visit_u128<E>(self, number: u128) -> Result<Value, E> {
        Ok(Value::Integer(i128::try_from(number).unwrap_or(i128::MAX)))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Float(number))
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
