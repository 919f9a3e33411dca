//! Holding a tree against a schema, to its end: every mistake, each where it stands.
//!
//! It knows the words that the schemas of our own types use, and no others; a test holds every schema against that.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::format::{FORMATS, Format};
use super::mistake::Mistake;
use super::near::meant;
use super::node::{Entry, Node, Value};

/// Every mistake of a tree.
pub(super) fn mistakes(schema: &Json, tree: &Node) -> Vec<Mistake> {
    let mut grammar = Grammar { root: schema, found: Vec::new() };
    grammar.value(schema, tree, "the document");
    grammar.found
}

struct Grammar<'a> {
    root: &'a Json,
    found: Vec<Mistake>,
}

impl<'a> Grammar<'a> {
    fn wrong(&mut self, node: &Node, what: String, hint: Option<String>) {
        self.found.push(Mistake { place: node.place, what, hint });
    }

    /// A schema where it is written, wherever it is named.
    fn resolve(&self, mut schema: &'a Json) -> &'a Json {
        while let Some(name) = schema["$ref"].as_str() {
            let pointer = name.strip_prefix('#').unwrap_or(name);
            match self.root.pointer(pointer) {
                Some(found) => schema = found,
                None => break,
            }
        }
        schema
    }

    fn value(&mut self, schema: &'a Json, node: &Node, name: &str) {
        let schema = self.resolve(schema);
        if let Some(choices) = schema["oneOf"].as_array().or(schema["anyOf"].as_array()) {
            return self.choice(choices, node, name);
        }
        let kinds = kinds(schema);
        if !kinds.is_empty() && !kinds.iter().any(|kind| is_kind(&node.value, kind)) {
            return self.other_kind(&[schema], node, name);
        }
        match &node.value {
            Value::Map(_) => self.fields(schema, node, name),
            Value::List(items) if !schema["items"].is_null() => {
                for item in items {
                    self.value(&schema["items"], item, &format!("an entry of {name}"));
                }
            }
            Value::Text(text) => self.text(schema, text, node, name),
            Value::Number(_) => self.number(schema, node, name),
            _ => {}
        }
        let least = schema["minItems"].as_u64().unwrap_or(0);
        if matches!(node.value, Value::List(_)) && (node.items().len() as u64) < least {
            self.wrong(node, format!("{name} must not be empty"), None);
        }
        if let Some(wanted) =
            schema.get("const").filter(|wanted| **wanted != node.plain() && !wanted.is_string())
        {
            self.wrong(node, format!("{name} must be {wanted}, and is {}", node.told()), None);
        }
    }

    fn fields(&mut self, schema: &'a Json, node: &Node, name: &str) {
        let known = schema["properties"].as_object();
        let rest = &schema["additionalProperties"];
        let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
        for entry in node.entries() {
            if let Some(line) = seen.insert(&entry.key, entry.place.line) {
                let what = format!("the field `{}` is there twice", entry.key);
                self.found
                    .push(Mistake::at(entry.place, what).hint(format!("it stands in line {line} already")));
            }
            match known.and_then(|known| known.get(&entry.key)) {
                Some(field) => self.value(field, &entry.node, &format!("`{}`", entry.key)),
                None if *rest == Json::Bool(false) => {
                    let known = known.into_iter().flat_map(|known| known.keys().map(String::as_str));
                    let what = format!("the field `{}` is unknown", entry.key);
                    self.found.push(Mistake::at(entry.place, what).hint(meant(&entry.key, known)));
                }
                None => {
                    self.key(&schema["propertyNames"], entry, name);
                    self.value(rest, &entry.node, &format!("`{}`", entry.key));
                }
            }
        }
        let required = schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str);
        for field in required.filter(|field| !seen.contains_key(field)) {
            self.wrong(
                node,
                format!("the field `{field}` is missing"),
                about(&schema["properties"][field], self),
            );
        }
        if node.entries().len() < usize::try_from(schema["minProperties"].as_u64().unwrap_or(0)).unwrap_or(0)
        {
            self.wrong(node, "there must be at least one here".to_owned(), None);
        }
    }

    /// The key of a map whose keys are data.
    fn key(&mut self, schema: &'a Json, entry: &Entry, name: &str) {
        if !schema.is_null() {
            let key = Node { place: entry.place, value: Value::Text(entry.key.clone()) };
            let listed = format(self.resolve(schema)).is_none();
            self.value(schema, &key, if listed { name } else { "the name" });
        }
    }

    fn text(&mut self, schema: &'a Json, text: &str, node: &Node, name: &str) {
        let words = words(schema);
        if !words.is_empty() && !words.contains(&text) {
            self.wrong(node, format!("{name} knows no `{text}`"), Some(meant(text, words)));
        }
        if schema["minLength"].as_u64().is_some() && text.trim().is_empty() {
            self.wrong(node, format!("{name} must not be empty"), None);
        }
        if let Some(Format { what, looks, fits, .. }) = format(schema)
            && !fits(text)
        {
            self.wrong(node, format!("{name} is {text:?}, which is not {what}"), Some((*looks).to_owned()));
        }
    }

