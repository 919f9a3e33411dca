//! Walks over objects by their structure, as server-side apply needs them.
//!
//! Five walks: what fields an object has, what differs between two, two merged into one, one without some fields,
//! and whether one fits its structure. None of them knows managers.

mod check;
mod combine;
mod compare;
mod extract;
mod remove;

use serde_json::{Map, Value};

use super::fields::Element;
use super::structure::{Kind, List, Structure};

pub(super) use check::check;
pub(super) use combine::combine;
pub(super) use compare::{Changes, compare};
pub(super) use extract::fields_of;
pub(super) use remove::{Emptied, remove};

/// What tells an item of a list from the others.
fn element(item: &Value, kind: List, list: Structure<'_>) -> Result<Element, String> {
    match kind {
        List::Atomic => Err("invalid indexing of non-associative list".to_owned()),
        List::Set => match item {
            Value::Object(_) => {
                Err("associative list without keys has an element that's a map type".to_owned())
            }
            Value::Array(_) => Err("not supported: associative list with lists as elements".to_owned()),
            Value::Null => {
                Err("associative list without keys has an element that's an explicit null".to_owned())
            }
            scalar => Ok(Element::value(scalar)),
        },
        List::Map => keyed(item, list),
    }
}

fn keyed(item: &Value, list: Structure<'_>) -> Result<Element, String> {
    let fields = match item {
        Value::Object(fields) => fields,
        Value::Null => return Err("associative list with keys may not have a null element".to_owned()),
        _ => return Err("associative list with keys may not have non-map elements".to_owned()),
    };
    let keys = list.keys();
    let present = |key: &&str| {
        let value = fields.get(*key).cloned().or_else(|| list.item().default_of(key))?;
        Some(((*key).to_owned(), value))
    };
    let found: Vec<(String, Value)> = keys.iter().filter_map(present).collect();
    if found.is_empty() && !keys.is_empty() {
        let keys: Vec<String> = keys.iter().map(|key| format!("{key:?}")).collect();
        return Err(format!(
            "associative list with keys has an element that omits all key fields [{}] (and doesn't have default \
             values for any key fields)",
            keys.join(" ")
        ));
    }
    Ok(Element::key(found))
}

/// The structure of a field, where the object may hold what its schema does not know.
fn field<'a>(place: Structure<'a>, name: &str) -> Structure<'a> {
    place.field(name).map_or(Structure::Untyped, |field| field.structure)
}

/// The kinds a place has for two values: usually one. Where the schema leaves it open, the sides may differ.
fn kinds(place: Structure<'_>, left: Option<&Value>, right: Option<&Value>) -> (Option<Kind>, Kind) {
    let ours = place.kind(left);
    let theirs = place.kind(right);
    match (left, right) {
        (_, None) => (None, ours),
        (None, _) => (None, theirs),
        _ if ours == theirs => (None, theirs),
        _ => (Some(ours), theirs),
    }
}

fn map(value: Option<&Value>) -> Option<&Map<String, Value>> {
    value.and_then(Value::as_object).filter(|fields| !fields.is_empty())
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
