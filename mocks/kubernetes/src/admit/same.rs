//! When two values are the same to the server: missing, null and empty lists are one, and amounts count, not texts.

use serde_json::{Map, Value};

use super::quantities::quantity;

pub(crate) fn same(left: &Value, right: &Value) -> bool {
    left == right || alike(left, right, false)
}

/// The same, where either may be missing.
pub(crate) fn same_field(left: Option<&Value>, right: Option<&Value>) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => same(left, right),
        (None, None) => true,
        (Some(only), None) | (None, Some(only)) => is_nothing(only),
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        _ => false,
    }
}

fn alike(left: &Value, right: &Value, are_amounts: bool) -> bool {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => same_maps(left, right, are_amounts),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| alike(left, right, are_amounts))
        }
        (left, right) if is_nothing(left) && is_nothing(right) => true,
        (left, right) if are_amounts => left == right || quantity(left) == quantity(right),
        (left, right) => left == right,
    }
}

fn same_maps(left: &Map<String, Value>, right: &Map<String, Value>, are_amounts: bool) -> bool {
    let field = |name: &str, left: &Value, right: Option<&Value>| {
        let are_amounts = are_amounts || holds_amounts(name);
        match right {
            Some(right) => alike(left, right, are_amounts),
            None => is_nothing(left),
        }
    };
    left.iter().all(|(name, value)| field(name, value, right.get(name)))
        && right.iter().all(|(name, value)| left.contains_key(name) || is_nothing(value))
}

fn holds_amounts(name: &str) -> bool {
    matches!(name, "limits" | "requests" | "capacity" | "overhead" | "hard" | "sizeLimit" | "divisor")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn amounts_count_and_empty_lists_do_not() {
        let old = json!({"limits": {"cpu": "1000m"}, "args": []});
        assert!(same(&old, &json!({"limits": {"cpu": "1"}})));
        assert!(!same(&old, &json!({"limits": {"cpu": "2"}})));
        assert!(!same(&json!({"name": "1000m"}), &json!({"name": "1"})));
        assert!(!same(&json!({"emptyDir": {}}), &json!({})));
    }
}
