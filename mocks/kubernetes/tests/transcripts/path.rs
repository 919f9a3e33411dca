//! Places inside a JSON value, as transcripts write them: `spec.containers[0].name`, `items[metadata.name=a].spec`.
//!
//! A key with a dot in it is written in quotes: `metadata.labels."app.kubernetes.io/name"`.

use serde_json::Value;

/// The value at a place, if there is one.
pub(crate) fn find<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    let mut at = value;
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(tail) = rest.strip_prefix('.') {
            rest = tail;
        } else if let Some(tail) = rest.strip_prefix('[') {
            let (inside, tail) = tail.split_once(']')?;
            at = element(at, inside)?;
            rest = tail;
        } else if let Some(tail) = rest.strip_prefix('"') {
            let (key, tail) = tail.split_once('"')?;
            at = at.get(key)?;
            rest = tail;
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            at = at.get(&rest[..end])?;
            rest = &rest[end..];
        }
    }
    Some(at)
}

fn element<'v>(list: &'v Value, inside: &str) -> Option<&'v Value> {
    let Some((path, wanted)) = inside.split_once('=') else {
        return list.get(inside.parse::<usize>().ok()?);
    };
    list.as_array()?.iter().find(|item| find(item, path).and_then(Value::as_str) == Some(wanted))
}

/// A text with every `{{step.path}}` replaced by what it stands for; the first that stands for nothing is the error.
pub(crate) fn fill(text: &str, known: &Value) -> Result<String, String> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, tail)) = rest.split_once("{{") {
        let (path, after) = tail.split_once("}}").ok_or("a {{ without its }}")?;
        let value = find(known, path).ok_or_else(|| format!("nothing at {path}"))?;
        filled.push_str(before);
        filled.push_str(&value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}

/// The same for every text inside a value.
pub(crate) fn fill_all(value: &mut Value, known: &Value) -> Result<(), String> {
    match value {
        Value::String(text) => *text = fill(text, known)?,
        Value::Array(items) => {
            for item in items {
                fill_all(item, known)?;
            }
        }
        Value::Object(fields) => {
            for field in fields.values_mut() {
                fill_all(field, known)?;
            }
        }
        _ => {}
    }
    Ok(())
}
