//! Amounts of euros and the rate of the value added tax, exact to the last digit the API writes.
//!
//! The API writes net prices with 10 decimals and gross prices with 16; an amount here counts in 10⁻¹⁶ euros, so a
//! price, its sum over hours and its gross are whole numbers. It knows no other currency and no floating point.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Decimals of the smallest amount.
const SCALE: u32 = 16;
/// Decimals of a net price, which [`Money`] prints unless told otherwise.
const NET_DECIMALS: usize = 10;
/// Decimals of a gross price: what the tax adds needs more of them.
pub(crate) const GROSS_DECIMALS: usize = SCALE as usize;
/// Digits before the point that are still read: anything larger is a mistake, not a price.
const MOST_DIGITS: usize = 12;
/// A tax rate counts in 10⁻⁴ percent, a factor in 10⁻⁶: ten decimals of a price and six of a factor are sixteen.
const RATE_DECIMALS: u32 = 4;
const WHOLE: i128 = 1_000_000;

/// An amount of euros, exact.
///
/// It prints with the 10 decimals of a net price, or as many as asked for, rounded half away from zero:
///
/// ```
/// use mock_hetzner::{Money, VatRate};
///
/// let hourly: Money = "0.0088".parse()?;
/// let vat: VatRate = "19.00".parse()?;
/// assert_eq!(hourly.to_string(), "0.0088000000");
/// assert_eq!(format!("{:.16}", hourly.gross(vat)), "0.0104720000000000");
/// assert_eq!(format!("{:.2}", hourly * 1000), "8.80");
/// # Ok::<(), mock_hetzner::MoneyError>(())
/// ```
///
/// Arithmetic stops at the ends instead of wrapping.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Money {
    /// In 10⁻¹⁶ euros.
    units: i128,
}

impl Money {
    /// No money.
    pub const ZERO: Money = Money { units: 0 };

    /// So many euros.
    pub const fn euros(euros: u32) -> Money {
        // Widening; `From` is not const.
        Money { units: euros as i128 * 10_i128.pow(SCALE) }
    }

    /// This net amount with the tax added, rounded to the sixteenth decimal (exact for ten decimals or fewer).
    #[must_use]
    pub fn gross(self, vat: VatRate) -> Money {
        let factor = WHOLE.saturating_add(vat.millionths.into());
        Money { units: rounded(self.units.saturating_mul(factor), WHOLE) }
    }

    /// One of so many equal parts, rounded up to the sixteenth decimal: all parts together are no less.
    #[must_use]
    pub fn part(self, parts: u64) -> Money {
        let parts = i128::from(parts.max(1));
        let rest = self.units.rem_euclid(parts).min(1);
        Money { units: self.units.div_euclid(parts) + rest }
    }

    /// Whether it is less than nothing.
    pub fn is_negative(self) -> bool {
        self.units < 0
    }
}

/// The quotient rounded half away from zero.
fn rounded(dividend: i128, divisor: i128) -> i128 {
    let half = if dividend < 0 { -divisor / 2 } else { divisor / 2 };
    dividend.saturating_add(half) / divisor
}

impl Add for Money {
    type Output = Money;
    fn add(self, other: Money) -> Money {
        Money { units: self.units.saturating_add(other.units) }
    }
}

impl AddAssign for Money {
    fn add_assign(&mut self, other: Money) {
        *self = *self + other;
    }
}

impl Sub for Money {
    type Output = Money;
    fn sub(self, other: Money) -> Money {
        Money { units: self.units.saturating_sub(other.units) }
    }
}

impl Mul<u64> for Money {
    type Output = Money;
    fn mul(self, times: u64) -> Money {
        Money { units: self.units.saturating_mul(times.into()) }
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Money>>(amounts: I) -> Money {
        amounts.fold(Money::ZERO, Add::add)
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = f.precision().unwrap_or(NET_DECIMALS).min(GROSS_DECIMALS);
        fixed(f, self.units, GROSS_DECIMALS, decimals)
    }
}

impl fmt::Debug for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fixed(f, self.units, GROSS_DECIMALS, GROSS_DECIMALS)?;
        f.write_str(" EUR")
    }
}

