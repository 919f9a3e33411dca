//! One line of live progress, as a pure function. Who draws it, and how often, is not decided here.

use std::time::Duration;

use super::moment::since_start;
use super::notes::phase_word;
use super::telling::Totals;
use super::text::printable;
use crate::history::Phase;

/// What a run looks like at a moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress<'a> {
    /// The scenario that runs.
    pub scenario: &'a str,
    /// The phase it is in, once it has begun.
    pub phase: Option<Phase>,
    /// What is being done.
    pub step: &'a str,
    /// Virtual time since the run began.
    pub since: Duration,
    /// Servers there are.
    pub servers: usize,
    /// Nodes there are, and how many of them are ready.
    pub nodes: usize,
    /// Of these.
    pub ready: usize,
    /// Pods that wait.
    pub pending: usize,
    /// Pods that run.
    pub running: usize,
    /// Verdicts of the runs before this one.
    pub so_far: Totals,
}

impl Progress<'_> {
    /// The line, not wider than `width` characters. What is left out first is the end of the step, then of the scenario.
    ///
    /// ```
    /// use std::time::Duration;
    /// use scaleproof::report::Progress;
    ///
    /// let progress = Progress { scenario: "suites/a.yaml", step: "deploy web", servers: 2, ..Progress::default() };
    /// assert_eq!(
    ///     progress.line(100),
    ///     "suites/a.yaml  start +0s  servers 2  nodes 0/0  pods 0+0 pending  ok 0 bad 0 ? 0  deploy web"
    /// );
    /// assert_eq!(progress.line(20).chars().count(), 20);
    /// ```
    pub fn line(&self, width: usize) -> String {
        let phase = self.phase.map_or("start", phase_word);
        let state = format!(
            "  {phase} +{}  servers {}  nodes {}/{}  pods {}+{} pending  ok {} bad {} ? {}  ",
            since_start(self.since),
            self.servers,
            self.ready,
            self.nodes,
            self.running,
            self.pending,
            self.so_far.held,
            self.so_far.violated,
            self.so_far.unknown,
        );
        let fixed = state.chars().count();
        let scenario = shortened(self.scenario, width.saturating_sub(fixed).max(12));
        let left = width.saturating_sub(fixed + scenario.chars().count());
        let step = shortened(self.step, left);
        shortened(format!("{scenario}{state}{step}").trim_end(), width)
    }
}

/// A text that is not longer than that, with a sign that something is missing.
fn shortened(text: &str, width: usize) -> String {
    let text = printable(text);
    if text.chars().count() <= width {
        return text;
    }
    let mut kept: String = text.chars().take(width.saturating_sub(1)).collect();
    if width > 0 {
        kept.push('…');
    }
    kept
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_line_fits_and_is_one_line(
            scenario in any::<String>(),
            step in any::<String>(),
            width in 0_usize..200,
            servers in any::<usize>(),
        ) {
            let progress = Progress { scenario: &scenario, step: &step, servers, ..Progress::default() };
            let line = progress.line(width);
            prop_assert!(line.chars().count() <= width);
            prop_assert!(!line.contains(char::is_control));
        }
    }
}
