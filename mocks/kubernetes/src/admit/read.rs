//! Reading an object as the server's structs do: a missing, null or empty field has the zero value.

use serde_json::{Map, Value};

/// The field, unless it is missing or null.
pub(crate) fn present<'a>(object: &'a Value, name: &str) -> Option<&'a Value> {
    object.get(name).filter(|value| !value.is_null())
}

/// The field as text; empty where there is none.
pub(crate) fn text<'a>(object: &'a Value, name: &str) -> &'a str {
    object.get(name).and_then(Value::as_str).unwrap_or_default()
}

pub(crate) fn integer(object: &Value, name: &str) -> Option<i64> {
    object.get(name).and_then(Value::as_i64)
}

pub(crate) fn truth(object: &Value, name: &str) -> bool {
    object.get(name).and_then(Value::as_bool).unwrap_or_default()
}

pub(crate) fn items<'a>(object: &'a Value, name: &str) -> &'a [Value] {
    object.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The entries of a map; none where there is no map.
pub(crate) fn entries<'a>(object: &'a Value, name: &str) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let map = object.get(name).and_then(Value::as_object);
    map.into_iter().flatten().map(|(key, value)| (key.as_str(), value))
}

/// The value below several names.
pub(crate) fn deep<'a>(object: &'a Value, names: &[&str]) -> Option<&'a Value> {
    names.iter().try_fold(object, |value, name| present(value, name))
}

/// Whether a field is absent or has the zero value of its type.
pub(crate) fn is_zero(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null | Value::Bool(false)) => true,
        Some(Value::Number(number)) => number.as_f64() == Some(0.0),
        Some(Value::String(text)) => text.is_empty(),
        Some(Value::Array(list)) => list.is_empty(),
        Some(Value::Object(map)) => map.is_empty(),
        Some(Value::Bool(true)) => false,
    }
}

pub(crate) fn items_mut<'a>(object: &'a mut Value, name: &str) -> impl Iterator<Item = &'a mut Value> {
    object.get_mut(name).and_then(Value::as_array_mut).into_iter().flatten()
}

/// The map below a field, made if it is missing; none where the parent or the field is something else.
pub(crate) fn map_mut<'a>(object: &'a mut Value, name: &str) -> Option<&'a mut Map<String, Value>> {
    inner_mut(object, name)?.as_object_mut()
}

/// The struct below a field, made if it is missing.
pub(crate) fn inner_mut<'a>(object: &'a mut Value, name: &str) -> Option<&'a mut Value> {
    let map = object.as_object_mut()?;
    if map.get(name).is_none_or(Value::is_null) {
        map.insert(name.to_owned(), Value::Object(Map::new()));
    }
    map.get_mut(name)
}

/// Sets a field that is missing or null.
pub(crate) fn fill(object: &mut Value, name: &str, value: impl Into<Value>) {
    if let Some(map) = object.as_object_mut()
        && map.get(name).is_none_or(Value::is_null)
    {
        map.insert(name.to_owned(), value.into());
    }
}

/// Sets a field that is missing or has the zero value.
pub(crate) fn fill_zero(object: &mut Value, name: &str, value: impl Into<Value>) {
    if let Some(map) = object.as_object_mut()
        && is_zero(map.get(name))
    {
        map.insert(name.to_owned(), value.into());
    }
}

/// Makes a field what it was in `old`: the same value, or absent.
pub(crate) fn keep(object: &mut Value, old: &Value, name: &str) {
    match present(old, name) {
        Some(value) => put(object, name, value.clone()),
        None => remove(object, name),
    }
}

pub(crate) fn put(object: &mut Value, name: &str, value: impl Into<Value>) {
    if let Some(map) = object.as_object_mut() {
        map.insert(name.to_owned(), value.into());
    }
}

pub(crate) fn remove(object: &mut Value, name: &str) {
    if let Some(map) = object.as_object_mut() {
        map.remove(name);
    }
}
