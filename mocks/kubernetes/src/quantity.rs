//! Quantities: `500m`, `1Gi`, `2e3`.
//!
//! Fixed point at nano-units, as precise as upstream keeps them. A quantity remembers which family of suffixes it was
//! written in and prints itself as a real API server would print it again. Amounts beyond what 128 bits hold are
//! capped, where upstream goes on with big numbers.

use std::cmp::Ordering;
use std::fmt;
use std::ops::{AddAssign, SubAssign};
use std::str::FromStr;

use serde_json::Value;

/// One unit, in nano-units.
const ONE: i128 = 1_000_000_000;
/// A thousandth, in nano-units.
const MILLI: i128 = 1_000_000;
/// The largest amount that may be written with a binary suffix.
const BINARY_MAX: i128 = (i64::MAX as i128) * ONE;
/// Digits that always fit into 64 bits. Upstream keeps such a text as it was written, if it is canonical enough.
const SHORT: usize = 18;

/// An amount of something.
#[derive(Clone, Debug, Default)]
pub(crate) struct Quantity {
    nanos: i128,
    format: Format,
    /// The text as it was written, where upstream keeps it.
    written: Option<Box<str>>,
}

/// The family of suffixes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Format {
    /// `m`, none, `k`, `M`, …
    #[default]
    Decimal,
    /// `Ki`, `Mi`, …
    Binary,
    /// `e3`, `E6`, …
    Exponent,
}

/// Why a text is no quantity, in upstream's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QuantityError {
    Form,
    Number,
    Suffix,
}

impl fmt::Display for QuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Form => {
                "quantities must match the regular expression \
                 '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
            }
            Self::Number => "unable to parse numeric part of quantity",
            Self::Suffix => "unable to parse quantity's suffix",
        })
    }
}

impl std::error::Error for QuantityError {}

impl Quantity {
    /// So many thousandths.
    pub(crate) fn thousandths(thousandths: i64, format: Format) -> Self {
        Self { nanos: i128::from(thousandths) * MILLI, format, written: None }
    }

    /// A quantity as JSON holds it: a string, or a number.
    pub(crate) fn from_value(value: &Value) -> Result<Self, QuantityError> {
        match value {
            Value::Null => Ok(Self::default()),
            Value::String(text) => text.trim().parse(),
            Value::Number(number) => number.to_string().parse(),
            _ => Err(QuantityError::Form),
        }
    }

    /// Whole units, rounded away from zero.
    pub(crate) fn value(&self) -> i64 {
        rounded(self.nanos, ONE)
    }

    /// Thousandths, rounded away from zero.
    pub(crate) fn milli(&self) -> i64 {
        rounded(self.nanos, MILLI)
    }

    pub(crate) fn nanos(&self) -> i128 {
        self.nanos
    }

    pub(crate) fn format(&self) -> Format {
        self.format
    }

    fn combine(&mut self, nanos: i128, format: Format) {
        if self.nanos == 0 {
            self.format = format;
        }
        self.nanos = nanos;
        self.written = None;
    }
}

/// `nanos` in units of `unit`, rounded away from zero, held within 64 bits.
fn rounded(nanos: i128, unit: i128) -> i64 {
    let (whole, rest) = (nanos / unit, nanos % unit);
    let value = whole + rest.signum();
    i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX })
}

impl AddAssign<&Quantity> for Quantity {
    fn add_assign(&mut self, other: &Quantity) {
        self.combine(self.nanos.saturating_add(other.nanos), other.format);
    }
}

impl SubAssign<&Quantity> for Quantity {
    fn sub_assign(&mut self, other: &Quantity) {
        self.combine(self.nanos.saturating_sub(other.nanos), other.format);
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.nanos == other.nanos
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        self.nanos.cmp(&other.nanos)
    }
}

