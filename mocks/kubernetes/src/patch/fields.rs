//! Sets of fields, as managers own them: paths in a tree, and their wire form `FieldsV1`.
//!
//! A set says nothing of values. A path may be a member without its children and the other way round.

mod element;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::structure::Structure;

pub(super) use element::{Element, shown};

/// A set of paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Fields {
    members: BTreeSet<Element>,
    /// Sets below an element. None of them is empty.
    children: BTreeMap<Element, Fields>,
}

impl Fields {
    /// A set of named fields, one path each.
    pub(super) fn named(paths: &[&[&str]]) -> Self {
        let mut set = Self::default();
        for path in paths {
            let path: Vec<Element> = path.iter().map(|name| Element::Field((*name).to_owned())).collect();
            set.insert(&path);
        }
        set
    }

    pub(super) fn insert(&mut self, path: &[Element]) {
        match path {
            [] => {}
            [last] => {
                self.members.insert(last.clone());
            }
            [first, rest @ ..] => self.children.entry(first.clone()).or_default().insert(rest),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty() && self.children.is_empty()
    }

    /// Whether this very element is a member.
    pub(super) fn has(&self, element: &Element) -> bool {
        self.members.contains(element)
    }

    /// What is below an element.
    pub(super) fn below(&self, element: &Element) -> Option<&Self> {
        self.children.get(element)
    }

    pub(super) fn union(&self, other: &Self) -> Self {
        let mut union = self.clone();
        union.members.extend(other.members.iter().cloned());
        for (element, theirs) in &other.children {
            let ours = union.children.entry(element.clone()).or_default();
            *ours = ours.union(theirs);
        }
        union
    }

    pub(super) fn intersection(&self, other: &Self) -> Self {
        let members = self.members.intersection(&other.members).cloned().collect();
        let common = self.children.iter().filter_map(|(element, ours)| {
            let set = ours.intersection(other.children.get(element)?);
            Some((element.clone(), set))
        });
        Self { members, children: occupied(common) }
    }

    /// What is here and not there. A member there does not take its children along.
    pub(super) fn difference(&self, other: &Self) -> Self {
        let members = self.members.difference(&other.members).cloned().collect();
        let rest = self.children.iter().map(|(element, ours)| {
            let theirs = other.children.get(element);
            (element.clone(), theirs.map_or_else(|| ours.clone(), |theirs| ours.difference(theirs)))
        });
        Self { members, children: occupied(rest) }
    }

    /// The same, but a member there takes its children along.
    pub(super) fn without(&self, other: &Self) -> Self {
        let rest = self.children.iter().filter(|(element, _)| !other.has(element)).map(|(element, ours)| {
            let theirs = other.children.get(element);
            (element.clone(), theirs.map_or_else(|| ours.clone(), |theirs| ours.without(theirs)))
        });
        let members = self.members.difference(&other.members).cloned().collect();
        Self { members, children: occupied(rest) }
    }

    /// With every named field on the way to a member as a member too.
    pub(super) fn with_parents(&self, place: Structure<'_>) -> Self {
        let mut set = Self { members: self.members.clone(), children: BTreeMap::new() };
        for (element, below) in &self.children {
            let inner = match element {
                Element::Field(name) => place.field(name).map(|field| {
                    if field.named {
                        set.members.insert(element.clone());
                    }
                    field.structure
                }),
                Element::Key(_) => Some(place.item()),
                Element::Value(_) | Element::Index(_) => None,
            };
            let below = below.with_parents(inner.unwrap_or(Structure::Untyped));
            set.children.insert(element.clone(), below);
        }
        set
    }

    /// All paths, members of a place before what is below it.
    pub(super) fn paths(&self) -> Vec<Vec<Element>> {
        let members = self.members.iter().map(|member| vec![member.clone()]);
        let deeper = self.children.iter().flat_map(|(element, below)| {
            below.paths().into_iter().map(move |mut path| {
                path.insert(0, element.clone());
                path
            })
        });
        members.chain(deeper).collect()
    }

    /// The form on the wire.
    pub(super) fn to_value(&self) -> Value {
        let mut fields = Map::new();
        for member in &self.members {
            fields.insert(member.to_wire(), json!({}));
        }
        for (element, below) in &self.children {
            let mut inner = below.to_value();
            if self.members.contains(element) {
                inner["."] = json!({});
            }
            fields.insert(element.to_wire(), inner);
        }
        Value::Object(fields)
    }

    /// Reads the form on the wire. Kinds of elements that it does not know are dropped.
    pub(super) fn from_value(value: &Value) -> Result<Self, String> {
        let mut set = Self::default();
        let fields = match value {
            Value::Object(fields) => fields,
            Value::Null => return Ok(set),
            other => return Err(format!("expected a map of fields, got {other}")),
        };
        for (key, inner) in fields {
            if key == "." {
                continue;
            }
            let Some(element) = Element::from_wire(key)? else { continue };
            let below = Self::from_value(inner)?;
            if below.is_empty() || inner.get(".").is_some() {
                set.members.insert(element.clone());
            }
            if !below.is_empty() {
                set.children.insert(element, below);
            }
        }
        Ok(set)
    }
}

fn occupied(sets: impl Iterator<Item = (Element, Fields)>) -> BTreeMap<Element, Fields> {
    sets.filter(|(_, set)| !set.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn set(paths: &[Vec<u8>]) -> Fields {
        let mut set = Fields::default();
        for path in paths {
            let path: Vec<Element> = path
                .iter()
                .map(|step| match step % 3 {
                    0 => Element::Field(format!("f{step}")),
                    1 => Element::value(&json!(step)),
                    _ => Element::key(vec![("name".to_owned(), json!(format!("n{step}")))]),
                })
                .collect();
            set.insert(&path);
        }
        set
    }

    fn sets() -> impl Strategy<Value = Fields> {
        let path = proptest::collection::vec(0..6_u8, 1..4);
        proptest::collection::vec(path, 0..12).prop_map(|paths| set(&paths))
    }

    proptest! {
        #[test]
        fn the_wire_form_is_read_back(a in sets()) {
            prop_assert_eq!(Fields::from_value(&a.to_value()).unwrap(), a);
        }

        #[test]
        fn sets_obey_the_laws(a in sets(), b in sets(), c in sets()) {
            prop_assert_eq!(a.union(&b), b.union(&a));
            prop_assert_eq!(a.intersection(&b), b.intersection(&a));
            prop_assert_eq!(a.union(&b).union(&c), a.union(&b.union(&c)));
            prop_assert_eq!(a.union(&a), a.clone());
            prop_assert_eq!(a.intersection(&a), a.clone());
            prop_assert!(a.difference(&a).is_empty());
            prop_assert_eq!(a.difference(&b).union(&a.intersection(&b)), a.clone());
            prop_assert!(a.difference(&b).intersection(&b).is_empty());
            prop_assert_eq!(a.intersection(&b.union(&c)), a.intersection(&b).union(&a.intersection(&c)));
        }

        #[test]
        fn taking_a_member_away_with_its_children_takes_no_less(a in sets(), b in sets()) {
            let kept = a.without(&b);
            prop_assert_eq!(kept.difference(&a.difference(&b)), Fields::default());
        }
    }

    #[test]
    fn a_dot_marks_a_member_with_children() {
        let wire = json!({"f:metadata": {"f:labels": {".": {}, "f:a": {}}}, "v:\"x\"": {}, "z:later": {}});
        let set = Fields::from_value(&wire).unwrap();
        assert_eq!(set.paths().len(), 3);
        assert_eq!(set.to_value(), json!({"f:metadata": {"f:labels": {".": {}, "f:a": {}}}, "v:\"x\"": {}}));
        assert!(Fields::from_value(&json!({"metadata": {}})).is_err());
    }
}
