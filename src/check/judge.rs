//! Asking a history all that it is about.
//!
//! What the scenario asked for is always told. What binds whatever a scenario is about is told when it was put to the
//! test. Whatever makes a whole history doubtful makes its verdicts unknown, here and not in each check.

use std::any::Any;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::catalogue::find;
use super::{Expectation, Level, Verdict, catalogue};
use crate::code::Code;
use crate::history::query::{TIE, fault_spells, worst_lag};
use crate::history::{History, What};

/// Beyond this the harness was too late itself to say who came first, or that something came too late.
pub const LAG_LIMIT: Duration = TIE;

/// What a history says about all that it is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    /// By code.
    pub judged: Vec<Judged>,
}

/// What a history says about one expectation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// Its code.
    pub code: Code,
    /// Its promise.
    pub promise: String,
    /// How binding it is; nothing for a code that nobody knows.
    pub level: Option<Level>,
    /// Whether the scenario asked for it.
    pub asked: bool,
    /// What came out.
    pub outcome: Outcome,
}

/// What came out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It was judged.
    Judged(Verdict),
    /// It is not this subject's promise; why not.
    NotApplicable(String),
}

impl Judgement {
    /// The worst verdict of all; unknown if there is none.
    pub fn overall(&self) -> Verdict {
        let verdicts = self.judged.iter().filter_map(|judged| match &judged.outcome {
            Outcome::Judged(verdict) => Some(verdict.clone()),
            Outcome::NotApplicable(_) => None,
        });
        let nothing = || Verdict::Unknown { why: "nothing in it was put to the test".to_owned() };
        verdicts.reduce(Verdict::worse).unwrap_or_else(nothing)
    }

    /// The codes that were violated.
    pub fn violated(&self) -> BTreeSet<Code> {
        let violated =
            |judged: &&Judged| matches!(&judged.outcome, Outcome::Judged(verdict) if verdict.is_violated());
        self.judged.iter().filter(violated).map(|judged| judged.code.clone()).collect()
    }
}

/// Judges what the scenario asked for, and what always binds and was put to the test.
pub fn judge(history: &History) -> Judgement {
    let scenario = &history.header.scenario;
    let asked: BTreeSet<&Code> = scenario.expect.iter().chain(&scenario.convicts).collect();
    let doubts = Doubts::of(history);
    let mut judged: Vec<Judged> = asked
        .iter()
        .map(|code| match find(code) {
            Some(expectation) => told(expectation, true, outcome(expectation, history, &doubts, true)),
            None => unheard_of(code),
        })
        .collect();
    for expectation in catalogue().into_iter().filter(|one| one.always && !asked.contains(&one.code)) {
        let outcome = outcome(expectation, history, &doubts, false);
        let says = match &outcome {
            Outcome::Judged(Verdict::Unknown { why }) => why.contains(PANIC),
            Outcome::Judged(_) => true,
            Outcome::NotApplicable(_) => false,
        };
        if says {
            judged.push(told(expectation, false, outcome));
        }
    }
    judged.sort_by(|one, other| one.code.cmp(&other.code));
    Judgement { judged }
}

fn told(expectation: &Expectation, asked: bool, outcome: Outcome) -> Judged {
    let (code, promise) = (expectation.code.clone(), expectation.promise.to_owned());
    Judged { code, promise, level: Some(expectation.level), asked, outcome }
}

fn unheard_of(code: &Code) -> Judged {
    let why = format!("this version knows no expectation {code}: judge the history with a newer one");
    let outcome = Outcome::Judged(Verdict::Unknown { why });
    Judged { code: code.clone(), promise: String::new(), level: None, asked: true, outcome }
}

fn outcome(expectation: &Expectation, history: &History, doubts: &Doubts, asked: bool) -> Outcome {
    let subject = &history.header.subject;
    if !expectation.providers.contains(&subject.provider) {
        return Outcome::NotApplicable(format!("it is no promise of the provider {}", subject.provider));
    }
    if !expectation.versions.hold(subject.version) {
        let version =
            subject.version.map_or_else(|| "an unknown version".to_owned(), |version| version.to_string());
        let of = expectation.versions;
        return Outcome::NotApplicable(format!("it is promised {of}, and the subject is {version}"));
    }
    Outcome::Judged(doubts.over(caught(expectation.check, history), asked))
}

const PANIC: &str = "the check itself failed";

/// The verdict of a check, whatever it does: a panic is our fault, and unknown.
fn caught(check: fn(&History) -> Verdict, history: &History) -> Verdict {
    catch_unwind(AssertUnwindSafe(|| check(history))).unwrap_or_else(|panic| {
        let why = format!("{PANIC}, which is a bug of scaleproof: {}", words(panic.as_ref()));
        Verdict::Unknown { why }
    })
}

fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it does not say why")
}

/// What makes a whole history doubtful.
struct Doubts {
    /// Nothing can be told at all.
    all: Option<String>,
    /// Only what was seen counts: what was not seen may still have come.
    rest: Option<String>,
    /// What the scenario asks about was not put to the test as it meant to.
    asked: Option<String>,
}

impl Doubts {
    fn of(history: &History) -> Self {
        let trouble = history.events.iter().find_map(|event| match &event.what {
            What::Trouble(words) => Some(format!("the harness had trouble: {words}")),
            _ => None,
        });
        let late = worst_lag(history).filter(|(lag, _)| *lag > LAG_LIMIT).map(|(lag, event)| {
            format!(
                "the harness was {} ms late itself (event {event}): run it on a machine with less to do",
                lag.as_millis()
            )
        });
        let bitless = never_bit(history).map(|name| format!("the fault {name} never hurt anybody"));
        let rest = history.cut_short.as_ref().map(|why| format!("the history is cut short: {why}"));
        Self { all: late.or(trouble), rest, asked: bitless }
    }

    fn over(&self, verdict: Verdict, asked: bool) -> Verdict {
        let unknown = |why: &String| Verdict::Unknown { why: why.clone() };
        let doubt = self.rest.as_ref().or(self.asked.as_ref().filter(|_| asked));
        match (verdict, &self.all, doubt) {
            // What was not put to the test because of it is unknown because of it.
            (Verdict::Unknown { why }, Some(trouble), _) if asked && !why.contains(PANIC) => unknown(trouble),
            (Verdict::Held { .. } | Verdict::Violated { .. }, Some(why), _)
            | (Verdict::Held { .. }, None, Some(why)) => unknown(why),
            (verdict, _, _) => verdict,
        }
    }
}

/// A fault that was healed, or was there to the end, without having hurt anybody.
fn never_bit(history: &History) -> Option<String> {
    let counted = history.events.iter().find_map(|event| match &event.what {
        What::Account(account) => account.never_bit.first().cloned(),
        _ => None,
    });
    counted.or_else(|| {
        fault_spells(history).into_iter().find(|fault| fault.bit.is_none()).map(|fault| fault.name)
    })
}
