//! The timeline.

use super::Telling;
use crate::history::History;

/// The page.
pub fn page(_history: &History, _telling: &Telling) -> String {
    String::new()
}
