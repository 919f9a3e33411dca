//! Moments as reports tell them: since the run began, as short as they can be compared at a glance. Nobody reads a date here.

use std::time::Duration;

use crate::history::History;

/// A span since the start: `0s`, `2.1s`, `15m02s`, `1h02m03.4s`.
///
/// ```
/// use std::time::Duration;
/// use scaleproof::report::since_start;
///
/// assert_eq!(since_start(Duration::from_millis(902_100)), "15m02.1s");
/// assert_eq!(since_start(Duration::ZERO), "0s");
/// ```
pub fn since_start(span: Duration) -> String {
    let tenths = span.as_millis() / 100;
    let (seconds, tenth) = (tenths / 10, tenths % 10);
    let (hours, minutes, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let fraction = if tenth == 0 { String::new() } else { format!(".{tenth}") };
    match (hours, minutes) {
        (0, 0) => format!("{second}{fraction}s"),
        (0, _) => format!("{minutes}m{second:02}{fraction}s"),
        _ => format!("{hours}h{minutes:02}m{second:02}{fraction}s"),
    }
}

/// When an event happened, since the run began; nothing for an event that is not there.
pub(super) fn of_event(history: &History, event: usize) -> Option<Duration> {
    Some(history.events.get(event)?.at - history.header.began)
}

/// How long a run took in virtual time.
pub(super) fn lasted(history: &History) -> Duration {
    history.events.last().map(|event| event.at - history.header.began).unwrap_or_default()
}

/// Whole milliseconds, as programs are told.
pub(super) fn ms(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_short() {
        let told = |ms| since_start(Duration::from_millis(ms));
        assert_eq!(
            [0, 99, 100, 59_900, 60_000, 3_600_000, 3_723_400].map(told),
            ["0s", "0s", "0.1s", "59.9s", "1m00s", "1h00m00s", "1h02m03.4s"]
        );
    }
}
