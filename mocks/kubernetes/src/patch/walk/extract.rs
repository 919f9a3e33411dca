//! The fields an object has.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::fields::{Element, Fields};
use super::super::structure::{Kind, List, Structure};
use super::element;

/// Every leaf of an object, every item of its lists, every key of its free maps.
pub(in crate::patch) fn fields_of(object: &Value, place: Structure<'_>) -> Fields {
    let mut found = Fields::default();
    extract(object, place, &mut Vec::new(), &mut found);
    found
}

fn extract(value: &Value, place: Structure<'_>, path: &mut Vec<Element>, found: &mut Fields) {
    match (place.kind(Some(value)), value) {
        (Kind::Scalar(_) | Kind::List(List::Atomic) | Kind::Map { atomic: true }, _) => found.insert(path),
        (Kind::Map { .. }, Value::Object(fields)) => {
            for (name, value) in fields {
                let field = place.field(name);
                let named = field.is_some_and(|field| field.named);
                path.push(Element::Field(name.clone()));
                extract(value, field.map_or(Structure::Untyped, |field| field.structure), path, found);
                let empty = value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty);
                if empty || !named {
                    found.insert(path);
                }
                path.pop();
            }
        }
        (Kind::List(kind), Value::Array(items)) => extract_items(items, kind, place, path, found),
        _ => {}
    }
}

/// Items that share an element are one member without children.
fn extract_items(
    items: &[Value],
    kind: List,
    place: Structure<'_>,
    path: &mut Vec<Element>,
    found: &mut Fields,
) {
    let elements: Vec<Option<Element>> = items.iter().map(|item| element(item, kind, place).ok()).collect();
    let mut seen = BTreeSet::new();
    let twice: BTreeSet<&Element> =
        elements.iter().flatten().filter(|element| !seen.insert(*element)).collect();
    for (item, element) in items.iter().zip(&elements) {
        let Some(element) = element else { continue };
        path.push(element.clone());
        if !twice.contains(element) {
            extract(item, place.item(), path, found);
        }
        found.insert(path);
        path.pop();
    }
}