/// Writes a number of `scale` decimals with `decimals` of them.
fn fixed(f: &mut fmt::Formatter<'_>, units: i128, scale: usize, decimals: usize) -> fmt::Result {
    let shown = rounded(units, power(scale.saturating_sub(decimals)));
    let sign = if shown < 0 { "-" } else { "" };
    let one = power(decimals).unsigned_abs();
    let (whole, rest) = (shown.unsigned_abs() / one, shown.unsigned_abs() % one);
    if decimals == 0 { write!(f, "{sign}{whole}") } else { write!(f, "{sign}{whole}.{rest:0decimals$}") }
}

/// A power of ten; no exponent here is above [`SCALE`].
fn power(exponent: usize) -> i128 {
    (0..exponent.min(GROSS_DECIMALS)).fold(1, |power, _| power * 10)
}

impl FromStr for Money {
    type Err = MoneyError;
    fn from_str(text: &str) -> Result<Money, MoneyError> {
        decimal(text, SCALE).map(|units| Money { units })
    }
}

/// Reads digits, at most one point and at most `scale` decimals as a whole number of the last decimal.
fn decimal(text: &str, scale: u32) -> Result<i128, MoneyError> {
    let fail = |why| MoneyError { text: text.to_owned(), why };
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let (whole, decimals) = digits.split_once('.').unwrap_or((digits, "0"));
    if [whole, decimals].iter().any(|part| part.is_empty() || !part.bytes().all(|byte| byte.is_ascii_digit()))
    {
        return Err(fail(Why::NotDecimal));
    }
    let decimals = decimals.trim_end_matches('0');
    let whole = whole.trim_start_matches('0');
    let missing = usize::try_from(scale).unwrap_or(0).checked_sub(decimals.len());
    let missing = missing.ok_or_else(|| fail(Why::TooFine(scale)))?;
    if whole.len() > MOST_DIGITS {
        return Err(fail(Why::TooLarge));
    }
    let digits: i128 = format!("0{whole}{decimals}").parse().map_err(|_| fail(Why::TooLarge))?;
    Ok(sign * digits * power(missing))
}

impl Serialize for Money {
    /// As a string, with 10 decimals where they say it all and 16 elsewhere.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let exact = self.units % power(GROSS_DECIMALS - NET_DECIMALS) == 0;
        let decimals = if exact { NET_DECIMALS } else { GROSS_DECIMALS };
        serializer.collect_str(&format_args!("{self:.decimals$}"))
    }
}

impl<'de> Deserialize<'de> for Money {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// The rate of the value added tax in percent; prints as the API writes it, such as `19.00`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct VatRate {
    /// What it adds to one million.
    millionths: u32,
}

impl FromStr for VatRate {
    type Err = MoneyError;
    fn from_str(text: &str) -> Result<VatRate, MoneyError> {
        let read = decimal(text, RATE_DECIMALS)?;
        let millionths = u32::try_from(read).ok().filter(|rate| i128::from(*rate) <= WHOLE);
        let fail = || MoneyError { text: text.to_owned(), why: Why::NoRate };
        Ok(VatRate { millionths: millionths.ok_or_else(fail)? })
    }
}

impl fmt::Display for VatRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = if self.millionths.is_multiple_of(100) { 2 } else { 4 };
        fixed(f, self.millionths.into(), 4, decimals)
    }
}

impl Serialize for VatRate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for VatRate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Why a text is no amount or no rate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoneyError {
    text: String,
    why: Why,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    NotDecimal,
    TooFine(u32),
    TooLarge,
    NoRate,
}

impl fmt::Display for MoneyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = &self.text;
        match self.why {
            Why::NotDecimal => write!(f, "{text:?} is no decimal number such as \"4.59\""),
            Why::TooFine(scale) => write!(f, "{text:?} has more than {scale} decimals"),
            Why::TooLarge => write!(f, "{text:?} has more than {MOST_DIGITS} digits before the point"),
            Why::NoRate => write!(f, "{text:?} is no rate between 0 and 100 percent"),
        }
    }
}

