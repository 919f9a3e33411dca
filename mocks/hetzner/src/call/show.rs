//! How plain values look on the wire.

use jiff::Timestamp;
use mock_clock::Time;

/// A moment, to the second, as the API writes it.
pub(crate) fn moment(time: Time) -> String {
    Timestamp::from(time).strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// A moment as headers have it.
pub(crate) fn http_date(time: Time) -> String {
    Timestamp::from(time).strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

/// A size in GB, where it need not be a whole one.
pub(crate) fn gb(size: u64) -> f64 {
    u32::try_from(size).unwrap_or(u32::MAX).into()
}
