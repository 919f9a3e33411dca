//! Label selectors: their syntax, and whether they match the labels of a template.

use serde_json::Value;

use super::{field, meta};
use crate::admit::names;
use crate::admit::path::Path;
use crate::admit::read::{entries, is_zero, items, present, text};
use crate::status::Wrong;

/// The selector below a field, if there is one.
pub(super) fn selector(object: &Value, path: &Path<'_>, name: &str, wrong: &mut Vec<Wrong>) {
    let Some(selector) = present(object, name) else { return };
    let path = path.field(name);
    meta::labels(selector, "matchLabels", &path.field("matchLabels"), wrong);
    for (index, expression) in items(selector, "matchExpressions").iter().enumerate() {
        requirement(expression, &path.field("matchExpressions").index(index), wrong);
    }
}

fn requirement(expression: &Value, path: &Path<'_>, wrong: &mut Vec<Wrong>) {
    let values = items(expression, "values");
    match text(expression, "operator") {
        "In" | "NotIn" if values.is_empty() => {
            let why = "must be specified when `operator` is 'In' or 'NotIn'";
            wrong.push(Wrong::required(path.field("values"), why));
        }
        "In" | "NotIn" => {}
        "Exists" | "DoesNotExist" if values.is_empty() => {}
        "Exists" | "DoesNotExist" => {
            let why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
            wrong.push(Wrong::forbidden(path.field("values"), why));
        }
        other => {
            let operator = Value::from(other);
            wrong.push(Wrong::invalid(path.field("operator"), &operator, "not a valid selector operator"));
        }
    }
    field::key(&path.field("key"), text(expression, "key"), wrong);
    for (index, value) in values.iter().enumerate() {
        let value = value.as_str().unwrap_or_default();
        field::invalid(&path.field("values").index(index), value, names::label_value(value), wrong);
    }
}

/// Whether nothing narrows the selector.
pub(super) fn is_empty(selector: &Value) -> bool {
    is_zero(selector.get("matchLabels")) && is_zero(selector.get("matchExpressions"))
}

/// Whether a selector matches labels; a selector with a wrong operator matches nothing.
pub(super) fn matches(selector: &Value, labels: &Value) -> bool {
    let value = |key: &str| labels.get(key).and_then(Value::as_str);
    let all_equal = entries(selector, "matchLabels").all(|(key, wanted)| value(key) == wanted.as_str());
    all_equal
        && items(selector, "matchExpressions").iter().all(|expression| {
            let held = value(text(expression, "key"));
            let listed = items(expression, "values").iter().any(|wanted| held == wanted.as_str());
            match text(expression, "operator") {
                "In" => held.is_some() && listed,
                "NotIn" => held.is_none() || !listed,
                "Exists" => held.is_some(),
                "DoesNotExist" => held.is_none(),
                _ => false,
            }
        })
}

/// A selector with its fields in upstream's order.
pub(super) fn shown(selector: &Value) -> String {
    let fields = ["matchLabels", "matchExpressions"];
    let shown = fields.iter().filter_map(|name| Some(format!("\"{name}\":{}", present(selector, name)?)));
    format!("{{{}}}", shown.collect::<Vec<_>>().join(","))
}
