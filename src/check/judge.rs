//! Asking a history all that it is about.
//!
//! What the scenario asked for is always told. What binds whatever a scenario is about is told when it was put to the
//! test. Whatever makes a whole history doubtful makes its verdicts unknown, here and not in each check; what happens
//! from the phase `account` on does not.

use std::any::Any;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::asserted::{Asserted, asserted};
use super::catalogue::find;
use super::{Expectation, Level, Name, Verdict, catalogue};
use crate::code::Code;
use crate::history::query::{TIE, fault_spells, overdue, phase_event, worst_lag};
use crate::history::{Event, History, Phase, StepEvent, SubjectChange, SubjectEvent, What};
use crate::terms::{Provider, Version};

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
    /// Its code, or the step of the scenario.
    pub code: Name,
    /// Its promise, or what the step waits for.
    pub promise: String,
    /// How binding it is; nothing for a step, and for a code that nobody knows.
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
    /// The worst verdict of all; unknown if there is none, or if nothing that was asked for applies.
    pub fn overall(&self) -> Verdict {
        let applies = |judged: &Judged| matches!(judged.outcome, Outcome::Judged(_));
        let mut asked = self.judged.iter().filter(|judged| judged.asked).peekable();
        let foreign = asked.peek().is_some() && !asked.any(applies);
        let verdicts = self.judged.iter().filter_map(|judged| match &judged.outcome {
            Outcome::Judged(verdict) => Some(verdict.clone()),
            Outcome::NotApplicable(_) => None,
        });
        let nothing = || Verdict::Unknown { why: "nothing in it was put to the test".to_owned() };
        let foreign =
            foreign.then(|| Verdict::Unknown { why: "nothing that was asked for applies".to_owned() });
        verdicts.chain(foreign).reduce(Verdict::worse).unwrap_or_else(nothing)
    }

    /// What was violated.
    pub fn violated(&self) -> BTreeSet<Name> {
        let violated =
            |judged: &&Judged| matches!(&judged.outcome, Outcome::Judged(verdict) if verdict.is_violated());
        self.judged.iter().filter(violated).map(|judged| judged.code.clone()).collect()
    }
}

/// Judges what the scenario asked for, and what always binds and was put to the test.
pub fn judge(history: &History) -> Judgement {
    let asked: BTreeSet<&Code> = history.header.scenario.claims().collect();
    let doubts = Doubts::of(history);
    let mut judged: Vec<Judged> = asked
        .iter()
        .map(|code| match find(code) {
            Some(expectation) => told(expectation, true, outcome(expectation, history, &doubts)),
            None => unheard_of(code),
        })
        .collect();
    for expectation in catalogue().into_iter().filter(|one| one.always && !asked.contains(&one.code)) {
        let subject = &history.header.subject;
        if applies(expectation, subject.provider, subject.version).is_err() {
            continue;
        }
        let verdict = caught(expectation.check, history);
        let silent = matches!(&verdict, Verdict::Unknown { why } if !why.contains(PANIC));
        if !silent {
            judged.push(told(expectation, false, Outcome::Judged(doubts.over(verdict, false))));
        }
    }
    judged.extend(asserted(history).map(|asserted| expected(asserted, &doubts)));
    judged.extend(overdue(history).map(|(_, step, instead)| unreached(step, instead)));
    judged.sort_by(|one, other| one.code.cmp(&other.code));
    Judgement { judged }
}

fn told(expectation: &Expectation, asked: bool, outcome: Outcome) -> Judged {
    let (code, promise) = (expectation.code.clone().into(), expectation.promise.to_owned());
    Judged { code, promise, level: Some(expectation.level), asked, outcome }
}

fn unheard_of(code: &Code) -> Judged {
    let why = format!("this version knows no expectation {code}: judge the history with a newer one");
    let outcome = Outcome::Judged(Verdict::Unknown { why });
    Judged { code: code.clone().into(), promise: String::new(), level: None, asked: true, outcome }
}

/// What a step of the scenario says itself.
fn expected(asserted: Asserted, doubts: &Doubts) -> Judged {
    let Asserted { step, promise, verdict } = asserted;
    let outcome = Outcome::Judged(doubts.over(verdict, true));
    Judged { code: Name::Step(step + 1), promise, level: None, asked: true, outcome }
}

/// What a step waited for has not come: whatever the scenario is about did not come to pass as it meant to.
fn unreached(step: &StepEvent, instead: &str) -> Judged {
    let outcome = Outcome::Judged(Verdict::Unknown { why: format!("it was overdue: {instead}") });
    Judged { code: Name::Step(step.step + 1), promise: step.says.clone(), level: None, asked: true, outcome }
}

fn outcome(expectation: &Expectation, history: &History, doubts: &Doubts) -> Outcome {
    let subject = &history.header.subject;
    match applies(expectation, subject.provider, subject.version) {
        Ok(()) => Outcome::Judged(doubts.over(caught(expectation.check, history), true)),
        Err(why) => Outcome::NotApplicable(why),
    }
}

