//! Stories about scale down.

use super::Case;

pub(crate) fn cases() -> Vec<Case> {
    vec![]
}
