//! Stories about bounds.

use super::Case;

pub(crate) fn cases() -> Vec<Case> {
    vec![]
}
