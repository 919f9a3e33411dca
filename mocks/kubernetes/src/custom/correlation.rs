//! Which old value a new value is an update of.
//!
//! Fields correlate by name, items of a map list by their keys, other items not at all. What an update left alone is
//! not held against it: that is ratcheting.

use serde_json::Value;

use super::node::{List, Node};

/// A new value with its old one.
#[derive(Clone, Copy)]
pub(crate) struct Pair<'a> {
    pub(crate) new: &'a Value,
    pub(crate) old: &'a Value,
    pub(crate) node: &'a Node,
}

impl<'a> Pair<'a> {
    /// The pair of a field, if both have it and the schema knows it.
    pub(crate) fn field(&self, name: &str) -> Option<Pair<'a>> {
        let node = self.node.field(name)?;
        Some(Pair { new: self.new.get(name)?, old: self.old.get(name)?, node })
    }

    /// The pair of an item of a map list.
    pub(crate) fn item(&self, index: usize) -> Option<Pair<'a>> {
        let new = self.new.as_array()?.get(index)?;
        let old = old_item(self.node, self.old, new)?;
        Some(Pair { new, old, node: self.node.items.as_deref()? })
    }

    /// Whether nothing changed. Items of a map list may have changed places; what the schema does not know counts as
    /// changed.
    pub(crate) fn unchanged(&self) -> bool {
        match (self.new, self.old) {
            (Value::Object(new), Value::Object(old)) => {
                let same = |name: &String| self.field(name).is_some_and(|pair| pair.unchanged());
                new.len() == old.len() && new.keys().all(same)
            }
            (Value::Array(new), Value::Array(old)) if matches!(self.node.list, List::Map(_)) => {
                let same = |index| self.item(index).is_some_and(|pair| pair.unchanged());
                new.len() == old.len() && (0..new.len()).all(same)
            }
            (new, old) => same(new, old),
        }
    }
}

/// Whether two values mean the same: `1` is `1.0`.
pub(crate) fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            left == right || left.as_f64().is_some_and(|left| Some(left) == right.as_f64())
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            let matched = |(name, left)| right.get(name).is_some_and(|right| same(left, right));
            left.len() == right.len() && left.iter().all(matched)
        }
        (left, right) => left == right,
    }
}

/// The item of the old list that has the keys of this new item.
pub(crate) fn old_item<'a>(list: &Node, old: &'a Value, new: &Value) -> Option<&'a Value> {
    let List::Map(keys) = &list.list else { return None };
    let key =
        |item: &'a Value, name: &String| item.get(name).filter(|key| !key.is_array() && !key.is_object());
    if keys.is_empty() || keys.iter().any(|name| new.get(name).is_none_or(Value::is_null)) {
        return None;
    }
    let alike = |old: &&'a Value| {
        keys.iter().all(|name| match (key(old, name), new.get(name)) {
            (Some(old), Some(new)) => same(old, new),
            _ => false,
        })
    };
    old.as_array()?.iter().find(alike)
}
