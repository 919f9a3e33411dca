//! Spans of time as people read them: `45s`, `3m20s`, `5h`, `12d`.
//!
//! The steps at which a unit is dropped are upstream's, because clients show these texts as they are.

use mock_clock::Time;

const SECOND: i128 = 1_000_000_000;

/// A span in nanoseconds. One that is more than a second below zero makes no sense to people.
pub(super) fn human(nanoseconds: i128) -> String {
    let seconds = nanoseconds / SECOND;
    let minutes = seconds / 60;
    let hours = minutes / 60;
    let days = hours / 24;
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        _ if seconds < 120 => format!("{seconds}s"),
        _ if minutes < 10 => two(minutes, 'm', seconds % 60, 's'),
        _ if minutes < 180 => format!("{minutes}m"),
        _ if hours < 8 => two(hours, 'h', minutes % 60, 'm'),
        _ if hours < 48 => format!("{hours}h"),
        _ if days < 8 => two(days, 'd', hours % 24, 'h'),
        _ if days < 2 * 365 => format!("{days}d"),
        _ if days < 8 * 365 => two(days / 365, 'y', days % 365, 'd'),
        _ => format!("{}y", days / 365),
    }
}

/// How long ago this was.
pub(super) fn since(then: Time, now: Time) -> String {
    human(span(then, now))
}

/// From one moment to another, in nanoseconds.
pub(super) fn span(from: Time, to: Time) -> i128 {
    i128::from(to.unix_nanos()) - i128::from(from.unix_nanos())
}

fn two(big: i128, big_unit: char, small: i128, small_unit: char) -> String {
    if small == 0 { format!("{big}{big_unit}") } else { format!("{big}{big_unit}{small}{small_unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_change_where_upstream_changes_them() {
        const MINUTE: i128 = 60;
        const HOUR: i128 = 60 * MINUTE;
        const DAY: i128 = 24 * HOUR;
        const YEAR: i128 = 365 * DAY;
        for (seconds, text) in [
            (-2, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (121, "2m1s"),
            (10 * MINUTE - 1, "9m59s"),
            (10 * MINUTE + 1, "10m"),
            (3 * HOUR - 1, "179m"),
            (3 * HOUR, "3h"),
            (8 * HOUR - 1, "7h59m"),
            (8 * HOUR + MINUTE, "8h"),
            (2 * DAY - 1, "47h"),
            (2 * DAY, "2d"),
            (2 * DAY + HOUR, "2d1h"),
            (8 * DAY - 1, "7d23h"),
            (8 * DAY + HOUR, "8d"),
            (2 * YEAR - 1, "729d"),
            (2 * YEAR, "2y"),
            (2 * YEAR + DAY, "2y1d"),
            (8 * YEAR - 1, "7y364d"),
            (8 * YEAR + DAY, "8y"),
        ] {
            assert_eq!(human(seconds * SECOND), text, "{seconds}");
        }
        assert_eq!(human(-2 * SECOND + 1), "0s");
    }
}
