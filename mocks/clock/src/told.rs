//! How a program is told on its command line how time passes: the same words for every program that has a clock.
//!
//! What is meant if nothing is said is the program's own matter; [`TimeArguments::clock`] has what is meant by those
//! that may belong to a run.

use clap::Args;

use crate::error::ClockError;
use crate::machine;
use crate::mode::Mode;
use crate::rate::Rate;
use crate::time::Time;
use crate::virtual_clock::{PAGE_VARIABLE, VirtualClock};

/// Arguments of a program that say how time passes.
///
/// ```
/// use clap::Parser;
/// use mock_clock::{Mode, TimeArguments};
///
/// #[derive(Parser)]
/// struct Arguments {
///     #[command(flatten)]
///     time: TimeArguments,
/// }
///
/// let told = Arguments::try_parse_from(["program", "--idle-skip", "--start", "2038-01-19"])?;
/// assert_eq!(told.time.mode(), Some(Mode::default()));
/// assert!(told.time.clock(None)?.status().to_string().starts_with("virtual time is 2038-01-19T00:00:00."));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Args, Clone, Copy, Debug)]
pub struct TimeArguments {
    /// Skip time in which nobody does anything who shares the clock
    #[arg(long, conflicts_with_all = ["rate", "real"])]
    idle_skip: bool,

    /// Let time pass so many times faster, from 1 to 100
    #[arg(long, value_name = "N", conflicts_with = "real", value_parser = rate)]
    rate: Option<Rate>,

    /// Let time pass as it does elsewhere
    #[arg(long)]
    real: bool,

    /// The date at which virtual time starts, or the moment: 2038-01-19, 2038-01-19T03:14:07Z [default: now]
    #[arg(long, value_name = "DATE", value_parser = date)]
    start: Option<Time>,
}

impl TimeArguments {
    /// How time passes, if that was said.
    pub fn mode(&self) -> Option<Mode> {
        match self.rate {
            Some(rate) => Some(Mode::Constant(rate)),
            None if self.idle_skip => Some(Mode::default()),
            None if self.real => Some(Mode::Real),
            None => None,
        }
    }

    /// When time starts, if that was said.
    pub fn start(&self) -> Option<Time> {
        self.start
    }

    /// The clock that was asked for. If nothing was said it is that of the run this process belongs to, and real
    /// time outside of one.
    ///
    /// Time that is ours does not start before `not_before`.
    pub fn clock(&self, not_before: Option<Time>) -> Result<VirtualClock, ClockError> {
        let Some(mode) = self.mode_of_member() else { return VirtualClock::join() };
        let start = self.start.unwrap_or_else(|| Time::from_unix_nanos(machine::wall()));
        let later = not_before.filter(|moment| mode != Mode::Real && *moment > start);
        VirtualClock::start(mode, later.or(self.start))
    }

    /// Whose time [`Self::clock`] is, for the user.
    pub fn in_words(&self) -> String {
        match self.mode_of_member() {
            None => "the clock of the run".to_owned(),
            Some(Mode::Constant(rate)) => format!("{rate} times real time"),
            Some(mode) => mode.to_string(),
        }
    }

    /// How time passes, if it is ours to say. Who names a date does not mean the run's.
    fn mode_of_member(&self) -> Option<Mode> {
        let in_a_run = std::env::var_os(PAGE_VARIABLE).is_some() && self.start.is_none();
        self.mode().or_else(|| (!in_a_run).then_some(Mode::Real))
    }
}

fn rate(text: &str) -> Result<Rate, String> {
    text.parse().map_err(|e: crate::RateError| format!("failed to {e}"))
}

/// A moment, or the beginning of a day.
fn date(text: &str) -> Result<Time, String> {
    let moment = text.parse::<Time>();
    moment.or_else(|e| format!("{text}T00:00:00Z").parse().map_err(|_| format!("failed to {e}")))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::clock::Clock as _;

    #[derive(Debug, Parser)]
    struct Arguments {
        #[command(flatten)]
        time: TimeArguments,
    }

    fn told(words: &str) -> Result<TimeArguments, String> {
        let words = ["program"].into_iter().chain(words.split_whitespace());
        Arguments::try_parse_from(words).map(|told| told.time).map_err(|e| e.to_string())
    }

    #[test]
    fn each_mode_has_its_word() {
        let mode = |words| told(words).unwrap().mode();
        assert_eq!(mode(""), None);
        assert_eq!(mode("--idle-skip"), Some(Mode::default()));
        assert_eq!(mode("--rate 20"), Some(Mode::Constant(Rate::new(20.0).unwrap())));
        assert_eq!(mode("--real"), Some(Mode::Real));
    }

    #[test]
    fn two_modes_are_one_too_many() {
        for words in ["--rate 5 --idle-skip", "--rate 5 --real", "--idle-skip --real"] {
            assert!(told(words).unwrap_err().contains("cannot be used with"), "{words}");
        }
    }

    #[test]
    fn a_start_is_a_day_or_a_moment() {
        for (words, start) in [
            ("--start 2038-01-19", "2038-01-19T00:00:00Z"),
            ("--start 2038-01-19T03:14:07.5Z", "2038-01-19T03:14:07.5Z"),
            ("--start 2038-01-19T03:14:07+01:00", "2038-01-19T02:14:07Z"),
        ] {
            assert_eq!(told(words).unwrap().start(), Some(start.parse().unwrap()), "{words}");
        }
        for words in
            ["--start tomorrow", "--start 2038-02-30", "--start 1969-12-31", "--start 2038-01-19T03:14:07"]
        {
            let refusal = told(words).unwrap_err();
            assert!(refusal.contains("failed to"), "{refusal}");
        }
    }

    #[test]
    fn real_time_has_no_start() {
        for words in ["--start 2038-01-19", "--start 2038-01-19 --real"] {
            let refusal = told(words).unwrap().clock(None).unwrap_err().to_string();
            assert!(refusal.contains("real time has the machine's date"), "{refusal}");
        }
    }

    #[test]
    fn time_starts_at_the_later_of_two_moments() {
        let told = told("--rate 1 --start 2038-01-19").unwrap();
        let start = told.start().unwrap();
        for (not_before, first) in [
            (None, start),
            (Some(Time::EPOCH), start),
            (Some("2039-01-01T00:00:00Z".parse().unwrap()), "2039-01-01T00:00:00Z".parse().unwrap()),
        ] {
            let now = told.clock(not_before).unwrap().now();
            assert!(now >= first && now - first < std::time::Duration::from_secs(3600), "{now}");
        }
    }
}
