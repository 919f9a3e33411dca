//! An object without some fields.

use serde_json::{Map, Value};

use super::super::fields::{Element, Fields};
use super::super::structure::{Kind, List, Structure};
use super::{element, field};

/// What stays of an object. A map or list of which nothing stays goes too.
pub(in crate::patch) fn remove(object: &Value, gone: &Fields, place: Structure<'_>) -> Option<Value> {
    match (place.kind(Some(object)), object) {
        (Kind::Scalar(_), scalar) => Some(scalar.clone()),
        (Kind::List(kind @ (List::Set | List::Map)), Value::Array(items)) => {
            let kept: Vec<Value> =
                items.iter().filter_map(|item| remove_item(item, gone, kind, place)).collect();
            (!kept.is_empty()).then_some(Value::Array(kept))
        }
        (Kind::Map { atomic: false }, Value::Object(fields)) => {
            let mut kept = Map::new();
            for (name, value) in fields {
                let step = Element::Field(name.clone());
                if gone.has(&step) {
                    continue;
                }
                let value = match gone.below(&step) {
                    Some(gone) => remove(value, gone, field(place, name)),
                    None => Some(value.clone()),
                };
                if let Some(value) = value {
                    kept.insert(name.clone(), value);
                }
            }
            (!kept.is_empty()).then_some(Value::Object(kept))
        }
        _ => None,
    }
}

fn remove_item(item: &Value, gone: &Fields, kind: List, list: Structure<'_>) -> Option<Value> {
    let Ok(element) = element(item, kind, list) else { return Some(item.clone()) };
    if gone.has(&element) {
        return None;
    }
    match gone.below(&element) {
        Some(gone) => remove(item, gone, list.item()),
        None => Some(item.clone()),
    }
}