impl std::error::Error for MoneyError {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn money(text: &str) -> Money {
        text.parse().unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn text_and_json_give_the_same_amount_back(units in -10_i128.pow(28) + 1..10_i128.pow(28)) {
            let amount = Money { units };
            prop_assert_eq!(money(&format!("{amount:.16}")), amount);
            let json = serde_json::to_string(&amount).unwrap();
            prop_assert_eq!(serde_json::from_str::<Money>(&json).unwrap(), amount);
        }

        #[test]
        fn times_is_adding_so_often(units in -10_i128.pow(20)..10_i128.pow(20), times in 0_u64..50) {
            let amount = Money { units };
            prop_assert_eq!(amount * times, (0..times).map(|_| amount).sum::<Money>());
        }

        #[test]
        fn parts_are_together_the_whole_or_a_trace_more(units in -10_i128.pow(20)..10_i128.pow(20), parts in 1_u64..1000) {
            let amount = Money { units };
            let excess = (amount.part(parts) * parts - amount).units;
            prop_assert!((0..i128::from(parts)).contains(&excess));
        }

        #[test]
        fn the_gross_of_a_sum_is_the_sum_of_the_gross(a in 0_i128..10_i128.pow(15), b in 0_i128..10_i128.pow(15),
                                                      millionths in 0_u32..1_000_000) {
            // Prices have ten decimals.
            let (a, b) = (Money { units: a * 1_000_000 }, Money { units: b * 1_000_000 });
            let vat = VatRate { millionths };
            prop_assert_eq!(a.gross(vat) + b.gross(vat), (a + b).gross(vat));
            prop_assert_eq!(vat.to_string().parse::<VatRate>().unwrap(), vat);
        }

        #[test]
        fn no_text_panics(text: String, digits in "-?[0-9]{0,40}\\.?[0-9]{0,40}") {
            let _ = (text.parse::<Money>(), text.parse::<VatRate>());
            let _ = (digits.parse::<Money>(), digits.parse::<VatRate>());
        }
    }

    #[test]
    fn prices_read_as_the_api_writes_them() {
        let vat: VatRate = "19.00".parse().unwrap();
        assert_eq!(money("4.5900000000").to_string(), "4.5900000000");
        assert_eq!(format!("{:.16}", money("4.59").gross(vat)), "5.4621000000000000");
        assert_eq!(format!("{:.16}", money("0.0000000001").gross(vat)), "0.0000000001190000");
        assert_eq!(serde_json::to_string(&money("4.59")).unwrap(), "\"4.5900000000\"");
        assert_eq!(vat.to_string(), "19.00");
        assert_eq!("19.000000".parse::<VatRate>().unwrap(), vat);
        assert_eq!("8.125".parse::<VatRate>().unwrap().to_string(), "8.1250");
    }

    #[test]
    fn printing_rounds_half_away_from_zero() {
        let printed = |text| format!("{:.2} {:.0}", money(text), money(text));
        assert_eq!(printed("0.005"), "0.01 0");
        assert_eq!(printed("-0.005"), "-0.01 0");
        assert_eq!(printed("0.0049999999999999"), "0.00 0");
        assert_eq!(printed("-1.5"), "-1.50 -2");
    }

    #[test]
    fn the_ends_hold() {
        let most = Money { units: i128::MAX };
        assert_eq!(most + money("1"), most);
        assert_eq!(most * u64::MAX, most);
        let vat: VatRate = "100".parse().unwrap();
        assert!(most.gross(vat) > Money::ZERO);
        assert!(!format!("{most} {:?}", Money { units: i128::MIN }).is_empty());
    }

    #[test]
    fn what_is_no_amount_is_refused_with_its_text() {
        let told = |text: &str| text.parse::<Money>().unwrap_err().to_string();
        for text in ["", "-", ".", "1.", ".5", "1,5", "1e3", "+1", " 1", "NaN", "１"] {
            assert_eq!(told(text), format!("{text:?} is no decimal number such as \"4.59\""));
        }
        assert!(told("0.00000000000000001").contains("more than 16 decimals"));
        assert!(told("1000000000000").contains("more than 12 digits"));
        let told = |text: &str| text.parse::<VatRate>().unwrap_err().to_string();
        assert!(told("-1").contains("between 0 and 100"));
        assert!(told("100.5").contains("between 0 and 100"));
    }
}
