//! Steps of a scenario that say themselves what must be so: `expect: {running: web, within: 10m}`.
//!
//! A step's time begins with the step. What must be so within it is decided by the first event that shows it; what must be so
//! throughout it, or never, by the first that shows otherwise, or by its end; what is so only between events of the same moment
//! is not so. A time that the run did not reach decides nothing, and neither does what came less than [`TIE`] too late. Once all
//! is counted nothing is expected any more.

use std::time::Duration;

use mock_clock::Time;
use serde_json::Value;

use super::{Evidence, Verdict};
use crate::history::query::{TIE, phase_event};
use crate::history::{Event, History, Phase};
use crate::matter::Watch;
use crate::scenario::{Expect, Matter, Span, When};

/// A step and what came out of it.
pub(super) struct Asserted {
    /// Its number, from 0.
    pub(super) step: usize,
    /// What must be so, in words.
    pub(super) promise: String,
    pub(super) verdict: Verdict,
}

/// All such steps of a plan, as a history stores it.
pub(super) fn asserted(history: &History) -> impl Iterator<Item = Asserted> {
    let steps = history.header.plan["steps"].as_array().map_or(&[][..], Vec::as_slice);
    let expects = |(step, planned): (usize, &Value)| {
        let written = planned["act"].get("expect")?;
        let says = planned["says"].as_str().unwrap_or_default();
        let promise = says.strip_prefix("expect ").unwrap_or(says).to_owned();
        let verdict = serde_json::from_value(written.clone()).map_or_else(
            |_| unknown("this version cannot read what was expected: judge the history with a newer one"),
            |expect| judged(history, step, &expect),
        );
        Some(Asserted { step, promise, verdict })
    };
    steps.iter().enumerate().filter_map(expects)
}

fn unknown(why: impl Into<String>) -> Verdict {
    Verdict::Unknown { why: why.into() }
}

fn judged(history: &History, step: usize, expect: &Expect) -> Verdict {
    let Some(begun) = history.events.iter().position(|event| event.begins(step)) else {
        return unknown("the run did not come to this step");
    };
    let Span::Fixed(period) = expect.when.span() else {
        return unknown("the plan does not say for how long");
    };
    let counted = phase_event(history, Phase::Account);
    let events = &history.events[..counted.map_or(history.events.len(), |counted| counted + 1)];
    Trial::new(history, events, begun, period.0, expect).verdict(expect)
}

/// A step's time, as it was seen.
struct Trial<'a> {
    events: &'a [Event],
    begun: usize,
    from: Time,
    to: Time,
    watch: Watch<'a>,
}

impl<'a> Trial<'a> {
    fn new(
        history: &History,
        events: &'a [Event],
        begun: usize,
        period: Duration,
        expect: &'a Expect,
    ) -> Self {
        let watch = Watch::new(&expect.matter, history.header.subject.provider);
        let from = events[begun].at;
        // A bill is told when the time is over.
        let late = if matches!(expect.matter, Matter::Bill { .. }) { TIE } else { Duration::ZERO };
        Self { events, begun, from, to: from + period + late, watch }
    }

    fn verdict(mut self, expect: &Expect) -> Verdict {
        for event in &self.events[..=self.begun] {
            self.watch.see(event);
        }
        self.watch.begin(self.from);
        let wanted = !matches!(expect.when, When::Never(_));
        // What decides is, within a time, that it is so; otherwise that it is not as it must be.
        let deciding = |so: bool| (so == wanted) == matches!(expect.when, When::Within(_));
        let (mut last, mut changed) = (self.begun, false);
        let mut decided = deciding(self.watch.state().so).then_some(self.begun);
        for (number, event) in self.events.iter().enumerate().skip(self.begun + 1) {
            if decided.is_some() || event.at > self.to {
                break;
            }
            if self.watch.see(event) {
                (last, changed) = (number, true);
            }
            // What is so only between two events of one moment was never so.
            let moment_goes_on = self.events.get(number + 1).is_some_and(|next| next.at == event.at);
            if changed && !moment_goes_on {
                changed = false;
                decided = deciding(self.watch.state().so).then_some(last);
            }
        }
        let says = self.watch.state().says;
        let whole = self.events.last().is_some_and(|event| event.at >= self.to);
        let within = matches!(expect.when, When::Within(_));
        match decided {
            Some(event) if !within => self.violated(&says, event),
            None if !whole => {
                let seen = self.events.last().map_or(Duration::ZERO, |event| event.at - self.from);
                let (seen, all) = (seen.as_secs(), (self.to - self.from).as_secs());
                unknown(format!("the run was over after {seen} of its {all} s: {says}"))
            }
            None if within && self.comes_just_too_late(last) => {
                unknown(format!("it came less than {} s too late, which nobody can tell", TIE.as_secs()))
            }
            None if within => self.violated(&says, last),
            Some(_) | None => Verdict::Held { exercised: 1 },
        }
    }

    /// Whether it is so soon after its time.
    fn comes_just_too_late(&mut self, seen: usize) -> bool {
        let mut rest = self.events.iter().skip(seen + 1).take_while(|event| event.at <= self.to + TIE);
        rest.any(|event| self.watch.see(event) && self.watch.state().so)
    }

    fn violated(&self, says: &str, event: usize) -> Verdict {
        let after = (self.events[event].at - self.from).as_secs();
        let (says, events) = if event == self.begun {
            (format!("{says}, from the beginning of the step on"), vec![event])
        } else {
            (format!("{says}, {after} s after the step began"), vec![self.begun, event])
        };
        Verdict::Violated { exercised: 1, evidence: vec![Evidence { says, events }] }
    }
}
