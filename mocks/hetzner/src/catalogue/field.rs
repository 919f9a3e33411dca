//! Reading the values of a document: each reader gives the value, or notes the mistake and gives nothing.
//!
//! A reader of an entry asks for all its fields first and gives up after that, so that one entry tells all its
//! mistakes at once. It knows no subject of the catalogue.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::ops::RangeInclusive;

use mock_clock::Time;

use super::error::{Mistake, Place};
use super::node::{Entry, Node, Value};
use crate::money::Money;

/// No price is above a million; what is was meant to have a point somewhere.
const DEAREST: Money = Money::euros(1_000_000);

/// Who wrote a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hand {
    /// A person, in YAML: an unknown field is a slip of the pen.
    Person,
    /// The API, in JSON: an unknown field is one that this crate does not know yet.
    Api,
}

/// A file while it is read.
pub(super) struct Sheet<'a> {
    pub(super) file: String,
    pub(super) hand: Hand,
    /// The locations there are; none while they are not known, and then any name will do.
    pub(super) locations: Option<&'a BTreeSet<String>>,
    pub(super) mistakes: RefCell<Vec<Mistake>>,
}

impl Sheet<'_> {
    pub(super) fn wrong(&self, place: Place, what: String) {
        self.mistakes.borrow_mut().push(Mistake { file: self.file.clone(), place: Some(place), what });
    }
}

/// A value with the name it goes by.
#[derive(Clone, Copy)]
pub(super) struct Field<'a> {
    pub(super) sheet: &'a Sheet<'a>,
    name: &'a str,
    /// Whether it is one of the values of a list that has this name.
    in_list: bool,
    node: &'a Node,
}

impl<'a> Field<'a> {
    /// The whole document.
    pub(super) fn root(sheet: &'a Sheet<'a>, node: &'a Node) -> Self {
        Field { sheet, name: "the document", in_list: false, node }
    }

    pub(super) fn place(&self) -> Place {
        self.node.place
    }

    /// Notes a mistake in this value.
    pub(super) fn wrong(&self, what: impl Display) {
        let of = if self.in_list { "an entry of " } else { "" };
        self.sheet.wrong(self.node.place, format!("{of}{} {what}", self.name));
    }

    fn kind_is_not(&self, wanted: &str) {
        let found = match &self.node.value {
            Value::Nothing => "nothing".to_owned(),
            Value::Flag(flag) => flag.to_string(),
            Value::Integer(number) => number.to_string(),
            Value::Float(number) => number.to_string(),
            Value::Text(text) => format!("the text {text:?}"),
            Value::List(_) => "a list".to_owned(),
            Value::Map(_) => "a map".to_owned(),
        };
        self.wrong(format_args!("must be {wanted}, and is {found}"));
    }

