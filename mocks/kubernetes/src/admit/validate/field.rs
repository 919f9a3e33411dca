//! Complaints about one field, whatever the kind.

use serde_json::Value;

use crate::admit::names::{self, Complaints};
use crate::admit::path::Path;
use crate::admit::read::{deep, integer, present};
use crate::admit::same::same_field;
use crate::status::Wrong;

pub(super) const NEGATIVE: &str = "must be greater than or equal to 0";
pub(super) const IMMUTABLE: &str = "field is immutable";

/// A text and all that is wrong with it.
pub(super) fn invalid(path: &Path<'_>, value: &str, complaints: Complaints, wrong: &mut Vec<Wrong>) {
    for complaint in complaints {
        wrong.push(Wrong::invalid(path, &Value::from(value), &complaint));
    }
}

/// The number below `name`, if there is one, is zero or more.
pub(super) fn not_negative(object: &Value, path: &Path<'_>, name: &str, wrong: &mut Vec<Wrong>) {
    if let Some(number) = integer(object, name).filter(|number| *number < 0) {
        wrong.push(Wrong::invalid(path.field(name), &Value::from(number), NEGATIVE));
    }
}

/// A text that must be one of a few; an empty one is missing.
pub(super) fn one_of(path: &Path<'_>, value: &str, supported: &[&str], wrong: &mut Vec<Wrong>) {
    if value.is_empty() {
        wrong.push(Wrong::required(path, ""));
    } else {
        one_of_if_given(path, value, supported, wrong);
    }
}

pub(super) fn one_of_if_given(path: &Path<'_>, value: &str, supported: &[&str], wrong: &mut Vec<Wrong>) {
    if !value.is_empty() && !supported.contains(&value) {
        wrong.push(Wrong::not_supported(path, &Value::from(value), supported));
    }
}

/// A field that never changes. `names` leads to it in both objects.
pub(super) fn immutable(path: &Path<'_>, names: &[&str], new: &Value, old: &Value, wrong: &mut Vec<Wrong>) {
    let (now, before) = (deep(new, names), deep(old, names));
    if !same_field(now, before) {
        wrong.push(Wrong::invalid(path, now.unwrap_or(&Value::Null), IMMUTABLE));
    }
}

/// A label or annotation key, a taint key, a resource name: one complaint each.
pub(super) fn key(path: &Path<'_>, value: &str, wrong: &mut Vec<Wrong>) {
    invalid(path, value, names::qualified(value), wrong);
}

/// A port by number or by name.
pub(super) fn port(path: &Path<'_>, port: Option<&Value>, wrong: &mut Vec<Wrong>) {
    match port {
        Some(Value::String(name)) => invalid(path, name, names::port_name(name), wrong),
        other => {
            let number = other.and_then(Value::as_i64).unwrap_or_default();
            for complaint in names::port(number) {
                wrong.push(Wrong::invalid(path, &Value::from(number), &complaint));
            }
        }
    }
}

/// A count or a share, as `maxUnavailable` is: `2` or `25%`.
pub(super) fn count_or_percent(path: &Path<'_>, value: &Value, wrong: &mut Vec<Wrong>) {
    if let Some(text) = value.as_str() {
        invalid(path, text, names::percent(text), wrong);
    } else if let Some(number) = value.as_i64().filter(|number| *number < 0) {
        wrong.push(Wrong::invalid(path, &Value::from(number), NEGATIVE));
    }
}

pub(super) fn at_most_all(path: &Path<'_>, value: &Value, wrong: &mut Vec<Wrong>) {
    if percent_of(value).is_some_and(|share| share > 100) {
        wrong.push(Wrong::invalid(path, value, "must not be greater than 100%"));
    }
}

fn percent_of(value: &Value) -> Option<i64> {
    value.as_str()?.strip_suffix('%')?.parse().ok()
}

/// The number of a count or a share; zero if it is neither.
pub(super) fn number_of(value: Option<&Value>) -> i64 {
    let Some(value) = value else { return 0 };
    percent_of(value).or_else(|| value.as_i64()).unwrap_or_default()
}

/// The struct below a field, or an empty one.
pub(super) fn part<'a>(object: &'a Value, name: &str) -> &'a Value {
    present(object, name).unwrap_or(&Value::Null)
}