/// Why nothing that is asked for is a promise of a subject. Nothing, if anything is, or if nothing is asked for.
pub fn nothing_applies<'a>(
    asked: impl IntoIterator<Item = &'a Code>,
    provider: Provider,
    version: Option<Version>,
) -> Option<String> {
    let mut reasons = BTreeSet::new();
    for code in asked {
        reasons.insert(applies(find(code)?, provider, version).err()?);
    }
    let reasons: Vec<String> = reasons.into_iter().collect();
    (!reasons.is_empty()).then(|| format!("nothing that it asks for applies: {}", reasons.join(", and ")))
}

/// Whether a promise is one of this subject; otherwise why not.
fn applies(expectation: &Expectation, provider: Provider, version: Option<Version>) -> Result<(), String> {
    if !expectation.providers.contains(&provider) {
        return Err(format!("it is no promise of the provider {provider}"));
    }
    if !expectation.versions.hold(version) {
        let version = version.map_or_else(|| "an unknown version".to_owned(), |version| version.to_string());
        return Err(format!("it is promised {}, and the subject is {version}", expectation.versions));
    }
    Ok(())
}

/// Stands between a doubt and what was seen in spite of it.
pub const SEEN: &str = "; what was seen of it ";
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

/// How late the harness itself was, and the event that tells it, if that was too much for any verdict.
pub fn too_late(history: &History) -> Option<(Duration, usize)> {
    worst_lag(before_account(history).0).filter(|(lag, _)| *lag > LAG_LIMIT)
}

/// What happened until everything was counted, and whether it came to that: nothing that happens later takes back what was seen.
fn before_account(history: &History) -> (&[Event], bool) {
    let counted = phase_event(history, Phase::Account);
    (&history.events[..counted.unwrap_or(history.events.len())], counted.is_some())
}

/// What makes a whole history doubtful.
struct Doubts {
    /// Nothing can be told at all.
    all: Option<String>,
    /// Only what was seen counts: what was not seen may still have come, or was never put to the test.
    rest: Option<String>,
    /// What the scenario asks about was not put to the test as it meant to.
    asked: Option<String>,
}

impl Doubts {
    fn of(history: &History) -> Self {
        let (events, counted) = before_account(history);
        let trouble = events.iter().find_map(|event| match &event.what {
            What::Trouble(words) => Some(format!("the harness had trouble: {words}")),
            _ => None,
        });
        let late = too_late(history).map(|(lag, event)| {
            format!(
                "the harness was {} ms late itself (event {event}): run it on a machine with less to do",
                lag.as_millis()
            )
        });
        let bitless = || never_bit(history).map(|name| format!("the fault {name} never hurt anybody"));
        let overdue = overdue(history).next();
        let overdue =
            overdue.map(|(_, step, instead)| format!("step {} was overdue: {instead}", step.step + 1));
        let cut_short = history.cut_short.as_ref().filter(|_| !counted);
        let cut_short = cut_short.map(|why| format!("the history is cut short: {why}"));
        // What a subject did that was never steady is its own doing all the same.
        let unsteady = events.iter().find_map(|event| match &event.what {
            What::Unsteady(words) => Some(format!("no step was done: {words}{}", misspoken(events))),
            _ => None,
        });
        let rest = unsteady.or(cut_short);
        Self { all: late.or(trouble), rest, asked: overdue.or_else(bitless) }
    }

    /// A verdict in the light of these. Whatever was decided in spite of them is told with them.
    fn over(&self, verdict: Verdict, asked: bool) -> Verdict {
        let doubt = match &verdict {
            // What was not put to the test because of it is unknown because of it.
            Verdict::Unknown { why } => {
                self.all.as_ref().or(self.rest.as_ref()).filter(|_| asked && !why.contains(PANIC))
            }
            Verdict::Violated { .. } => self.all.as_ref(),
            Verdict::Held { .. } => {
                let asked = self.asked.as_ref().filter(|_| asked);
                self.all.as_ref().or(self.rest.as_ref()).or(asked)
            }
        };
        let Some(doubt) = doubt else { return verdict };
        let seen = match &verdict {
            Verdict::Unknown { .. } => String::new(),
            Verdict::Held { .. } => format!("{SEEN}held"),
            Verdict::Violated { evidence, .. } => {
                let says = evidence.first().map_or("", |evidence| &evidence.says);
                format!("{SEEN}is a violation: {says}")
            }
        };
        Verdict::Unknown { why: format!("{doubt}{seen}") }
    }
}

/// What the subject and the door did not understand of each other, if anything was; reads after a reason.
fn misspoken(events: &[Event]) -> String {
    let words = events.iter().find_map(|event| match &event.what {
        What::Subject(SubjectEvent { replica, change: SubjectChange::Misspoke { why } }) => {
            Some(format!("; replica {replica} and the door cannot agree on TLS: {why}"))
        }
        _ => None,
    });
    words.unwrap_or_default()
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
