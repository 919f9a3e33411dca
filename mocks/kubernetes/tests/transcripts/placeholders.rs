//! What differs between two runs against one and the same server, replaced by what does not.
//!
//! Identities become numbers in the order they are met, versions of objects their rank, times and ages a word. A time
//! before 2020 is the transcript's own and stays.

use std::collections::BTreeSet;

use regex::{Captures, Regex};
use serde_json::{Map, Value, json};

/// What was met in one conversation, and the patterns to meet it by.
pub(crate) struct Placeholders {
    managed_fields: bool,
    uids: Vec<String>,
    versions: BTreeSet<u64>,
    /// Names the server made up, and what stands for them.
    names: Vec<(String, String)>,
    uid: Regex,
    time: Regex,
    age: Regex,
    address: Regex,
    told_version: Regex,
    /// What a Go program prints of two values that differ.
    go_difference: Regex,
    /// A whole object, quoted in a message.
    quoted: Regex,
}

impl Placeholders {
    pub(crate) fn new(managed_fields: bool) -> Self {
        let pattern = |text| Regex::new(text).unwrap();
        Self {
            managed_fields,
            uids: Vec::new(),
            versions: BTreeSet::new(),
            names: Vec::new(),
            uid: pattern("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
            time: pattern(r"^20[2-9]\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z$"),
            age: pattern(r"^(\d+[smhdy])+$"),
            address: pattern(r"^\d+\.\d+\.\d+\.\d+$"),
            told_version: pattern(
                r"(?i)(resourceversion in (?:the precondition|record)[: (]+|current: |version: \d+ \()(\d+)",
            ),
            quoted: pattern(r#"Invalid value: "\{(?:[^"\\]|\\.)*""#),
            go_difference: pattern(r"(?s)\n\s*core\.\w+\{.*$"),
        }
    }

    /// Meets everything in an answer. All answers come first, then all are replaced: a rank needs them all.
    pub(crate) fn meet(&mut self, value: &Value) {
        match value {
            Value::String(text) => {
                for found in self.uid.find_iter(text) {
                    if !self.uids.iter().any(|known| known == found.as_str()) {
                        self.uids.push(found.as_str().to_owned());
                    }
                }
            }
            Value::Array(items) => {
                for item in items {
                    self.meet(item);
                }
            }
            Value::Object(fields) => self.meet_object(fields, false),
            _ => {}
        }
    }

    fn meet_object(&mut self, fields: &Map<String, Value>, of_list: bool) {
        let text = |key: &str| fields.get(key).and_then(Value::as_str).unwrap_or_default();
        let (prefix, name) = (text("generateName"), text("name"));
        if !prefix.is_empty() && name.starts_with(prefix) && name.len() == prefix.len() + 5 {
            self.names.push((name.to_owned(), format!("{prefix}?????")));
        }
        for (key, field) in fields {
            match (last(key), field) {
                ("metadata", Value::Object(metadata)) => self.meet_object(metadata, is_list(fields)),
                ("resourceVersion", Value::String(version)) if !of_list => {
                    self.versions.extend(version.parse::<u64>());
                }
                _ => self.meet(field),
            }
        }
    }

    /// Replaces everything met.
    pub(crate) fn replace(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.text(text),
            Value::Array(items) => {
                for item in items {
                    self.replace(item);
                }
            }
            Value::Object(fields) => self.replace_object(fields, false),
            _ => {}
        }
    }

    fn replace_object(&self, fields: &mut Map<String, Value>, of_list: bool) {
        let is_list = is_list(fields);
        if !self.managed_fields {
            fields.remove("managedFields");
        }
        for (key, field) in fields.iter_mut() {
            match (last(key), &mut *field) {
                ("metadata", Value::Object(metadata)) => self.replace_object(metadata, is_list),
                ("resourceVersion", Value::String(version)) => *version = self.version(version, of_list),
                ("managedFields", Value::Array(managers)) => {
                    // They stand in the order of their times, which are whole seconds.
                    managers.sort_by_key(|entry| {
                        ["manager", "operation", "subresource"].map(|key| entry[key].to_string())
                    });
                    for entry in managers {
                        self.replace(entry);
                    }
                }
                ("columnDefinitions", Value::Array(columns)) => {
                    // Prose for people, shown by no client.
                    for column in columns.iter_mut().filter_map(Value::as_object_mut) {
                        column.remove("description");
                    }
                }
                ("continue", Value::String(token)) if !token.is_empty() => "<continue>".clone_into(token),
                ("token", Value::String(token)) if !token.is_empty() => "<token>".clone_into(token),
                ("clusterIP", address) => self.address(address),
                ("clusterIPs", Value::Array(addresses)) => {
                    for address in addresses {
                        self.address(address);
                    }
                }
                ("cells", Value::Array(cells)) => {
                    for cell in cells {
                        self.cell(cell);
                    }
                }
                _ => self.replace(field),
            }
        }
    }

    fn version(&self, version: &str, of_list: bool) -> String {
        let number = version.parse::<u64>().ok();
        match number.and_then(|number| self.versions.iter().position(|met| *met == number)) {
            _ if of_list => "<version of the list>".to_owned(),
            Some(rank) => format!("<version {}>", rank + 1),
            None => version.to_owned(),
        }
    }

    fn address(&self, address: &mut Value) {
        if address.as_str().is_some_and(|text| self.address.is_match(text)) {
            *address = json!("<address>");
        }
    }

    fn cell(&self, cell: &mut Value) {
        match cell.as_str() {
            Some(text) if self.age.is_match(text) => *cell = json!("<age>"),
            _ => self.replace(cell),
        }
    }

    fn text(&self, text: &str) -> String {
        if let Some(time) = self.time.captures(text) {
            return if time.get(1).is_some() { "<time, micro>" } else { "<time>" }.to_owned();
        }
        let number = |uid: &str| self.uids.iter().position(|met| met == uid).map_or(0, |index| index + 1);
        let text = self.uid.replace_all(text, |found: &Captures<'_>| format!("<uid {}>", number(&found[0])));
        let text = self.told_version.replace_all(&text, "$1<version>");
        let text = self.quoted.replace_all(&text, r#"Invalid value: "<object>""#);
        let mut text = self.go_difference.replace_all(&text, "").into_owned();
        for (name, placeholder) in &self.names {
            text = text.replace(name.as_str(), placeholder);
        }
        text
    }
}

/// The last part of a key, which may be a place that was picked.
fn last(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}

/// A list has the version of the store, which others move too.
fn is_list(fields: &Map<String, Value>) -> bool {
    let kind = fields.get("kind").and_then(Value::as_str).unwrap_or_default();
    kind.ends_with("List") || kind == "Table" || fields.contains_key("items")
}