impl FromStr for Quantity {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let parts = Parts::split(text)?;
        let (scale, format) = Scale::of(parts.suffix)?;
        if !parts.any_digit && !parts.short(scale) {
            return Err(QuantityError::Number);
        }
        let mut quantity = Self { nanos: parts.nanos(scale), format, written: None };
        if parts.kept(scale) {
            quantity.written = Some(text.into());
        } else if format == Format::Binary {
            quantity.nanos = quantity.nanos.min(BINARY_MAX);
            if quantity.nanos < ONE && quantity.nanos > 0 {
                quantity.format = Format::Decimal;
            }
        }
        if parts.negative {
            quantity.nanos = -quantity.nanos;
        }
        Ok(quantity)
    }
}

/// What the suffix multiplies with.
#[derive(Clone, Copy, Debug)]
enum Scale {
    Ten(i32),
    Two(u32),
}

impl Scale {
    fn of(suffix: &str) -> Result<(Self, Format), QuantityError> {
        let decimal = |power| Ok((Self::Ten(power), Format::Decimal));
        let binary = |power| Ok((Self::Two(power), Format::Binary));
        match suffix {
            "n" => decimal(-9),
            "u" => decimal(-6),
            "m" => decimal(-3),
            "" => decimal(0),
            "k" => decimal(3),
            "M" => decimal(6),
            "G" => decimal(9),
            "T" => decimal(12),
            "P" => decimal(15),
            "E" => decimal(18),
            "Ki" => binary(10),
            "Mi" => binary(20),
            "Gi" => binary(30),
            "Ti" => binary(40),
            "Pi" => binary(50),
            "Ei" => binary(60),
            _ => {
                let power = suffix.strip_prefix(['e', 'E']).ok_or(QuantityError::Suffix)?;
                let power: i64 = power.parse().map_err(|_| QuantityError::Suffix)?;
                let power = power.clamp(i64::from(i32::MIN) / 2, i64::from(i32::MAX) / 2);
                Ok((Self::Ten(i32::try_from(power).unwrap_or_default()), Format::Exponent))
            }
        }
    }
}

/// A quantity's text, taken apart.
#[derive(Debug)]
struct Parts<'a> {
    negative: bool,
    /// Whether there is a digit at all. Upstream minds only where it does not take the short way.
    any_digit: bool,
    /// Digits before the point, without leading zeros; `0` if there are none.
    whole: &'a str,
    /// Digits after the point.
    fraction: &'a str,
    suffix: &'a str,
}

