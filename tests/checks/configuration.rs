//! Stories about configuration.

use super::Case;

pub(crate) fn cases() -> Vec<Case> {
    vec![]
}
