//! What can be written in a place, told from its schema: kinds, words and fields, each with what it is for.

use std::fmt::Write as _;

use serde_json::Value;

use crate::document;

/// What a line of fields is indented by.
const STEP: usize = 2;

/// A schema with the definitions that it names.
pub(super) struct Grammar {
    root: Value,
}

impl Grammar {
    pub(super) fn new(root: Value) -> Self {
        Self { root }
    }

    /// The schema of what begins with this word in a choice of the grammar, such as `calls` among what can hurt.
    pub(super) fn of(&self, choice: &str, word: &str) -> Option<&Value> {
        let branches = self.root["$defs"][choice]["oneOf"].as_array()?;
        branches.iter().map(|branch| &branch["properties"][word]).find(|schema| !schema.is_null())
    }

    /// All that can be written there.
    pub(super) fn told(&self, schema: &Value) -> String {
        let mut text = String::new();
        self.value(schema, STEP, &mut text);
        text
    }

    /// The choices that one word names, which is the value of a field (`kind: sold_out`) or a field itself.
    pub(super) fn named(&self, schema: &Value, word: &str) -> Option<String> {
        let branch =
            self.choices(schema).into_iter().find(|branch| tag(branch).is_some_and(|tag| tag.1 == word))?;
        let mut text = String::new();
        self.branch(branch, STEP, &mut text);
        Some(text)
    }

    /// The words that choices are named by.
    pub(super) fn words<'a>(&'a self, schema: &'a Value) -> Vec<&'a str> {
        self.choices(schema).into_iter().filter_map(tag).map(|tag| tag.1).collect()
    }

    fn resolved<'a>(&'a self, mut schema: &'a Value) -> &'a Value {
        while let Some(found) =
            schema["$ref"].as_str().and_then(|name| self.root.pointer(name.strip_prefix('#')?))
        {
            schema = found;
        }
        schema
    }

    /// Choices within choices are choices; that there may be nothing is none.
    fn choices<'a>(&'a self, schema: &'a Value) -> Vec<&'a Value> {
        let schema = self.resolved(schema);
        let Some(inner) = schema["oneOf"].as_array().or(schema["anyOf"].as_array()) else {
            return vec![schema];
        };
        inner
            .iter()
            .filter(|choice| choice["type"] != "null")
            .flat_map(|choice| self.choices(choice))
            .collect()
    }

    fn value(&self, schema: &Value, indent: usize, text: &mut String) {
        let choices = self.choices(schema);
        match choices.as_slice() {
            [only] => self.fields(only, indent, text),
            several => several.iter().for_each(|branch| self.branch(branch, indent, text)),
        }
    }

    fn branch(&self, branch: &Value, indent: usize, text: &mut String) {
        let says = branch["description"].as_str().map(about).unwrap_or_default();
        for word in branch["enum"].as_array().into_iter().flatten().chain(branch.get("const")) {
            let _ = writeln!(text, "{:indent$}{}{says}", "", plain(word));
        }
        match tag(branch) {
            Some((Some(field), word)) => {
                let _ = writeln!(text, "{:indent$}{field}: {word}{says}", "");
                self.fields(branch, indent + STEP, text);
            }
            Some((None, word)) => {
                let inner = self.resolved(&branch["properties"][word]);
                let _ = writeln!(text, "{:indent$}{word}: {}{says}", "", self.kind(inner));
                self.value(inner, indent + STEP, text);
            }
            None => {}
        }
    }

    fn fields(&self, schema: &Value, indent: usize, text: &mut String) {
        let needed =
            |name: &str| schema["required"].as_array().is_some_and(|all| all.iter().any(|it| it == name));
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            if field["const"].is_string() {
                continue;
            }
            let says = field["description"].as_str().map(about).unwrap_or_default();
            let must = if needed(name) { ", needed" } else { "" };
            let _ = writeln!(text, "{:indent$}{name}: {}{must}{says}", "", self.kind(field));
            // A span is explained by its kind.
            if !self.kind(field).starts_with("a span") {
                self.value(field, indent + STEP, text);
            }
        }
    }

    /// What kind of value it is.
    fn kind(&self, schema: &Value) -> String {
        let choices = self.choices(schema);
        if self.resolved(schema)["description"]
            .as_str()
            .is_some_and(|says| says.starts_with("A span of time"))
        {
            return "a span such as 90s".to_owned();
        }
        let [only] = choices.as_slice() else { return "one of".to_owned() };
        match (&only["type"], only["const"].is_null()) {
            (_, false) => plain(&only["const"]),
            (Value::String(kind), _) => kind_told(kind).to_owned(),
            (Value::Array(kinds), _) => {
                let kinds = kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != "null");
                kinds.map(kind_told).collect::<Vec<_>>().join(" or ")
            }
            _ => "anything".to_owned(),
        }
    }
}

/// The word by which a choice is known, and the field whose value it is, if it is not a field itself.
fn tag(branch: &Value) -> Option<(Option<&str>, &str)> {
    let fields = branch["properties"].as_object()?;
    let constant =
        fields.iter().find_map(|(name, field)| Some((Some(name.as_str()), field["const"].as_str()?)));
    constant.or_else(|| Some((None, branch["required"].as_array()?.first()?.as_str()?)))
}

/// What something is for, after its name.
fn about(says: &str) -> String {
    format!("  {}", document::first_sentence(says))
}

fn plain(word: &Value) -> String {
    word.as_str().map_or_else(|| word.to_string(), str::to_owned)
}

/// The kind of a value; of a map its fields follow.
fn kind_told(kind: &str) -> &str {
    if kind == "object" { "fields" } else { document::kind_told(kind) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario;

    #[test]
    fn kinds_fates_and_their_fields_are_told() {
        let grammar = Grammar::new(scenario::schema());
        let told = |word: &str| grammar.told(grammar.of("Hurt", word).unwrap());
        let cloud = told("cloud");
        for line in [
            "  kind: sold_out  No server of this type",
            "\n    per_cent: a number  It bites",
            "\n      resource_unavailable  412",
        ] {
            assert!(cloud.contains(line), "{line} is missing in {cloud}");
        }
        assert_eq!(cloud.matches("\n  kind: ").count(), 19);
        let calls = told("calls");
        for line in [
            "  on: fields, needed",
            "\n    path: a text",
            "\n    delay: a span such as 90s",
            "\n    cut  The connection",
            "      status: a whole number, needed",
        ] {
            assert!(calls.contains(line), "{line} is missing in {calls}");
        }
        let one = grammar.named(grammar.of("Hurt", "cloud").unwrap(), "late_release").unwrap();
        assert!(one.contains("lag_s: a whole number, needed") && !one.contains("tear"), "{one}");
    }
}
