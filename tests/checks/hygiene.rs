//! Stories about hygiene.

use super::Case;

pub(crate) fn cases() -> Vec<Case> {
    vec![]
}
