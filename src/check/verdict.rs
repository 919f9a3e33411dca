//! What a check says: held, violated or unknown, and how often the expectation was put to the test at all.

use serde::{Deserialize, Serialize};

/// What a history says about an expectation. Violated beats unknown beats held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It held whenever it was put to the test, and that was at least once.
    Held {
        /// How often it was put to the test.
        exercised: usize,
    },
    /// It did not hold.
    Violated {
        /// How often it was put to the test.
        exercised: usize,
        /// What convicts.
        evidence: Vec<Evidence>,
    },
    /// Nobody can say. Not knowing is never a pass.
    Unknown {
        /// Why.
        why: String,
    },
}

/// Events that convict, and what they show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// What went wrong, in a sentence with names and times.
    pub says: String,
    /// The indices of the events that show it.
    pub events: Vec<usize>,
}

impl Verdict {
    /// The worse of two.
    #[must_use]
    pub fn worse(self, other: Self) -> Self {
        if other.badness() > self.badness() { other } else { self }
    }

    /// Whether it is a violation.
    pub fn is_violated(&self) -> bool {
        matches!(self, Verdict::Violated { .. })
    }

    /// Whether it held.
    pub fn is_held(&self) -> bool {
        matches!(self, Verdict::Held { .. })
    }

    fn badness(&self) -> u8 {
        match self {
            Verdict::Held { .. } => 0,
            Verdict::Unknown { .. } => 1,
            Verdict::Violated { .. } => 2,
        }
    }
}

/// Counts while a check goes through a history, and gives the verdict at the end.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    exercised: usize,
    evidence: Vec<Evidence>,
    doubts: Vec<String>,
}

impl Tally {
    /// It was put to the test once more.
    pub fn exercised(&mut self) {
        self.exercised += 1;
    }

    /// And failed.
    pub fn violated(&mut self, says: impl Into<String>, events: impl IntoIterator<Item = usize>) {
        self.evidence.push(Evidence { says: says.into(), events: events.into_iter().collect() });
    }

    /// A test of which nobody can say how it ended.
    pub fn doubtful(&mut self, why: impl Into<String>) {
        self.doubts.push(why.into());
    }

    /// The verdict; `never` says what would have had to happen for a test, if there was none.
    pub fn verdict(self, never: &str) -> Verdict {
        let Self { exercised, evidence, mut doubts } = self;
        if !evidence.is_empty() {
            return Verdict::Violated { exercised: exercised.max(evidence.len()), evidence };
        }
        if !doubts.is_empty() {
            return Verdict::Unknown { why: doubts.swap_remove(0) };
        }
        if exercised == 0 {
            return Verdict::Unknown { why: format!("never put to the test: {never}") };
        }
        Verdict::Held { exercised }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn violated_beats_unknown_beats_held_and_no_test_is_no_pass() {
        assert!(
            matches!(Tally::default().verdict("no pod was pending"), Verdict::Unknown { why } if why.contains("no pod"))
        );
        let mut tally = Tally::default();
        tally.exercised();
        assert_eq!(tally.clone().verdict(""), Verdict::Held { exercised: 1 });
        tally.doubtful("cut short");
        assert_eq!(tally.clone().verdict(""), Verdict::Unknown { why: "cut short".into() });
        tally.violated("gone", [3, 4]);
        assert!(tally.verdict("").is_violated());
    }
}
