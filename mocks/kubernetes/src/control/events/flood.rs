//! How many events one component may tell of one object: a few at once, and then one now and then.

use std::collections::BTreeMap;
use std::time::Duration;

use mock_clock::Time;

/// So many at once.
const AT_ONCE: u32 = 25;
/// Then one in this time.
const EVERY: Duration = Duration::from_secs(300);

/// When each object, for each type of event, may have its full number again.
#[derive(Debug, Default)]
pub(super) struct Flood {
    full_at: BTreeMap<(String, String), Time>,
}

impl Flood {
    /// Whether one more is told.
    pub(super) fn lets(&mut self, object: &str, kind: &str, now: Time) -> bool {
        super::forget(&mut self.full_at);
        let full_at = self.full_at.entry((object.to_owned(), kind.to_owned())).or_insert(now);
        let next = (*full_at).max(now) + EVERY;
        let lets = next - now <= EVERY * AT_ONCE;
        if lets {
            *full_at = next;
        }
        lets
    }
}
