//! A JSON number as upstream holds it: an integer of 64 bits where it fits, else a float.

use serde_json::{Number, Value};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Num {
    Int(i64),
    Float(f64),
}

impl Num {
    pub(crate) fn of(number: &Number) -> Self {
        number.as_i64().map_or_else(|| Self::Float(number.as_f64().unwrap_or_default()), Self::Int)
    }

    #[expect(clippy::cast_precision_loss, reason = "upstream compares so")]
    pub(crate) fn as_f64(self) -> f64 {
        match self {
            Self::Int(int) => int as f64,
            Self::Float(float) => float,
        }
    }

    /// Whether it is a whole number that a float holds exactly.
    pub(crate) fn is_whole(self) -> bool {
        match self {
            Self::Int(_) => true,
            Self::Float(float) => float.fract() == 0.0 && float.abs() < 9_007_199_254_740_992.0,
        }
    }

    /// The integer part.
    #[expect(clippy::cast_possible_truncation, reason = "Rust saturates; upstream's limits are small")]
    pub(crate) fn trunc(self) -> i64 {
        match self {
            Self::Int(int) => int,
            Self::Float(float) => float as i64,
        }
    }

    /// The value as errors show it: `1.0` is `1`.
    pub(crate) fn shown(self) -> Value {
        if self.is_whole() { Value::from(self.trunc()) } else { Value::from(self.as_f64()) }
    }
}

/// A value whose numbers are written in one way: `1.0` as `1`.
pub(crate) fn canonical(value: &Value) -> Value {
    match value {
        Value::Number(number) => Num::of(number).shown(),
        Value::Array(items) => items.iter().map(canonical).collect(),
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(name, value)| (name.clone(), canonical(value))).collect())
        }
        other => other.clone(),
    }
}

/// A float in the notation of Go's `%v`.
pub(crate) fn go_float(float: f64) -> String {
    let size = float.abs();
    if float == 0.0 || (1e-4..1e21).contains(&size) {
        return format!("{float}");
    }
    let text = format!("{float:e}");
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, power) = power.strip_prefix('-').map_or(('+', power), |power| ('-', power));
    format!("{digits}e{sign}{power:0>2}")
}

#[cfg(test)]
mod tests {
    use super::go_float;

    #[test]
    fn floats_read_like_go() {
        let cases = [(1.0, "1"), (0.5, "0.5"), (1e21, "1e+21"), (1.5e-7, "1.5e-07"), (-2e100, "-2e+100")];
        for (float, text) in cases {
            assert_eq!(go_float(float), text);
        }
    }
}