    fn number(&mut self, schema: &'a Json, node: &Node, name: &str) {
        let Value::Number(number) = &node.value else { return };
        let Some(number) = number.as_i64().map(i128::from).or(number.as_u64().map(i128::from)) else {
            return;
        };
        let (least, most) = range(schema);
        if !(least..=most).contains(&number) {
            let what = format!("{name} is {number}");
            self.wrong(node, what, Some(format!("it must lie between {least} and {most}")));
        }
    }

    /// A value that may be written in several ways.
    fn choice(&mut self, choices: &'a [Json], node: &Node, name: &str) {
        let choices: Vec<&'a Json> = self.flat(choices);
        let fitting: Vec<&'a Json> = choices
            .iter()
            .copied()
            .filter(|choice| {
                kinds(choice).is_empty() || kinds(choice).iter().any(|kind| is_kind(&node.value, kind))
            })
            .collect();
        match (&node.value, fitting.as_slice()) {
            (_, []) => self.other_kind(&choices, node, name),
            (_, [only]) => self.value(only, node, name),
            (Value::Text(text), several) => {
                let words: Vec<&str> = several.iter().flat_map(|choice| words(choice)).collect();
                let tags = tags(&choices);
                if tags.contains(&text.as_str()) {
                    let what = format!("{name} says only `{text}`");
                    self.wrong(node, what, Some(format!("there is more to it: `{text}: …`")));
                } else if !words.contains(&text.as_str()) {
                    let known = words.into_iter().chain(tags);
                    self.wrong(node, format!("{name} knows no `{text}`"), Some(meant(text, known)));
                }
            }
            (Value::Map(_), several) => self.tagged(several, &choices, node, name),
            (_, several) => self.value(several[0], node, name),
        }
    }

    /// A map of which one field says what it is.
    fn tagged(&mut self, choices: &[&'a Json], all: &[&'a Json], node: &Node, name: &str) {
        if let Some(tag) = constant(choices) {
            return self.of_a_kind(tag, choices, node, name);
        }
        let tags = tags(choices);
        // Some may be mere words.
        let known: Vec<&str> = all.iter().flat_map(|choice| words(choice)).chain(tags.clone()).collect();
        let there = |tag: &&str| node.entries().iter().any(|entry| entry.key == **tag);
        let named: Vec<(usize, &str)> =
            tags.iter().enumerate().filter(|(_, tag)| there(tag)).map(|(at, tag)| (at, *tag)).collect();
        match named.as_slice() {
            [(at, _)] => self.fields(choices[*at], node, name),
            [] => {
                let shared = shared(choices);
                for entry in node.entries().iter().filter(|entry| shared.contains(entry.key.as_str())) {
                    let field = &choices[0]["properties"][&entry.key];
                    self.value(field, &entry.node, &format!("`{}`", entry.key));
                }
                let other = node.entries().iter().find(|entry| !shared.contains(entry.key.as_str()));
                match other {
                    Some(entry) => {
                        let what = format!("{name} knows no `{}`", entry.key);
                        self.found.push(Mistake::at(entry.place, what).hint(meant(&entry.key, known)));
                    }
                    None => self.wrong(node, format!("{name} does not say what"), Some(meant("", known))),
                }
            }
            [(_, one), (_, other), ..] => {
                let what = format!("{name} says both `{one}` and `{other}`");
                self.wrong(node, what, Some("give each an entry of its own".to_owned()));
            }
        }
    }