    pub(super) fn text(self) -> Option<&'a str> {
        match &self.node.value {
            Value::Text(text) if text.trim().is_empty() => self.wrong("must not be empty"),
            Value::Text(text) => return Some(text),
            Value::Integer(_) | Value::Float(_) => self.kind_is_not("a text, in quotes"),
            _ => self.kind_is_not("a text"),
        }
        None
    }

    pub(super) fn flag(self) -> Option<bool> {
        let Value::Flag(flag) = self.node.value else {
            self.kind_is_not("true or false");
            return None;
        };
        Some(flag)
    }

    pub(super) fn integer(self, range: RangeInclusive<u64>) -> Option<u64> {
        let number = match self.node.value {
            Value::Integer(number) => Some(number),
            // JSON knows no integers: 40.0 is 40.
            #[expect(clippy::cast_possible_truncation, reason = "whole and small was just seen")]
            Value::Float(number) if number.fract() == 0.0 && number.abs() < 1e15 => Some(number as i128),
            _ => None,
        };
        let Some(number) = number else {
            self.kind_is_not("a whole number");
            return None;
        };
        let fits = u64::try_from(number).ok().filter(|number| range.contains(number));
        if fits.is_none() {
            self.out_of(number, range.start(), range.end());
        }
        fits
    }

    pub(super) fn float(self, range: RangeInclusive<f64>) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "nothing here is counted beyond 2^53")]
        let number = match self.node.value {
            Value::Integer(number) => number as f64,
            Value::Float(number) => number,
            _ => {
                self.kind_is_not("a number");
                return None;
            }
        };
        if !range.contains(&number) {
            self.out_of(number, range.start(), range.end());
            return None;
        }
        Some(number)
    }

    fn out_of(&self, number: impl Display, least: impl Display, most: impl Display) {
        self.wrong(format_args!("must lie between {least} and {most}, and is {number}"));
    }

    /// A price: a text of decimal digits, because a float is never exact.
    pub(super) fn money(self) -> Option<Money> {
        let read: Money = match &self.node.value {
            Value::Text(text) => self.parsed(text)?,
            Value::Integer(_) | Value::Float(_) => {
                self.kind_is_not("decimal digits in quotes, such as \"4.59\"");
                return None;
            }
            _ => {
                self.kind_is_not("decimal digits in quotes");
                return None;
            }
        };
        if read.is_negative() {
            self.wrong(format_args!("must not be negative, and is {read:.2}"));
            return None;
        }
        if read > DEAREST {
            self.wrong(format_args!("must be at most {DEAREST:.0}, and is {read:.2}"));
            return None;
        }
        Some(read)
    }

    pub(super) fn time(self) -> Option<Time> {
        let Value::Text(text) = &self.node.value else {
            self.kind_is_not("a moment like 2026-01-01T00:00:00Z");
            return None;
        };
        text.parse()
            .map_err(|_| self.wrong(format_args!("is {text:?} and no moment like 2026-01-01T00:00:00Z")))
            .ok()
    }

    /// A value that is written as a text, such as a rate.
    pub(super) fn read<T: std::str::FromStr<Err: Display>>(self) -> Option<T> {
        self.parsed(self.text()?)
    }

    fn parsed<T: std::str::FromStr<Err: Display>>(self, text: &str) -> Option<T> {
        text.parse().map_err(|why| self.wrong(format_args!("is wrong: {why}"))).ok()
    }

    /// One of a few words.
    pub(super) fn one_of<T: Copy>(self, words: &[(&str, T)]) -> Option<T> {
        let text = self.text()?;
        let found = words.iter().find(|(word, _)| *word == text);
        if found.is_none() {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.wrong(format_args!("is {text:?}, which is unknown; there are {}", known.join(", ")));
        }
        found.map(|(_, value)| *value)
    }

    /// The name of a location there is.
    pub(super) fn location(self) -> Option<String> {
        let name = self.text()?;
        if let Some(known) = self.sheet.locations.filter(|known| !known.contains(name)) {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            self.sheet.wrong(self.node.place, format!("{name:?} is no location; there are {known}"));
            return None;
        }
        Some(name.to_owned())
    }

    /// The values of a list.
    pub(super) fn list(self) -> Vec<Field<'a>> {
        let Value::List(nodes) = &self.node.value else {
            self.kind_is_not("a list");
            return Vec::new();
        };
        nodes.iter().map(|node| Field { node, in_list: true, ..self }).collect()
    }

    pub(super) fn fields(self) -> Option<Fields<'a>> {
        let Value::Map(entries) = &self.node.value else {
            self.kind_is_not("a map of fields");
            return None;
        };
        Some(Fields { whole: self, entries, asked: RefCell::default() })
    }

    /// What `entry` reads of each value of a list, without those that are wrong.
    pub(super) fn each<T>(self, mut entry: impl FnMut(Fields<'a>) -> Option<T>) -> Vec<T> {
        self.list().into_iter().filter_map(|field| entry(field.fields()?)).collect()
    }
}

/// The fields of an entry, to be asked for one after another.
pub(super) struct Fields<'a> {
    pub(super) whole: Field<'a>,
    entries: &'a [Entry],
    asked: RefCell<BTreeSet<&'static str>>,
}

