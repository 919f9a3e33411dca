//! An object without some fields.

use serde_json::{Map, Value};

use super::super::fields::{Element, Fields};
use super::super::structure::{Kind, List, Structure};
use super::{element, field};

/// What becomes of a map or list of which nothing stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::patch) enum Emptied {
    /// It is null: it was there, which counts when ownership is reckoned.
    Null,
    /// It goes too.
    Gone,
}

/// What stays of an object.
pub(in crate::patch) fn remove(
    object: &Value,
    gone: &Fields,
    place: Structure<'_>,
    emptied: Emptied,
) -> Option<Value> {
    let nothing = (emptied == Emptied::Null).then_some(Value::Null);
    match (place.kind(Some(object)), object) {
        (Kind::Scalar(_), scalar) => Some(scalar.clone()),
        (Kind::List(kind @ (List::Set | List::Map)), Value::Array(items)) => {
            let kept: Vec<Value> =
                items.iter().filter_map(|item| remove_item(item, gone, kind, place, emptied)).collect();
            if kept.is_empty() { nothing } else { Some(Value::Array(kept)) }
        }
        (Kind::Map { atomic: false }, Value::Object(fields)) => {
            let mut kept = Map::new();
            for (name, value) in fields {
                let step = Element::Field(name.clone());
                if gone.has(&step) {
                    continue;
                }
                let value = match gone.below(&step) {
                    Some(gone) => remove(value, gone, field(place, name), emptied),
                    None => Some(value.clone()),
                };
                if let Some(value) = value {
                    kept.insert(name.clone(), value);
                }
            }
            if kept.is_empty() { nothing } else { Some(Value::Object(kept)) }
        }
        _ => nothing,
    }
}

fn remove_item(
    item: &Value,
    gone: &Fields,
    kind: List,
    list: Structure<'_>,
    emptied: Emptied,
) -> Option<Value> {
    let Ok(element) = element(item, kind, list) else { return Some(item.clone()) };
    if gone.has(&element) {
        return None;
    }
    match gone.below(&element) {
        Some(gone) => remove(item, gone, list.item(), emptied),
        None => Some(item.clone()),
    }
}
