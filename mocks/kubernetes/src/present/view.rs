//! One object, looked at by the cells of its row.
//!
//! Fields are named by JSON pointer. What is missing reads as empty, as zero or as a word of the caller's.

use mock_clock::Time;
use serde_json::Value;

use super::age;

/// The cells of one row, in the order of the columns.
pub(super) type Cells = Vec<Value>;

/// An object, and the moment at which it is looked at.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) object: &'a Value,
    pub(super) now: Time,
}

impl<'a> View<'a> {
    pub(super) fn at(&self, pointer: &str) -> Option<&'a Value> {
        self.object.pointer(pointer).filter(|value| !value.is_null())
    }

    /// Another part of the same row.
    pub(super) fn part(&self, object: &'a Value) -> Self {
        View { object, now: self.now }
    }

    pub(super) fn text(&self, pointer: &str) -> &'a str {
        self.at(pointer).and_then(Value::as_str).unwrap_or_default()
    }

    /// The text, or a word if it is missing or empty.
    pub(super) fn or(&self, pointer: &str, word: &'a str) -> &'a str {
        match self.text(pointer) {
            "" => word,
            text => text,
        }
    }

    pub(super) fn number(&self, pointer: &str) -> i64 {
        self.at(pointer).and_then(Value::as_i64).unwrap_or_default()
    }

    pub(super) fn flag(&self, pointer: &str, otherwise: bool) -> bool {
        self.at(pointer).and_then(Value::as_bool).unwrap_or(otherwise)
    }

    /// A number or a text (an `IntOrString`) as it is written.
    pub(super) fn plain(&self, pointer: &str, word: &str) -> String {
        match self.at(pointer) {
            Some(Value::String(text)) => text.clone(),
            Some(value @ (Value::Number(_) | Value::Bool(_))) => value.to_string(),
            _ => word.to_owned(),
        }
    }

    pub(super) fn list(&self, pointer: &str) -> &'a [Value] {
        self.at(pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    /// How many entries a list or a map has.
    pub(super) fn count(&self, pointer: &str) -> usize {
        match self.at(pointer) {
            Some(Value::Array(list)) => list.len(),
            Some(Value::Object(map)) => map.len(),
            _ => 0,
        }
    }

    /// The texts of a list, joined.
    pub(super) fn joined(&self, pointer: &str) -> String {
        self.list(pointer).iter().filter_map(Value::as_str).collect::<Vec<_>>().join(",")
    }

    pub(super) fn name(&self) -> Value {
        self.text("/metadata/name").into()
    }

    pub(super) fn is_deleted(&self) -> bool {
        self.at("/metadata/deletionTimestamp").is_some()
    }

    pub(super) fn time(&self, pointer: &str) -> Option<Time> {
        self.text(pointer).parse().ok()
    }

    /// How long ago a moment was, or that nobody knows.
    pub(super) fn since(&self, pointer: &str) -> String {
        self.time(pointer).map_or_else(|| "<unknown>".to_owned(), |then| age::since(then, self.now))
    }

    pub(super) fn age(&self) -> Value {
        self.since("/metadata/creationTimestamp").into()
    }

    /// The status (`True`, …) of the first condition of a type.
    pub(super) fn condition(&self, pointer: &str, kind: &str) -> Option<&'a str> {
        let found = self.list(pointer).iter().find(|condition| condition["type"] == kind)?;
        Some(found["status"].as_str().unwrap_or_default())
    }

    /// Names and images of the containers of a pod's specification.
    pub(super) fn containers(&self, pointer: &str) -> [Value; 2] {
        ["name", "image"].map(|key| {
            let containers = self.list(pointer).iter();
            containers.map(|one| one[key].as_str().unwrap_or_default()).collect::<Vec<_>>().join(",").into()
        })
    }

    /// A map of labels, `a=b,c=d`.
    pub(super) fn labels(&self, pointer: &str) -> String {
        or_none(pairs(self.at(pointer)).join(","))
    }

    /// A label selector with sets and all, as people write it.
    pub(super) fn selector(&self, pointer: &str) -> String {
        let Some(selector) = self.at(pointer) else { return String::new() };
        let mut requirements = pairs(selector.get("matchLabels"))
            .into_iter()
            .map(|pair| (pair.split('=').next().unwrap_or_default().to_owned(), pair))
            .collect::<Vec<_>>();
        for expression in self.part(selector).list("/matchExpressions") {
            let expression = self.part(expression);
            let key = expression.text("/key");
            let mut values: Vec<&str> = expression.list("/values").iter().filter_map(Value::as_str).collect();
            values.sort_unstable();
            let values = values.join(",");
            let text = match expression.text("/operator") {
                "In" => format!("{key} in ({values})"),
                "NotIn" => format!("{key} notin ({values})"),
                "DoesNotExist" => format!("!{key}"),
                _ => key.to_owned(),
            };
            requirements.push((key.to_owned(), text));
        }
        requirements.sort_by(|a, b| a.0.cmp(&b.0));
        requirements.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(",")
    }
}

/// The text, or `<none>` if it is empty.
pub(super) fn or_none(text: String) -> String {
    if text.is_empty() { "<none>".to_owned() } else { text }
}

/// The first of many, and how many more there are.
pub(super) fn first_of(all: &[String], most: usize) -> String {
    let shown = all.iter().take(most).map(String::as_str).collect::<Vec<_>>().join(",");
    match all.len().checked_sub(most) {
        None | Some(0) => shown,
        Some(more) => format!("{shown} + {more} more..."),
    }
}

fn pairs(map: Option<&Value>) -> Vec<String> {
    let map = map.and_then(Value::as_object);
    map.into_iter()
        .flatten()
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn selectors_are_sorted_by_key() {
        let object = json!({"s": {
            "matchLabels": {"b": "1", "d": "2"},
            "matchExpressions": [
                {"key": "c", "operator": "In", "values": ["z", "y"]},
                {"key": "a", "operator": "DoesNotExist"},
                {"key": "e", "operator": "Exists"},
                {"key": "f", "operator": "NotIn", "values": ["x"]},
            ],
        }});
        let view = View { object: &object, now: Time::EPOCH };
        assert_eq!(view.selector("/s"), "!a,b=1,c in (y,z),d=2,e,f notin (x)");
        assert_eq!(view.selector("/none"), "");
        assert_eq!(view.labels("/none"), "<none>");
    }

    #[test]
    fn long_lists_are_cut() {
        let all: Vec<String> = ["a", "b", "c", "d", "e"].map(str::to_owned).to_vec();
        assert_eq!(first_of(&all[..3], 3), "a,b,c");
        assert_eq!(first_of(&all, 3), "a,b,c + 2 more...");
    }
}
