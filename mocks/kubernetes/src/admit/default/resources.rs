//! Resource lists: read as text, and rounded up to thousandths as the server does.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::admit::quantities;
use crate::admit::read::entries;

/// The quantities below a field, by resource name.
pub(in crate::admit) fn list(object: &Value, field: &str) -> BTreeMap<String, String> {
    entries(object, field).map(|(name, value)| (name.to_owned(), quantities::text(value))).collect()
}

/// Writes amounts as the server does, and rounds what is finer than a thousandth up.
pub(super) fn round(object: &mut Value, field: &str) {
    let Some(list) = object.get_mut(field).and_then(Value::as_object_mut) else { return };
    for quantity in list.values_mut() {
        if let Some(canonical) = quantities::canonical(quantity) {
            *quantity = Value::from(canonical);
        }
    }
}
