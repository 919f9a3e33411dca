//! Stories about fault tolerance.

use super::Case;

pub(crate) fn cases() -> Vec<Case> {
    vec![]
}