impl<'a> Fields<'a> {
    pub(super) fn by_api(&self) -> bool {
        self.whole.sheet.hand == Hand::Api
    }

    /// A field that may be missing or null.
    pub(super) fn maybe(&self, name: &'static str) -> Option<Field<'a>> {
        self.asked.borrow_mut().insert(name);
        let entry = self.entries.iter().find(|entry| entry.key == name)?;
        let there = !matches!(entry.node.value, Value::Nothing);
        there.then_some(Field {
            sheet: self.whole.sheet,
            name: &entry.key,
            in_list: false,
            node: &entry.node,
        })
    }

    /// A field that must be there.
    pub(super) fn need(&self, name: &'static str) -> Option<Field<'a>> {
        let field = self.maybe(name);
        if field.is_none() {
            self.whole.sheet.wrong(self.whole.place(), format!("the field {name} is missing"));
        }
        field
    }

    pub(super) fn text(&self, name: &'static str) -> Option<String> {
        self.need(name)?.text().map(str::to_owned)
    }

    pub(super) fn integer(&self, name: &'static str, range: RangeInclusive<u64>) -> Option<u64> {
        self.need(name)?.integer(range)
    }

    /// The id and the name of an entry, which no other in `seen` may have.
    pub(super) fn id_and_name(&self, seen: &mut Seen) -> (Option<u64>, Option<String>) {
        let (id, name) = (self.need("id"), self.need("name"));
        let id = id.and_then(|field| {
            let id = field.integer(IDS)?;
            seen.ids.see(id, field.sheet, field.place());
            Some(id)
        });
        let name = name.and_then(|field| {
            let name = field.text()?.to_owned();
            seen.names.see(name.clone(), field.sheet, field.place());
            Some(name)
        });
        (id, name)
    }

    /// Every entry, for maps whose keys are data.
    pub(super) fn all(&self) -> impl Iterator<Item = (&'a str, Place, Field<'a>)> {
        let sheet = self.whole.sheet;
        let field =
            move |entry: &'a Entry| Field { sheet, name: &entry.key, in_list: false, node: &entry.node };
        self.entries.iter().map(move |entry| (entry.key.as_str(), entry.place, field(entry)))
    }

    /// Notes the fields nobody asked for. To be called when all have been.
    pub(super) fn done(&self) {
        if self.by_api() {
            return;
        }
        let asked = self.asked.borrow();
        let known: Vec<&str> = asked.iter().copied().collect();
        for entry in self.entries.iter().filter(|entry| !asked.contains(entry.key.as_str())) {
            let told = format!("the field {} is unknown; there are {}", entry.key, known.join(", "));
            self.whole.sheet.wrong(entry.place, told);
        }
    }
}

/// Ids as the API gives them.
pub(super) const IDS: RangeInclusive<u64> = 1..=(1 << 53);

/// The ids and names of a list.
pub(super) struct Seen {
    ids: Once<u64>,
    names: Once<String>,
}

impl Seen {
    /// None yet. `id` and `name` are what they are called, as in "datacenter id".
    pub(super) fn new(id: &'static str, name: &'static str) -> Self {
        Seen { ids: Once::new(id), names: Once::new(name) }
    }
}

/// Finds what must not be there twice.
pub(super) struct Once<K> {
    what: &'static str,
    seen: BTreeMap<K, Place>,
}

impl<K: Ord + Display> Once<K> {
    pub(super) fn new(what: &'static str) -> Self {
        Once { what, seen: BTreeMap::new() }
    }

    /// Notes a mistake if `key` was seen before.
    pub(super) fn see(&mut self, key: K, sheet: &Sheet<'_>, place: Place) {
        match self.seen.get(&key) {
            Some(first) => {
                let told = format!("the {} {key} is taken by line {}", self.what, first.line);
                sheet.wrong(place, told);
            }
            None => drop(self.seen.insert(key, place)),
        }
    }
}
