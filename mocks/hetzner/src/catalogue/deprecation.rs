//! When something is announced to go, and when it goes.

use mock_clock::Time;
use serde::{Deserialize, Serialize};

use super::field::Fields;

/// The end of something that is sold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deprecation {
    /// When it was told.
    pub announced: Time,
    /// From when on it cannot be had any more.
    pub unavailable_after: Time,
}

impl Deprecation {
    /// Whether it is over at `now`.
    pub fn is_over(&self, now: Time) -> bool {
        self.unavailable_after <= now
    }

    /// The field `deprecation`, which most entries lack.
    pub(super) fn read(entry: &Fields<'_>) -> Option<Deprecation> {
        let fields = entry.maybe("deprecation")?.fields()?;
        let announced = fields.need("announced").and_then(super::field::Field::time);
        let unavailable_after = fields.need("unavailable_after").and_then(super::field::Field::time);
        fields.done();
        let deprecation = Deprecation { announced: announced?, unavailable_after: unavailable_after? };
        if deprecation.unavailable_after < announced? {
            fields.whole.wrong("ends before it is announced");
        }
        Some(deprecation)
    }
}
