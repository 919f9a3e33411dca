//! Stories about pod safety.

use super::Case;

pub(crate) fn cases() -> Vec<Case> {
    vec![]
}
