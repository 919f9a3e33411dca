//! What differs between two objects, by field.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::fields::{Element, Fields};
use super::super::structure::{Kind, List, Structure};
use super::{element, field, kinds, list, map};

/// The fields that one object lacks, has otherwise, or has in addition.
#[derive(Debug, Default)]
pub(in crate::patch) struct Changes {
    pub(in crate::patch) removed: Fields,
    pub(in crate::patch) modified: Fields,
    pub(in crate::patch) added: Fields,
}

/// How `new` differs from `old`.
pub(in crate::patch) fn compare(old: &Value, new: &Value, place: Structure<'_>) -> Changes {
    let mut comparison = Comparison { path: Vec::new(), changes: Changes::default() };
    comparison.visit(Some(old), Some(new), place);
    comparison.changes
}

struct Comparison {
    path: Vec<Element>,
    changes: Changes,
}

impl Comparison {
    fn visit(&mut self, old: Option<&Value>, new: Option<&Value>, place: Structure<'_>) {
        let (other, kind) = kinds(place, old, new);
        if let Some(other) = other {
            self.visit_as(other, old, new, place);
        }
        let leaf = self.visit_as(kind, old, new, place);
        match (old, new) {
            (None, Some(_)) if !leaf => self.changes.added.insert(&self.path),
            (Some(_), None) if !leaf => self.changes.removed.insert(&self.path),
            _ => {}
        }
    }

    /// Whether the place was a leaf.
    fn visit_as(
        &mut self,
        kind: Kind,
        old: Option<&Value>,
        new: Option<&Value>,
        place: Structure<'_>,
    ) -> bool {
        let leaf = match kind {
            Kind::Scalar(_) | Kind::List(List::Atomic) | Kind::Map { atomic: true } => true,
            Kind::Map { .. } => map(old).is_none() && map(new).is_none(),
            Kind::List(_) => list(old).is_empty() && list(new).is_empty(),
        };
        match kind {
            _ if leaf => self.leaf(old, new),
            Kind::Map { .. } => self.visit_fields(old, new, place),
            Kind::List(kind) => self.visit_items(list(old), list(new), kind, place),
            Kind::Scalar(_) => {}
        }
        leaf
    }

    fn leaf(&mut self, old: Option<&Value>, new: Option<&Value>) {
        match (old, new) {
            (None, _) => self.changes.added.insert(&self.path),
            (_, None) => self.changes.removed.insert(&self.path),
            (old, new) if old != new => self.changes.modified.insert(&self.path),
            _ => {}
        }
    }

    fn visit_fields(&mut self, old: Option<&Value>, new: Option<&Value>, place: Structure<'_>) {
        let (old, new) = (map(old), map(new));
        let names: BTreeSet<&String> = [old, new].into_iter().flatten().flat_map(|map| map.keys()).collect();
        for name in names {
            self.path.push(Element::Field(name.clone()));
            let (old, new) = (old.and_then(|map| map.get(name)), new.and_then(|map| map.get(name)));
            self.visit(old, new, field(place, name));
            self.path.pop();
        }
    }

    fn visit_items(&mut self, old: &[Value], new: &[Value], kind: List, place: Structure<'_>) {
        let mut items: BTreeMap<Element, (Vec<&Value>, Vec<&Value>)> = BTreeMap::new();
        for item in old {
            if let Ok(element) = element(item, kind, place) {
                items.entry(element).or_default().0.push(item);
            }
        }
        for item in new {
            if let Ok(element) = element(item, kind, place) {
                items.entry(element).or_default().1.push(item);
            }
        }
        for (element, (old, new)) in items {
            self.path.push(element);
            self.visit_item(&old, &new, place.item());
            self.path.pop();
        }
    }

    /// Items that share an element are compared as one thing.
    fn visit_item(&mut self, old: &[&Value], new: &[&Value], place: Structure<'_>) {
        match (old, new) {
            ([] | [_], [] | [_]) => self.visit(old.first().copied(), new.first().copied(), place),
            ([_, _, ..], [_, _, ..]) => {
                if old != new {
                    self.changes.modified.insert(&self.path);
                }
            }
            (_, [] | [_]) => {
                if let Some(new) = new.first() {
                    self.visit(None, Some(new), place);
                }
                self.changes.removed.insert(&self.path);
            }
            ([] | [_], _) => {
                if let Some(old) = old.first() {
                    self.visit(Some(old), None, place);
                }
                self.changes.added.insert(&self.path);
            }
        }
    }
}
