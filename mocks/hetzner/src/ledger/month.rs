//! The calendar month of a moment, in UTC: the period of a monthly price.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use mock_clock::Time;

/// Nanoseconds of an hour.
pub(super) const HOUR: u64 = 3_600_000_000_000;

/// A calendar month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Month {
    /// Its first moment.
    from: Time,
    /// The first moment of the next; the end of time for the last there is.
    pub(super) until: Time,
}

impl Month {
    /// The month in which the moment lies.
    pub(super) fn of(time: Time) -> Month {
        let date = TimeZone::UTC.to_datetime(time.into()).date();
        let next = date.last_of_month().tomorrow();
        let start =
            |date: Date| TimeZone::UTC.to_timestamp(date.into()).ok().and_then(|at| Time::try_from(at).ok());
        Month {
            from: start(date.first_of_month()).unwrap_or(Time::EPOCH),
            until: next.ok().and_then(start).unwrap_or(Time::NEVER),
        }
    }

    /// How many hours it has; at least one.
    pub(super) fn hours(self) -> u64 {
        started_hours(self.from, self.until).max(1)
    }
}

/// How many hours begin between the two moments if one begins at the first.
pub(super) fn started_hours(from: Time, until: Time) -> u64 {
    until.unix_nanos().saturating_sub(from.unix_nanos()).div_ceil(HOUR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_are_as_long_as_the_calendar_says() {
        for (moment, from, until, hours) in [
            ("2026-02-28T23:59:59.999Z", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z", 672),
            ("2028-02-01T00:00:00Z", "2028-02-01T00:00:00Z", "2028-03-01T00:00:00Z", 696),
            ("2026-12-31T00:00:00Z", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z", 744),
            ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "1970-02-01T00:00:00Z", 744),
        ] {
            let month = Month::of(moment.parse().unwrap());
            assert_eq!(month, Month { from: from.parse().unwrap(), until: until.parse().unwrap() });
            assert_eq!(month.hours(), hours);
        }
        assert_eq!(Month::of(Time::NEVER).until, Time::NEVER);
    }
}
