//! The completion indexes of an indexed job, written as `0-2,5`.

use std::collections::BTreeSet;
use std::fmt;

/// More than validation allows, so that a text from elsewhere cannot fill the memory.
const MOST: i32 = 1_000_000;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Indexes(BTreeSet<i32>);

impl Indexes {
    /// Reads those below `end`; what is no number is skipped.
    pub(super) fn read(text: &str, end: i32) -> Self {
        let end = end.min(MOST);
        let mut all = BTreeSet::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            if let (Ok(first), Ok(last)) = (first.parse::<i32>(), last.parse::<i32>()) {
                all.extend(first.max(0)..last.saturating_add(1).min(end));
            }
        }
        Self(all)
    }

    pub(super) fn add(&mut self, index: i32) {
        self.0.insert(index);
    }

    pub(super) fn has(&self, index: i32) -> bool {
        self.0.contains(&index)
    }

    pub(super) fn count(&self) -> i32 {
        i32::try_from(self.0.len()).unwrap_or(i32::MAX)
    }
}

impl fmt::Display for Indexes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.iter().copied().peekable();
        let mut comma = "";
        while let Some(first) = rest.next() {
            let mut last = first;
            while let Some(next) = rest.next_if_eq(&(last + 1)) {
                last = next;
            }
            match last - first {
                0 => write!(f, "{comma}{first}")?,
                1 => write!(f, "{comma}{first},{last}")?,
                _ => write!(f, "{comma}{first}-{last}")?,
            }
            comma = ",";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_read_and_written() {
        for text in ["", "0", "0,1", "0-2", "0-2,5", "1,3,5-9"] {
            assert_eq!(Indexes::read(text, 10).to_string(), text);
        }
        assert_eq!(Indexes::read("0-9", 3).to_string(), "0-2");
        assert_eq!(Indexes::read("0-99999999999,x", 3).to_string(), "");
    }
}
