//! The body of a request, read field by field. Every mistake is collected, so that all are told in one answer.
//!
//! A field that nobody asked for is a mistake too: a misspelt one would otherwise have no effect and nobody would know.
//! `null` is the same as leaving a field out, as it is for the real API.

use std::net::Ipv4Addr;

use serde_json::{Map, Value};

use crate::call::{Wrong, labels};
use crate::resource::shelf::Labels;

/// Bodies beyond this are not looked at.
const LARGEST: usize = 1 << 20;
/// Texts beyond this are refused where no shorter limit is known.
const LONGEST_TEXT: usize = 64 << 10;

/// What stands in for a thing: its id, or its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct IdOrName(pub(crate) String);

impl IdOrName {
    /// The id, if it can be one. A number may come as a text.
    pub(crate) fn id(&self) -> Option<u64> {
        self.0.parse().ok()
    }
}

/// A JSON object and what was wrong with it so far.
#[derive(Debug)]
pub(crate) struct Body {
    fields: Map<String, Value>,
    /// Where this object stands in the whole: empty, or a prefix that ends in a dot.
    place: String,
    mistakes: Vec<(String, String)>,
}

impl Body {
    /// No bytes are an empty object: actions without parameters are sent so.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Wrong> {
        if bytes.len() > LARGEST {
            return Err(Wrong::new("invalid_input", format!("the body is larger than {LARGEST} bytes")));
        }
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Ok(Self::new(Map::new(), String::new()));
        }
        match serde_json::from_slice(bytes) {
            Ok(Value::Object(fields)) => Ok(Self::new(fields, String::new())),
            // Some clients send it for actions without parameters.
            Ok(Value::Null) => Ok(Self::new(Map::new(), String::new())),
            Ok(_) | Err(_) => Err(Wrong::json()),
        }
    }

    fn new(fields: Map<String, Value>, place: String) -> Self {
        Self { fields, place, mistakes: Vec::new() }
    }

    /// Notes a mistake in a field.
    pub(crate) fn wrong(&mut self, field: &str, message: impl Into<String>) {
        self.mistakes.push((format!("{}{field}", self.place), message.into()));
    }

    /// Reads a field that has to be there. What comes back for a mistake is never used: [`Body::done`] refuses.
    pub(crate) fn required<T: Default>(
        &mut self,
        field: &str,
        read: impl Fn(&mut Self, &str) -> Option<T>,
    ) -> T {
        self.needed(field, read).unwrap_or_default()
    }

    /// Reads a field that has to be there. None is a mistake that was noted.
    pub(crate) fn needed<T>(
        &mut self,
        field: &str,
        read: impl Fn(&mut Self, &str) -> Option<T>,
    ) -> Option<T> {
        let known = self.mistakes.len();
        let found = read(self, field);
        if found.is_none() && self.mistakes.len() == known {
            self.wrong(field, "Missing data for required field.");
        }
        found
    }

    /// Accepts a field without looking at it.
    pub(crate) fn ignore(&mut self, field: &str) {
        self.fields.remove(field);
    }

    pub(crate) fn text(&mut self, field: &str) -> Option<String> {
        match self.take(field)? {
            Value::String(text) if text.len() > LONGEST_TEXT => self.refuse(field, "Too long."),
            Value::String(text) => Some(text),
            _ => self.refuse(field, "Not a valid string."),
        }
    }

    /// A text with something in it. Clients that have none may send an empty one.
    pub(crate) fn filled(&mut self, field: &str) -> Option<String> {
        self.text(field).filter(|text| !text.is_empty())
    }

    /// An address of version 4.
    pub(crate) fn ipv4(&mut self, field: &str) -> Option<Ipv4Addr> {
        let ip = self.filled(field)?.parse().ok();
        if ip.is_none() {
            self.wrong(field, "Not a valid IPv4 address.");
        }
        ip
    }

    /// A text of a few possible words.
    pub(crate) fn word<T: Copy>(&mut self, field: &str, words: &[(&str, T)]) -> Option<T> {
        let text = self.text(field)?;
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, meaning)| *meaning);
        if found.is_none() {
            let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.wrong(field, format!("Must be one of: {}.", words.join(", ")));
        }
        found
    }

    pub(crate) fn flag(&mut self, field: &str) -> Option<bool> {
        match self.take(field)? {
            Value::Bool(flag) => Some(flag),
            _ => self.refuse(field, "Not a valid boolean."),
        }
    }

    /// A whole number within bounds, both included.
    pub(crate) fn number(&mut self, field: &str, least: u64, most: u64) -> Option<u64> {
        match self.take(field)?.as_u64() {
            Some(number) if (least..=most).contains(&number) => Some(number),
            Some(_) => self.refuse(field, &format!("Must be between {least} and {most}.")),
            None => self.refuse(field, "Not a valid integer."),
        }
    }

    /// An id, as a number or as a text of digits.
    pub(crate) fn id(&mut self, field: &str) -> Option<u64> {
        let value = self.take(field)?;
        match id_of(&value) {
            Some(id) => Some(id),
            None => self.refuse(field, "Not a valid ID."),
        }
    }

    pub(crate) fn ids(&mut self, field: &str) -> Option<Vec<u64>> {
        self.list(field, id_of, "Not a valid list of IDs.")
    }

    /// An id or a name. A text of digits is an id to those who know no such name.
    pub(crate) fn id_or_name(&mut self, field: &str) -> Option<IdOrName> {
        let value = self.take(field)?;
        match id_or_name_of(&value) {
            Some(it) => Some(it),
            None => self.refuse(field, "Not a valid ID or name."),
        }
    }

    pub(crate) fn ids_or_names(&mut self, field: &str) -> Option<Vec<IdOrName>> {
        self.list(field, id_or_name_of, "Not a valid list of IDs or names.")
    }

    pub(crate) fn texts(&mut self, field: &str) -> Option<Vec<String>> {
        self.list(field, |value| value.as_str().map(str::to_owned), "Not a valid list of strings.")
    }

    /// Labels, with the mistakes of their keys and values.
    pub(crate) fn labels(&mut self) -> Option<Labels> {
        let Value::Object(fields) = self.take("labels")? else {
            return self.refuse("labels", "Not a valid mapping.");
        };
        let mut labels = Labels::new();
        for (key, value) in fields {
            let Value::String(value) = value else {
                self.wrong("labels", format!("Value of label '{key}' is not a valid string."));
                continue;
            };
            labels.insert(key, value);
        }
        for message in labels::mistakes(&labels) {
            self.wrong("labels", message);
        }
        Some(labels)
    }

    /// Reads an object within the object.
    pub(crate) fn object<T>(&mut self, field: &str, read: impl FnOnce(&mut Self) -> T) -> Option<T> {
        match self.take(field)? {
            Value::Object(fields) => Some(self.within(fields, field, read)),
            _ => self.refuse(field, "Not a valid object."),
        }
    }

    /// Reads each object of a list.
    pub(crate) fn each<T>(&mut self, field: &str, mut read: impl FnMut(&mut Self) -> T) -> Option<Vec<T>> {
        let Value::Array(items) = self.take(field)? else {
            return self.refuse(field, "Not a valid list.");
        };
        let mut all = Vec::with_capacity(items.len());
        for (index, item) in items.into_iter().enumerate() {
            match item {
                Value::Object(fields) => {
                    all.push(self.within(fields, &format!("{field}.{index}"), &mut read));
                }
                _ => self.wrong(field, format!("Item {index} is not a valid object.")),
            }
        }
        Some(all)
    }

    fn within<T>(&mut self, fields: Map<String, Value>, field: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        let mut inner = Self::new(fields, format!("{}{field}.", self.place));
        let result = read(&mut inner);
        inner.refuse_the_rest();
        self.mistakes.append(&mut inner.mistakes);
        result
    }

    /// Refuses if there was a mistake, or a field that nobody has read.
    pub(crate) fn done(mut self) -> Result<(), Wrong> {
        self.refuse_the_rest();
        if self.mistakes.is_empty() { Ok(()) } else { Err(Wrong::invalid_fields(&self.mistakes)) }
    }

    fn refuse_the_rest(&mut self) {
        for field in std::mem::take(&mut self.fields).into_iter().map(|(field, _)| field) {
            self.wrong(&field, "Unknown field.");
        }
    }

    fn list<T>(&mut self, field: &str, read: impl Fn(&Value) -> Option<T>, message: &str) -> Option<Vec<T>> {
        let value = self.take(field)?;
        let all = value.as_array().and_then(|items| items.iter().map(read).collect());
        if all.is_none() {
            self.wrong(field, message);
        }
        all
    }

    fn take(&mut self, field: &str) -> Option<Value> {
        self.fields.remove(field).filter(|value| !value.is_null())
    }

    fn refuse<T>(&mut self, field: &str, message: &str) -> Option<T> {
        self.wrong(field, message);
        None
    }
}

/// The word for a meaning, out of those that [`Body::word`] reads.
pub(crate) fn word<T: Copy + PartialEq>(words: &[(&'static str, T)], meaning: T) -> &'static str {
    words.iter().find(|(_, known)| *known == meaning).map_or("", |(word, _)| *word)
}

fn id_of(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok()).filter(|id| *id > 0)
}

fn id_or_name_of(value: &Value) -> Option<IdOrName> {
    match value {
        Value::String(text) if !text.is_empty() => Some(IdOrName(text.clone())),
        Value::Number(_) => id_of(value).map(|id| IdOrName(id.to_string())),
        _ => None,
    }
}
