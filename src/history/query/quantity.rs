//! Quantities of Kubernetes as whole numbers: processors in thousandths, memory in mebibytes. What cannot be read is nothing.

use serde_json::Value;

use crate::terms::Room;

/// What a list of resources asks for or offers.
pub(super) fn room(resources: &Value) -> Room {
    Room { cpu_milli: thousandths(&resources["cpu"]), memory_mib: bytes(&resources["memory"]) >> 20 }
}

fn thousandths(quantity: &Value) -> u64 {
    let text = text(quantity);
    match text.strip_suffix('m') {
        Some(thousandths) => thousandths.parse().unwrap_or(0),
        None => scaled(&text, 1000),
    }
}

fn bytes(quantity: &Value) -> u64 {
    const SCALES: [(&str, u64); 9] = [
        ("Ki", 1 << 10),
        ("Mi", 1 << 20),
        ("Gi", 1 << 30),
        ("Ti", 1 << 40),
        ("k", 1_000),
        ("M", 1_000_000),
        ("G", 1_000_000_000),
        ("T", 1_000_000_000_000),
        ("", 1),
    ];
    let text = text(quantity);
    let scale = SCALES.iter().find_map(|(suffix, scale)| Some((text.strip_suffix(suffix)?, scale)));
    scale.map_or(0, |(number, scale)| scaled(number, *scale))
}

/// A number with at most a fraction, times a scale, without the errors of floating point.
fn scaled(number: &str, scale: u64) -> u64 {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let whole = if whole.is_empty() { 0 } else { whole.parse::<u64>().unwrap_or(0) };
    let fraction = fraction.get(..fraction.len().min(9)).unwrap_or("");
    let digits = u32::try_from(fraction.len()).unwrap_or(0);
    let part = u128::from(fraction.parse::<u64>().unwrap_or(0)) * u128::from(scale) / 10_u128.pow(digits);
    whole.saturating_mul(scale).saturating_add(u64::try_from(part).unwrap_or(0))
}

fn text(quantity: &Value) -> String {
    match quantity {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn quantities_are_read_as_they_are_written() {
        for (cpu, milli) in [(json!("500m"), 500), (json!("2"), 2000), (json!("0.25"), 250), (json!(3), 3000)]
        {
            assert_eq!(thousandths(&cpu), milli, "{cpu}");
        }
        for (memory, mib) in
            [(json!("1Gi"), 1024), (json!("1.5Gi"), 1536), (json!("1048576"), 1), (json!("8G"), 7629)]
        {
            assert_eq!(bytes(&memory) >> 20, mib, "{memory}");
        }
        assert_eq!(room(&json!({})), Room::default());
        assert_eq!(thousandths(&json!("many")), 0);
    }
}
