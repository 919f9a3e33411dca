//! JSON text to a value, noting the fields that stand in it twice.
//!
//! The last of two wins, as in Go.

use std::fmt::{self, Write};

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// A value with what was wrong in its text.
#[derive(Debug, PartialEq)]
pub(crate) struct Document {
    pub(crate) value: Value,
    /// Paths of the fields given more than once.
    pub(crate) duplicates: Vec<String>,
}

/// Reads one JSON document.
pub(crate) fn read(text: &[u8]) -> Result<Document, serde_json::Error> {
    let mut walk = Walk::default();
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let value = Entry(&mut walk).deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(Document { value, duplicates: walk.duplicates })
}

#[derive(Default)]
struct Walk {
    path: String,
    duplicates: Vec<String>,
}

impl Walk {
    /// Adds a key to the path; the answer takes it off again.
    fn enter(&mut self, key: &str) -> usize {
        let before = self.path.len();
        if before > 0 {
            self.path.push('.');
        }
        self.path.push_str(key);
        before
    }

    fn note(&mut self, key: &str) {
        let before = self.enter(key);
        if self.duplicates.len() < super::conform::REPORTED && !self.duplicates.contains(&self.path) {
            self.duplicates.push(self.path.clone());
        }
        self.path.truncate(before);
    }
}

/// One value at the path of the walk.
struct Entry<'a>(&'a mut Walk);

impl<'de> DeserializeSeed<'de> for Entry<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Entry<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        let before = self.0.path.len();
        loop {
            let _ = write!(self.0.path, "[{}]", list.len());
            let entry = entries.next_element_seed(Entry(self.0))?;
            self.0.path.truncate(before);
            match entry {
                Some(entry) => list.push(entry),
                None => return Ok(Value::Array(list)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let before = self.0.enter(&key);
            let value = entries.next_value_seed(Entry(self.0))?;
            self.0.path.truncate(before);
            if object.contains_key(&key) {
                self.0.note(&key);
            }
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::read;

    #[test]
    fn a_field_given_twice_is_noted_once() {
        let document = read(br#"{"a":[{"b":1,"c":2,"b":3,"b":4}],"d":{"e":0,"e":[]}}"#).unwrap();
        assert_eq!(document.value, json!({"a": [{"b": 4, "c": 2}], "d": {"e": []}}));
        assert_eq!(document.duplicates, ["a[0].b", "d.e"]);
    }

    #[test]
    fn the_value_is_that_of_the_plain_reader() {
        let text = br#"{"a":[1,-2,3.5,"x\n",null,true,{}],"b":18446744073709551615}"#;
        let document = read(text).unwrap();
        assert_eq!(document.value, serde_json::from_slice::<serde_json::Value>(text).unwrap());
        assert!(document.duplicates.is_empty());
    }

    #[test]
    fn what_is_no_json_is_refused() {
        for text in ["", "{", "{}x", "[1,]", &"[".repeat(5000)] {
            assert!(read(text.as_bytes()).is_err(), "{text}");
        }
    }
}