    /// A map of which the value of one field says what it is.
    fn of_a_kind(&mut self, tag: &str, choices: &[&'a Json], node: &Node, name: &str) {
        let kinds: Vec<&str> = choices.iter().flat_map(|choice| words(&choice["properties"][tag])).collect();
        let Some(kind) = node.get(tag) else {
            return self.wrong(node, format!("the field `{tag}` is missing"), Some(meant("", kinds)));
        };
        let named = kind.text().unwrap_or_default();
        match choices.iter().find(|choice| words(&choice["properties"][tag]).contains(&named)) {
            Some(choice) => self.fields(choice, node, name),
            None => self.wrong(kind, format!("`{tag}` knows no `{named}`"), Some(meant(named, kinds))),
        }
    }

    /// Choices within choices are choices.
    fn flat(&self, choices: &'a [Json]) -> Vec<&'a Json> {
        let mut all = Vec::new();
        for choice in choices {
            let choice = self.resolve(choice);
            match choice["oneOf"].as_array().or(choice["anyOf"].as_array()) {
                Some(inner) => all.extend(self.flat(inner)),
                None => all.push(choice),
            }
        }
        all
    }

    fn other_kind(&mut self, choices: &[&'a Json], node: &Node, name: &str) {
        let mut wanted: Vec<&str> = Vec::new();
        for choice in choices {
            let of_choice = match format(choice) {
                Some(Format { what, .. }) => vec![*what],
                None => kinds(choice).into_iter().filter(|kind| *kind != "null").map(kind_told).collect(),
            };
            wanted.extend(of_choice.into_iter().filter(|kind| !wanted.contains(kind)).collect::<Vec<_>>());
        }
        let quotes =
            matches!(node.value, Value::Number(_) | Value::Flag(_)) && wanted.contains(&kind_told("string"));
        let looks = choices.iter().find_map(|choice| format(choice)).map(|format| format.looks.to_owned());
        let words: Vec<&str> = choices.iter().flat_map(|choice| words(choice)).collect();
        let tags = tags(choices);
        let hint = match (quotes, looks) {
            (true, _) => Some("put it in quotes".to_owned()),
            (_, Some(looks)) => Some(looks),
            _ if words.is_empty() && tags.is_empty() => None,
            _ => Some(meant("", words.into_iter().chain(tags))),
        };
        self.wrong(node, format!("{name} must be {}, and is {}", wanted.join(" or "), node.told()), hint);
    }
}

/// What a field is, by the first sentence of its description.
fn about(schema: &Json, grammar: &Grammar<'_>) -> Option<String> {
    let said = schema["description"]
        .as_str()
        .or(grammar.root.pointer(schema["$ref"].as_str()?.trim_start_matches('#'))?["description"].as_str())?;
    Some(format!("it is for: {}", first_sentence(said)))
}

/// The first sentence of a description, without its full stop.
pub fn first_sentence(said: &str) -> String {
    let sentence = said.split(". ").next().unwrap_or(said).replace('\n', " ");
    sentence.trim_end_matches('.').to_owned()
}

/// The fields that every choice has: they say nothing about which one it is.
fn shared<'a>(choices: &[&'a Json]) -> BTreeSet<&'a str> {
    let fields = |choice: &&'a Json| -> BTreeSet<&'a str> {
        choice["properties"]
            .as_object()
            .into_iter()
            .flat_map(|fields| fields.keys().map(String::as_str))
            .collect()
    };
    let maps = choices.iter().filter(|choice| choice["properties"].is_object()).map(fields);
    maps.reduce(|one, other| &one & &other).unwrap_or_default()
}

/// For each choice that is a map, the field that says that it is this one.
fn tags<'a>(choices: &[&'a Json]) -> Vec<&'a str> {
    let maps = choices.iter().filter(|choice| choice["properties"].is_object()).count();
    // A map that stands alone is no choice, unless words stand beside it.
    let shared = match (maps, choices.len()) {
        (1, 1) => return Vec::new(),
        (1, _) => BTreeSet::new(),
        _ => shared(choices),
    };
    let required =
        |choice: &&'a Json| choice["required"].as_array().into_iter().flatten().filter_map(Json::as_str);
    choices.iter().filter_map(|choice| required(choice).find(|field| !shared.contains(field))).collect()
}

/// The field that every choice has, each with a word of its own.
fn constant<'a>(choices: &[&'a Json]) -> Option<&'a str> {
    let is_word = |choice: &&Json, field: &str| choice["properties"][field]["const"].is_string();
    shared(choices).into_iter().find(|field| choices.iter().all(|choice| is_word(choice, field)))
}

fn words(schema: &Json) -> Vec<&str> {
    let listed = schema["enum"].as_array().into_iter().flatten().filter_map(Json::as_str);
    listed.chain(schema["const"].as_str()).collect()
}

fn format(schema: &Json) -> Option<&'static Format> {
    let name = schema["format"].as_str()?;
    FORMATS.iter().find(|format| format.name == name)
}

fn kinds(schema: &Json) -> Vec<&str> {
    match &schema["type"] {
        Json::String(kind) => vec![kind],
        Json::Array(kinds) => kinds.iter().filter_map(Json::as_str).collect(),
        _ => Vec::new(),
    }
}

fn is_kind(value: &Value, kind: &str) -> bool {
    match (value, kind) {
        (Value::Nothing, "null")
        | (Value::Flag(_), "boolean")
        | (Value::Number(_), "number")
        | (Value::Text(_), "string")
        | (Value::List(_), "array")
        | (Value::Map(_), "object") => true,
        (Value::Number(number), "integer") => number.is_i64() || number.is_u64(),
        _ => false,
    }
}

/// The word of a schema for a kind of value, as people say it.
pub fn kind_told(kind: &str) -> &str {
    match kind {
        "boolean" => "true or false",
        "integer" => "a whole number",
        "number" => "a number",
        "string" => "a text",
        "array" => "a list",
        "object" => "a map of fields",
        other => other,
    }
}

fn range(schema: &Json) -> (i128, i128) {
    let bound = |name: &str| schema[name].as_i64().map(i128::from).or(schema[name].as_u64().map(i128::from));
    (bound("minimum").unwrap_or(i128::MIN), bound("maximum").unwrap_or(i128::MAX))
}