impl<'a> Parts<'a> {
    fn split(text: &'a str) -> Result<Self, QuantityError> {
        if text.is_empty() {
            return Err(QuantityError::Form);
        }
        let negative = text.starts_with('-');
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let (whole, rest) = digits(unsigned.trim_start_matches('0'));
        let (fraction, suffix) = rest.strip_prefix('.').map_or(("", rest), digits);
        let after = suffix.trim_start_matches(|letter: char| "eEinumkKMGTP".contains(letter));
        let after = after.strip_prefix(['+', '-']).unwrap_or(after);
        if !after.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(QuantityError::Form);
        }
        let any_digit = unsigned.trim_start_matches('.').starts_with(|letter: char| letter.is_ascii_digit());
        let whole = if whole.is_empty() { "0" } else { whole };
        Ok(Self { negative, any_digit, whole, fraction, suffix })
    }

    /// How many powers of ten the last digit stands for.
    fn places(&self, power: i32) -> i32 {
        power - i32::try_from(self.fraction.len()).unwrap_or(i32::MAX / 2)
    }

    /// Whether the amount fits into 64 bits for sure.
    fn short(&self, scale: Scale) -> bool {
        match scale {
            Scale::Ten(power) => self.whole.len() + self.fraction.len() <= SHORT && self.places(power) >= -9,
            Scale::Two(power) => {
                let lost = self.whole.len() + power as usize * 3 / 10 + 1;
                let value: u128 = self.whole.parse().unwrap_or(u128::MAX >> 60);
                self.fraction.is_empty() && lost <= 15 && i64::try_from(value << power).is_ok()
            }
        }
    }

    /// Whether upstream prints the text again as it was written.
    fn kept(&self, scale: Scale) -> bool {
        let canonical = match scale {
            Scale::Ten(power) => {
                let last = |digits: &str| digits.chars().rev().take_while(|digit| *digit == '0').count();
                let mut zeros = last(self.fraction);
                if zeros == self.fraction.len() {
                    zeros += last(self.whole);
                }
                self.places(power) % 3 == 0 && zeros < 3 && !self.whole.starts_with('0')
            }
            Scale::Two(_) => self.whole.parse::<u64>().is_ok_and(|value| value % 8 != 0),
        };
        canonical && self.short(scale)
    }

    /// The amount without its sign, rounded up to whole nano-units.
    fn nanos(&self, scale: Scale) -> i128 {
        match scale {
            Scale::Ten(power) => self.shifted(i64::from(power) + 9),
            Scale::Two(power) => self.multiplied((1 << power) * ONE),
        }
    }

    /// The number with its point moved `places` to the right; what is left behind the point rounds up.
    fn shifted(&self, places: i64) -> i128 {
        let point = i64::try_from(self.whole.len()).unwrap_or(i64::MAX).saturating_add(places);
        let all = || self.whole.bytes().chain(self.fraction.bytes()).map(|byte| i128::from(byte - b'0'));
        let count = self.whole.len() + self.fraction.len();
        let before = usize::try_from(point.max(0)).unwrap_or(usize::MAX);
        let mut nanos =
            all().take(before).fold(0i128, |sum, digit| sum.saturating_mul(10).saturating_add(digit));
        if nanos != 0 {
            for _ in count..before {
                if nanos == i128::MAX {
                    break;
                }
                nanos = nanos.saturating_mul(10);
            }
        }
        nanos.saturating_add(i128::from(all().skip(before).any(|digit| digit != 0)))
    }

    /// The number times `factor`; a rest rounds up.
    fn multiplied(&self, factor: i128) -> i128 {
        let (mut below, mut inexact) = (0i128, false);
        for byte in self.fraction.bytes().rev() {
            let sum = i128::from(byte - b'0') * factor + below;
            inexact |= sum % 10 != 0;
            below = sum / 10;
        }
        let whole: i128 = self.whole.parse().unwrap_or(i128::MAX);
        whole.saturating_mul(factor).saturating_add(below).saturating_add(i128::from(inexact))
    }
}

fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(u8::is_ascii_digit).count())
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(written) = &self.written {
            return f.write_str(written);
        }
        if self.nanos == 0 {
            return f.write_str("0");
        }
        let large = self.nanos.unsigned_abs() >= 1024 * ONE.unsigned_abs();
        match self.format {
            Format::Binary if large && self.nanos % ONE == 0 => print_binary(self.nanos / ONE, f),
            Format::Binary | Format::Decimal => print_decimal(self.nanos, Format::Decimal, f),
            Format::Exponent => print_decimal(self.nanos, Format::Exponent, f),
        }
    }
}

fn print_binary(mut value: i128, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut power = 0;
    while value.unsigned_abs() >= 1024 && value % 1024 == 0 {
        value /= 1024;
        power += 1;
    }
    let suffix = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].get(power).unwrap_or(&"");
    write!(f, "{value}{suffix}")
}

