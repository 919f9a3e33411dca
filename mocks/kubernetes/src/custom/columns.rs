//! The cells of `kubectl get`, beside the name.

use jiff::Timestamp;
use serde_json::Value;

use super::{Column, Version, json_path::JsonPath};

/// The cells of an object in the columns of its version, `null` where there is nothing to show.
pub(crate) fn cells(version: &Version, object: &Value, now: Timestamp) -> Vec<Value> {
    version.columns.iter().map(|column| cell(column, object, now)).collect()
}

fn cell(column: &Column, object: &Value, now: Timestamp) -> Value {
    let Some(path) = JsonPath::parse(&column.json_path) else { return Value::Null };
    let found = path.find(object);
    let Some(&value) = found.first() else { return Value::Null };
    match (column.kind.as_str(), value) {
        (_, Value::Null) => Value::Null,
        ("integer", Value::Number(number)) => number.as_i64().map_or_else(
            #[expect(clippy::cast_possible_truncation, reason = "a real server truncates too")]
            || Value::from(number.as_f64().unwrap_or_default() as i64),
            Value::from,
        ),
        ("number", Value::Number(_)) | ("boolean", Value::Bool(_)) => value.clone(),
        ("string", _) => Value::from(text(value)),
        ("date", Value::String(text)) => Value::from(age(text, now)),
        _ => Value::Null,
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn age(since: &str, now: Timestamp) -> String {
    let Ok(since) = since.parse::<Timestamp>() else { return "<invalid>".to_owned() };
    human(now.as_second() - since.as_second())
}

/// A span in one or two units, the way ages are read.
fn human(seconds: i64) -> String {
    let (minutes, hours, days, years) =
        (seconds / 60, seconds / 3600, seconds / 86400, seconds / 86400 / 365);
    let two = |big: i64, unit: &str, small: i64, small_unit: &str| {
        if small == 0 { format!("{big}{unit}") } else { format!("{big}{unit}{small}{small_unit}") }
    };
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1..0 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        _ if minutes < 10 => two(minutes, "m", seconds % 60, "s"),
        _ if minutes < 180 => format!("{minutes}m"),
        _ if hours < 8 => two(hours, "h", minutes % 60, "m"),
        _ if hours < 48 => format!("{hours}h"),
        _ if hours < 192 => two(days, "d", hours % 24, "h"),
        _ if days < 730 => format!("{days}d"),
        _ if days < 8 * 365 => two(years, "y", days % 365, "d"),
        _ => format!("{years}y"),
    }
}

#[cfg(test)]
mod tests {
    use super::human;

    #[test]
    fn ages_read_like_kubectl() {
        let cases = [
            (-2, "<invalid>"),
            (-1, "0s"),
            (119, "119s"),
            (120, "2m"),
            (605, "10m"),
            (590, "9m50s"),
            (10_800, "3h"),
            (10_860, "3h1m"),
            (36_000, "10h"),
            (172_800, "2d"),
            (176_400, "2d1h"),
            (864_000, "10d"),
            (63_072_000, "2y"),
            (63_158_400, "2y1d"),
            (315_360_000, "10y"),
        ];
        for (seconds, text) in cases {
            assert_eq!(human(seconds), text);
        }
    }
}
