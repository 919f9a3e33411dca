//! Amounts in resource lists, as JSON holds them: compared, added, rounded. What is no quantity counts as nothing.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::quantity::Quantity;

const MILLI_IN_NANOS: i128 = 1_000_000;

pub(crate) fn quantity(value: &Value) -> Quantity {
    Quantity::from_value(value).unwrap_or_default()
}

fn parsed(text: &str) -> Quantity {
    text.parse().unwrap_or_default()
}

/// The amount as the server prints it.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => quantity(other).to_string(),
    }
}

pub(crate) fn is_positive(value: &Value) -> bool {
    quantity(value).nanos() > 0
}

/// The amount as a server stores it, if it is written otherwise: canonical, and in thousandths where it is finer.
pub(crate) fn canonical(value: &Value) -> Option<String> {
    let exact = Quantity::from_value(value).ok()?;
    let stored = if exact.nanos() % MILLI_IN_NANOS == 0 {
        exact.to_string()
    } else {
        Quantity::thousandths(exact.milli(), exact.format()).to_string()
    };
    (value.as_str() != Some(&stored)).then_some(stored)
}

/// Adds a resource list to a sum.
pub(crate) fn add_all(sum: &mut BTreeMap<String, String>, list: &BTreeMap<String, String>) {
    for (name, amount) in list {
        match sum.get_mut(name) {
            None => {
                sum.insert(name.clone(), amount.clone());
            }
            Some(held) => {
                let mut total = parsed(held);
                total += &parsed(amount);
                *held = total.to_string();
            }
        }
    }
}

/// Raises each amount to that of the other list.
pub(crate) fn raise_all(highest: &mut BTreeMap<String, String>, list: &BTreeMap<String, String>) {
    for (name, amount) in list {
        let is_higher = highest.get(name).is_none_or(|held| parsed(amount) > parsed(held));
        if is_higher {
            highest.insert(name.clone(), amount.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn amounts_are_stored_in_canonical_form() {
        assert_eq!(canonical(&json!("100u")), Some("1m".to_owned()));
        assert_eq!(canonical(&json!("1.0005")), Some("1001m".to_owned()));
        assert_eq!(canonical(&json!(1)), Some("1".to_owned()));
        assert_eq!(canonical(&json!("1000m")), Some("1".to_owned()));
        assert_eq!(canonical(&json!("100m")), None);
        assert_eq!(canonical(&json!("no amount")), None);
    }
}
