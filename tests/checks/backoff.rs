//! Stories about backoff.

use super::Case;

pub(crate) fn cases() -> Vec<Case> {
    vec![]
}
