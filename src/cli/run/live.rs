//! How runs go, on a terminal: a line for each that runs and one for all of them, below what is printed. Where there is
//! no terminal, a line when a run begins. It all goes to standard error; standard output holds results only.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use crate::cli::complain;
use crate::report::{Progress, Standing, Totals};

/// Who shows it.
pub(super) struct Live {
    all: usize,
    begun: usize,
    standings: Vec<Standing>,
    screen: Option<Screen>,
}

struct Screen {
    lines: MultiProgress,
    runs: BTreeMap<usize, ProgressBar>,
    overall: ProgressBar,
}

impl Live {
    /// For so many runs.
    pub(super) fn new(all: usize) -> Self {
        let screen = std::io::stderr().is_terminal().then(|| {
            let lines = MultiProgress::new();
            let overall = lines.add(line());
            Screen { lines, runs: BTreeMap::new(), overall }
        });
        let live = Self { all, begun: 0, standings: Vec::new(), screen };
        live.tell_overall();
        live
    }

    /// So many more runs.
    pub(super) fn expect_more(&mut self, runs: usize) {
        self.all += runs;
        self.tell_overall();
    }

    /// Whether anybody wants to know how a run goes.
    pub(super) fn looks(&self) -> bool {
        self.screen.is_some()
    }

    /// A run begins.
    pub(super) fn begin(&mut self, number: usize, scenario: &str, seed: u64) {
        self.begun += 1;
        match &mut self.screen {
            None => complain(&format!("[{}/{}] {scenario}, seed {seed}", self.begun, self.all)),
            Some(screen) => {
                let bar = screen.lines.insert_before(&screen.overall, line());
                bar.set_message(scenario.to_owned());
                screen.runs.insert(number, bar);
            }
        }
    }

    /// A run goes on.
    pub(super) fn go_on(&self, number: usize, progress: &Progress) {
        if let Some(bar) = self.screen.as_ref().and_then(|screen| screen.runs.get(&number)) {
            bar.set_message(progress.line(width()));
        }
    }

    /// A run is over.
    pub(super) fn end(&mut self, number: usize) {
        if let Some(screen) = &mut self.screen
            && let Some(bar) = screen.runs.remove(&number)
        {
            bar.finish_and_clear();
            screen.lines.remove(&bar);
        }
    }

    /// What came out of a run.
    pub(super) fn judged(&mut self, standing: Standing) {
        self.standings.push(standing);
        self.tell_overall();
    }

    /// Prints something, with the lines out of the way.
    pub(super) fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        match &self.screen {
            Some(screen) => screen.lines.suspend(print),
            None => print(),
        }
    }

    fn tell_overall(&self) {
        if let Some(screen) = &self.screen {
            let so_far = Totals::of(self.standings.iter().copied());
            screen.overall.set_message(so_far.line(self.all));
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        if let Some(screen) = &self.screen {
            let _ = screen.lines.clear();
        }
    }
}

fn line() -> ProgressBar {
    let bar = ProgressBar::no_length();
    bar.set_style(ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar
}

/// How wide a line may be.
fn width() -> usize {
    usize::from(console::Term::stderr().size().1).saturating_sub(1)
}
