//! Points in time as the API writes them: RFC 3339 in UTC, with seconds or with microseconds.
//!
//! Reading refuses what Go refuses, in Go's words.

/// How fine a field keeps time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Precision {
    /// `Time`: whole seconds; a fraction is read and dropped.
    Seconds,
    /// `MicroTime`: six digits, neither more nor fewer.
    Micros,
}

/// A point in time since the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Instant {
    pub(crate) seconds: i64,
    pub(crate) nanos: u32,
}

const DAY: i64 = 86_400;

impl Instant {
    /// Go's zero time, which JSON shows as `null`.
    pub(crate) const ZERO: Self = Self { seconds: -62_135_596_800, nanos: 0 };
    /// Years of more than four digits cannot be written.
    const END: i64 = 253_402_300_800;
    const START: i64 = -62_167_219_200;

    pub(crate) fn parse(text: &str, precision: Precision) -> Result<Self, String> {
        let mut reader = Reader { rest: text, precision };
        reader.instant().map_err(|wrong| match wrong {
            Wrong::Element(element) => {
                let layout = reader.layout();
                format!("parsing time {text:?} as {layout:?}: cannot parse {:?} as {element:?}", reader.rest)
            }
            Wrong::Range(what) => format!("parsing time {text:?}: {what} out of range"),
            Wrong::Extra => format!("parsing time {text:?}: extra text: {:?}", reader.rest),
        })
    }

    /// The text of the API; nothing for years that have no four digits.
    pub(crate) fn text(self, precision: Precision) -> Option<String> {
        if !(Self::START..Self::END).contains(&self.seconds) {
            return None;
        }
        let (year, month, day) = date(self.seconds.div_euclid(DAY));
        let second = self.seconds.rem_euclid(DAY);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        let stem = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
        Some(match precision {
            Precision::Seconds => stem + "Z",
            Precision::Micros => format!("{stem}.{:06}Z", self.nanos / 1000),
        })
    }
}

/// What stopped the reading.
enum Wrong {
    /// The rest does not begin with this element of the layout.
    Element(&'static str),
    Range(&'static str),
    Extra,
}

struct Reader<'a> {
    rest: &'a str,
    precision: Precision,
}

impl Reader<'_> {
    fn layout(&self) -> &'static str {
        match self.precision {
            Precision::Seconds => "2006-01-02T15:04:05Z07:00",
            Precision::Micros => "2006-01-02T15:04:05.000000Z07:00",
        }
    }

    fn instant(&mut self) -> Result<Instant, Wrong> {
        let year = self.digits(4, "2006")?;
        self.literal("-")?;
        let month = self.ranged("01", "month", 1, 12)?;
        self.literal("-")?;
        let day = self.digits(2, "02")?;
        self.literal("T")?;
        let hour = self.ranged("15", "hour", 0, 23)?;
        self.literal(":")?;
        let minute = self.ranged("04", "minute", 0, 59)?;
        self.literal(":")?;
        let second = self.ranged("05", "second", 0, 59)?;
        let nanos = self.fraction()?;
        let offset = self.offset()?;
        if !self.rest.is_empty() {
            return Err(Wrong::Extra);
        }
        if day < 1 || day > days_in(year, month) {
            return Err(Wrong::Range("day"));
        }
        let days = days_before(year, month) + day - 1;
        Ok(Instant { seconds: days * DAY + hour * 3600 + minute * 60 + second - offset, nanos })
    }

    fn digits(&mut self, count: usize, element: &'static str) -> Result<i64, Wrong> {
        let digits = self.rest.get(..count).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        let value = digits.and_then(|digits| digits.parse().ok()).ok_or(Wrong::Element(element))?;
        self.rest = &self.rest[count..];
        Ok(value)
    }

    fn ranged(
        &mut self,
        element: &'static str,
        what: &'static str,
        low: i64,
        high: i64,
    ) -> Result<i64, Wrong> {
        let value = self.digits(2, element)?;
        if (low..=high).contains(&value) { Ok(value) } else { Err(Wrong::Range(what)) }
    }

    fn literal(&mut self, literal: &'static str) -> Result<(), Wrong> {
        self.rest = self.rest.strip_prefix(literal).ok_or(Wrong::Element(literal))?;
        Ok(())
    }

    fn fraction(&mut self) -> Result<u32, Wrong> {
        let after = self.rest.strip_prefix(['.', ',']);
        let count = after.map_or(0, |after| after.bytes().take_while(u8::is_ascii_digit).count());
        if self.precision == Precision::Micros && (count < 6 || !self.rest.starts_with('.')) {
            return Err(Wrong::Element(".000000"));
        }
        let taken = if self.precision == Precision::Micros { 6 } else { count };
        let Some(after) = after.filter(|_| taken > 0) else { return Ok(0) };
        let nanos = after.bytes().take(taken.min(9)).fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0'));
        self.rest = &after[taken..];
        Ok(nanos * 10_u32.pow(u32::try_from(9 - taken.min(9)).unwrap_or(0)))
    }

    fn offset(&mut self) -> Result<i64, Wrong> {
        if let Some(rest) = self.rest.strip_prefix('Z') {
            self.rest = rest;
            return Ok(0);
        }
        let zone = self.rest;
        let wrong = || Wrong::Element("Z07:00");
        let sign = match zone.as_bytes().first() {
            Some(b'+') => 1,
            Some(b'-') => -1,
            _ => return Err(wrong()),
        };
        let number = |from: usize| {
            let digits =
                zone.get(from..from + 2).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
            digits.and_then(|digits| digits.parse::<i64>().ok()).ok_or_else(wrong)
        };
        let (hours, minutes) = (number(1)?, number(4)?);
        if zone.as_bytes()[3] != b':' {
            return Err(wrong());
        }
        if hours > 24 {
            return Err(Wrong::Range("time zone offset hour"));
        }
        if minutes > 60 {
            return Err(Wrong::Range("time zone offset minute"));
        }
        self.rest = &zone[6..];
        Ok(sign * (hours * 3600 + minutes * 60))
    }
}

