//! An applied configuration merged into an object. Nothing is taken away here.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::super::fields::Element;
use super::super::structure::{Kind, List, Structure};
use super::{element, field, kinds, list, map};

/// `live` with what `applied` says. Fails if a list of the configuration cannot be told apart.
pub(in crate::patch) fn combine(
    live: &Value,
    applied: &Value,
    place: Structure<'_>,
) -> Result<Value, String> {
    visit(Some(live), Some(applied), place).map(Option::unwrap_or_default)
}

type Merged = Result<Option<Value>, String>;

fn visit(live: Option<&Value>, applied: Option<&Value>, place: Structure<'_>) -> Merged {
    let (_, kind) = kinds(place, live, applied);
    let leaf = || Ok(applied.or(live).cloned());
    match kind {
        Kind::Scalar(_) | Kind::List(List::Atomic) | Kind::Map { atomic: true } => leaf(),
        Kind::Map { .. } => match (map(live), map(applied)) {
            (None, None) => leaf(),
            (live, applied) => visit_fields(live, applied, place),
        },
        Kind::List(kind) => match (list(live), list(applied)) {
            ([], []) => leaf(),
            (live, applied) => visit_items(live, applied, kind, place),
        },
    }
}

fn visit_fields(
    live: Option<&Map<String, Value>>,
    applied: Option<&Map<String, Value>>,
    place: Structure<'_>,
) -> Merged {
    let names: BTreeSet<&String> = [live, applied].into_iter().flatten().flat_map(|map| map.keys()).collect();
    let mut merged = Map::new();
    for name in names {
        let live = live.and_then(|map| map.get(name));
        let applied = applied.and_then(|map| map.get(name));
        if let Some(value) = visit(live, applied, field(place, name))? {
            merged.insert(name.clone(), value);
        }
    }
    Ok((!merged.is_empty()).then_some(Value::Object(merged)))
}

/// Items in the order of the configuration, between them those only the live list has.
fn visit_items(live: &[Value], applied: &[Value], kind: List, place: Structure<'_>) -> Merged {
    let theirs = Indexed::new(applied, kind, place, false)?;
    let ours = Indexed::new(live, kind, place, true)?;
    let mut shared = theirs.order.iter().filter(|element| ours.first.contains_key(*element));
    let mut next_shared = shared.next();
    let mut done: BTreeSet<&Element> = BTreeSet::new();
    let mut merged = Vec::new();
    let mut put = |element: &Element, live: Option<&Value>| -> Result<(), String> {
        let applied = theirs.first.get(element).copied().flatten();
        merged.extend(visit(live, applied, place.item())?);
        Ok(())
    };
    let (mut l, mut r) = (0, 0);
    while l < ours.order.len() || r < theirs.order.len() {
        if let (Some(mine), Some(other)) = (ours.order.get(l), theirs.order.get(r)) {
            if mine == other {
                done.insert(mine);
                put(mine, ours.item(mine))?;
                (l, r) = (l + 1, r + 1);
                next_shared = shared.next();
                continue;
            }
            // A shared item whose turn is later.
            if theirs.first.contains_key(mine) && next_shared.is_some_and(|next| next != mine) {
                l += 1;
                continue;
            }
        }
        if let Some(mine) = ours.order.get(l) {
            if !theirs.first.contains_key(mine) {
                put(mine, Some(&live[l]))?;
                l += 1;
                continue;
            } else if done.contains(mine) {
                l += 1;
            }
        }
        if let Some(other) = theirs.order.get(r) {
            done.insert(other);
            put(other, ours.item(other))?;
            r += 1;
            if next_shared == Some(other) {
                next_shared = shared.next();
            }
        }
    }
    Ok((!merged.is_empty()).then_some(Value::Array(merged)))
}

/// A list by what tells its items apart.
struct Indexed<'a> {
    order: Vec<Element>,
    /// The item of each element; `None` for one that stands there more than once.
    first: BTreeMap<Element, Option<&'a Value>>,
}

impl<'a> Indexed<'a> {
    fn new(items: &'a [Value], kind: List, place: Structure<'_>, twice: bool) -> Result<Self, String> {
        let mut indexed = Self { order: Vec::new(), first: BTreeMap::new() };
        for (at, item) in items.iter().enumerate() {
            let element = element(item, kind, place).map_err(|error| format!("element {at}: {error}"))?;
            if let Some(first) = indexed.first.get_mut(&element) {
                if !twice {
                    return Err(format!("duplicate entries for key {element}"));
                }
                *first = None;
            } else {
                indexed.first.insert(element.clone(), Some(item));
            }
            indexed.order.push(element);
        }
        Ok(indexed)
    }

    /// The live item to merge into. One that stands there more than once is not merged, but replaced.
    fn item(&self, element: &Element) -> Option<&'a Value> {
        const NOTHING: &Value = &Value::Null;
        self.first.get(element).map(|first| first.unwrap_or(NOTHING))
    }
}
