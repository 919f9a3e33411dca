//! Single values that have their own way of being read: quantities, times, numbers or texts, base64.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::calendar::{Instant, Precision};
use crate::quantity::Quantity;

/// A quantity as the API prints it again.
pub(crate) fn quantity(text: &str) -> Result<String, String> {
    text.trim().parse::<Quantity>().map(|quantity| quantity.to_string()).map_err(|error| error.to_string())
}

/// `None`: JSON of a type that holds no quantity, which reads like an odd text.
pub(super) fn canonical_quantity(value: &mut Value) -> Result<(), String> {
    let canonical = match &*value {
        Value::String(text) if plainly_canonical(text) => return Ok(()),
        Value::String(text) => quantity(text)?,
        other => quantity(&other.to_string())?,
    };
    *value = Value::String(canonical);
    Ok(())
}

/// Most quantities of a cluster, without looking closer: up to three digits, then `m`, `Ki`, `Mi`, `Gi` or nothing.
fn plainly_canonical(text: &str) -> bool {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    (1..=3).contains(&digits)
        && !text.starts_with('0')
        && matches!(&text[digits..], "" | "m" | "k" | "M" | "G" | "Ki" | "Mi" | "Gi" | "Ti")
}

/// Brings a time into its canonical form; the zero time becomes `null`.
pub(super) fn canonical_time(value: &mut Value, precision: Precision) -> Result<(), String> {
    let Value::String(text) = &*value else { return Ok(()) };
    let instant = Instant::parse(text, precision)?;
    *value = match instant.text(precision) {
        _ if instant == Instant::ZERO => Value::Null,
        Some(canonical) if canonical == *text => return Ok(()),
        Some(canonical) => Value::String(canonical),
        None => Value::Null,
    };
    Ok(())
}

/// Base64 as Go reads it: line ends are skipped.
pub(super) fn canonical_base64(text: &mut String) -> Result<(), String> {
    if text.contains(['\r', '\n']) {
        text.retain(|letter| letter != '\r' && letter != '\n');
    }
    STANDARD.decode(text.as_bytes()).map(|_| ()).map_err(|error| {
        let at = match error {
            base64::DecodeError::InvalidByte(at, _) | base64::DecodeError::InvalidLastSymbol(at, _) => at,
            // The start of the group of four that is not whole.
            _ => text.len() / 4 * 4,
        };
        format!("illegal base64 data at input byte {at}")
    })
}