fn leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 => 28 + i64::from(leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from the epoch to the first of a month. Years begin in March here, so that a leap day ends them.
fn days_before(year: i64, month: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Year, month and day of a number of days since the epoch.
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    (year, month, of_year - (153 * shifted + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Instant, Precision};

    fn seconds(text: &str) -> Result<String, String> {
        let instant = Instant::parse(text, Precision::Seconds)?;
        instant.text(Precision::Seconds).ok_or_else(|| "no text".to_owned())
    }

    #[test]
    fn other_zones_and_fractions_become_seconds_in_utc() {
        assert_eq!(seconds("2026-02-28T23:30:00.75-01:00").unwrap(), "2026-03-01T00:30:00Z");
        assert_eq!(seconds("1969-12-31T23:59:59Z").unwrap(), "1969-12-31T23:59:59Z");
    }

    #[test]
    fn refusals_are_those_of_go() {
        let refusal = |text: &str| seconds(text).unwrap_err();
        let layout = "2006-01-02T15:04:05Z07:00";
        assert_eq!(
            refusal("soon"),
            format!("parsing time \"soon\" as \"{layout}\": cannot parse \"soon\" as \"2006\"")
        );
        assert_eq!(
            refusal("2026-01-02 03:04:05Z"),
            format!(
                "parsing time \"2026-01-02 03:04:05Z\" as \"{layout}\": cannot parse \" 03:04:05Z\" as \"T\""
            )
        );
        assert_eq!(
            refusal("2026-02-30T00:00:00Z"),
            "parsing time \"2026-02-30T00:00:00Z\": day out of range"
        );
        assert_eq!(
            refusal("2026-02-01T00:00:00Zulu"),
            "parsing time \"2026-02-01T00:00:00Zulu\": extra text: \"ulu\""
        );
        assert!(Instant::parse("2026-02-01T00:00:00Z", Precision::Micros).is_err());
    }

    proptest! {
        #[test]
        fn text_and_instant_agree(seconds in Instant::START..Instant::END, micros in 0_u32..1_000_000) {
            let instant = Instant { seconds, nanos: micros * 1000 };
            let text = instant.text(Precision::Micros).unwrap();
            prop_assert_eq!(Instant::parse(&text, Precision::Micros), Ok(instant));
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,30}|[0-9T:.Z+-]{0,40}") {
            let _ = Instant::parse(&text, Precision::Seconds);
            let _ = Instant::parse(&text, Precision::Micros);
        }
    }
}