/// With the largest power of a thousand that leaves no fraction. A power that has no suffix goes unsaid, as upstream.
fn print_decimal(nanos: i128, format: Format, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (mut value, mut power) = (nanos, -9i32);
    while value % 1000 == 0 {
        value /= 1000;
        power += 3;
    }
    if format == Format::Exponent {
        return if power == 0 { write!(f, "{value}") } else { write!(f, "{value}e{power}") };
    }
    let index = usize::try_from(power / 3 + 3).unwrap_or_default();
    let suffix = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"].get(index).unwrap_or(&"");
    write!(f, "{value}{suffix}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn printed(text: &str) -> String {
        text.parse::<Quantity>().unwrap_or_else(|error| panic!("{text}: {error}")).to_string()
    }

    #[test]
    fn prints_as_a_server_prints() {
        for (text, expected) in [
            ("0", "0"),
            ("0Gi", "0"),
            ("1000m", "1"),
            ("1024Mi", "1Gi"),
            ("0.5", "500m"),
            ("1e3", "1e3"),
            ("1000e3", "1e6"),
            ("1.5Gi", "1536Mi"),
            ("0.1m", "100u"),
            ("0.1n", "1n"),
            ("-0.1n", "-1n"),
            ("0.5Ki", "512"),
            ("1Ki", "1Ki"),
            ("1025Mi", "1025Mi"),
            ("1000", "1k"),
            ("12E", "12E"),
            ("0.0001Ki", "102400u"),
            ("1.2Ki", "1228800m"),
            ("1.500", "1.500"),
            ("+1", "+1"),
            ("010", "010"),
            ("3.", "3."),
            (".5", "500m"),
            ("8Ei", "9223372036854775807"),
            ("-9Ei", "-9223372036854775807"),
            ("5e-20", "1e-9"),
            ("100M", "100M"),
            ("100000k", "100M"),
            ("1100e1", "11e3"),
        ] {
            assert_eq!(printed(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_quantity_says_why() {
        let told = |text: &str| text.parse::<Quantity>().unwrap_err();
        for text in ["", "a", "1.2.3", "1 Gi", " 1", "1Gi ", "1e3x", "１"] {
            assert_eq!(told(text), QuantityError::Form, "{text:?}");
        }
        for text in ["Pi", ".Ei", "e-10"] {
            assert_eq!(told(text), QuantityError::Number, "{text:?}");
        }
        for text in ["--1", "1ki", "1mi", "1K", "1e", "1e+", "1i", "1e99999999999999999999", "1Gi3"] {
            assert_eq!(told(text), QuantityError::Suffix, "{text:?}");
        }
    }

    #[test]
    fn values_round_away_from_zero() {
        let quantity = |text: &str| text.parse::<Quantity>().unwrap();
        assert_eq!(quantity("1500m").value(), 2);
        assert_eq!(quantity("-1500m").value(), -2);
        assert_eq!(quantity("1u").milli(), 1);
        assert_eq!(quantity("2Gi").value(), 2 << 30);
        assert_eq!(quantity("1e40").value(), i64::MAX);
        assert_eq!(quantity("1e1000000000").milli(), i64::MAX);
        assert_eq!(Quantity::from_value(&serde_json::json!(0.25)).unwrap().milli(), 250);
    }

    #[test]
    fn a_sum_takes_the_first_format_that_counts() {
        let mut sum = Quantity::default();
        for text in ["1Gi", "1024Mi", "0.5"] {
            sum += &text.parse().unwrap();
        }
        assert_eq!(sum.to_string(), "2147483648500m");
        sum -= &Quantity::thousandths(500, Format::Decimal);
        assert_eq!(sum.to_string(), "2Gi");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[-+0-9.eEinumkKMGTP]{0,12}|\\PC{0,8}") {
            if let Ok(quantity) = text.parse::<Quantity>() {
                let _ = (quantity.to_string(), quantity.value(), quantity.milli());
            }
        }

        #[test]
        fn printing_keeps_the_amount(
            number in "[-+]?[0-9]{1,6}(\\.[0-9]{0,6})?",
            suffix in "n|u|m||k|M|G|T|Ki|Mi|Gi|Ti|e[0-9]|e-[0-9]|E[0-9]",
        ) {
            let quantity: Quantity = format!("{number}{suffix}").parse().unwrap();
            let again: Quantity = quantity.to_string().parse().unwrap();
            prop_assert_eq!(again.nanos(), quantity.nanos());
            let canonical = Quantity { written: None, ..quantity };
            prop_assert_eq!(printed(&canonical.to_string()), canonical.to_string());
        }

        #[test]
        fn order_is_the_order_of_numbers(a in -1_000_000i64..1_000_000, b in -1_000_000i64..1_000_000) {
            let [left, right] = [a, b].map(|value| Quantity::thousandths(value, Format::Decimal));
            prop_assert_eq!(left.cmp(&right), a.cmp(&b));
            let mut sum = left.clone();
            sum += &right;
            prop_assert_eq!(sum.milli(), a + b);
        }
    }
}
