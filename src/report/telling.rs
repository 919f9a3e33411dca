//! What a run has to tell, as a plain value: history and judgement go in, and every short report comes out of it.
//!
//! It is also the shape of the JSON report, so its fields are stable: new ones may come, none changes its meaning.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::around::{around, written};
use super::moment::{lasted, ms, of_event};
use super::notes::Notes;
use super::repeat;
use crate::check::{Evidence, Judged, Judgement, Level, Name, Outcome, Verdict, catalogue, too_late};
use crate::code::Code;
use crate::history::query::missed;
use crate::history::{AccountEvent, History, StepEvent, What};
use crate::terms::{Provider, Version};

/// How many events are shown around those that convict.
const AROUND: usize = 4;
/// How many lines of the subject's log.
const LOG: usize = 5;

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Telling {
    /// The path of the scenario, as it was given.
    pub scenario: String,
    /// What the scenario claims.
    pub title: String,
    /// The profile of the subject.
    pub subject: String,
    /// How it buys nodes.
    pub provider: Provider,
    /// Its version, if anybody knows it.
    pub version: Option<Version>,
    /// The SHA-256 of its program, if it is a file.
    pub digest: Option<String>,
    /// Where it ran otherwise than its documents say.
    pub deviations: Vec<String>,
    /// Where the Kubernetes API came from.
    pub cluster: String,
    /// What everything that was drawn was drawn from.
    pub seed: u64,
    /// How time passed: `idle-skip`, a rate, or `real`.
    pub time: String,
    /// The virtual milliseconds from the beginning to the last event.
    pub lasted_ms: u64,
    /// The real milliseconds.
    pub took_ms: u64,
    /// The verdict over all findings.
    pub standing: Standing,
    /// What was judged, by code.
    pub findings: Vec<Finding>,
    /// The steps that waited in vain.
    #[serde(default)]
    pub overdue: Vec<Overdue>,
    /// What was left at the end, if the run came so far.
    pub account: Option<AccountEvent>,
    /// By how much the harness was late, in words, if that was too much for a verdict.
    #[serde(default)]
    pub late: Option<String>,
    /// The attempts before this one, in which it was.
    #[serde(default)]
    pub attempts: Vec<Attempt>,
    /// Why the history is not whole, if it is not.
    pub cut_short: Option<String>,
    /// The command that repeats it.
    pub repeat: String,
    /// Where its history is, if it is a file.
    pub history: Option<String>,
}

/// What came out. The later beats the earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// It is not this subject's promise.
    NotApplicable,
    /// It held whenever it was put to the test.
    Held,
    /// It was violated, and that is what the scenario wants to see: the harness has eyes.
    Convicted,
    /// Nobody can say.
    Unknown,
    /// It did not hold, or the harness did not see what it must see.
    Violated,
}

/// A step that waited in vain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overdue {
    /// Which, counted from 1.
    pub step: usize,
    /// What it waited for, in words.
    pub says: String,
    /// What was there instead.
    pub instead: String,
    /// Whether that is well: the scenario says that it may fail. Otherwise it is a finding, too.
    pub may_fail: bool,
    /// The index of the event in the history that says so.
    pub event: usize,
    /// The virtual milliseconds since the run began.
    pub at_ms: u64,
}

/// An attempt at a run in which the harness was too late for a verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// By how much, in words.
    pub late: String,
    /// The virtual milliseconds that it took.
    pub lasted_ms: u64,
    /// Where its history is, if it is a file.
    pub history: Option<String>,
}

impl Attempt {
    /// What is kept of a run when it is done again.
    pub fn of(telling: &Telling) -> Self {
        let (late, history) = (telling.late.clone().unwrap_or_default(), telling.history.clone());
        Self { late, lasted_ms: telling.lasted_ms, history }
    }
}

/// What was found out about one expectation, or about a step of the scenario.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Its code, or `step 4`.
    pub code: Name,
    /// Its promise; empty for a code that nobody knows.
    pub promise: String,
    /// How binding it is.
    pub level: Option<Level>,
    /// Where it is promised.
    pub cited: Vec<Cited>,
    /// Whether the scenario asked for it.
    pub asked: bool,
    /// What came out.
    pub standing: Standing,
    /// How often it was put to the test, as far as that is known.
    pub exercised: Option<usize>,
    /// Why nobody can say, or why it does not apply, or what is wrong with the harness.
    pub why: Option<String>,
    /// What convicts.
    pub proofs: Vec<Proof>,
}

/// Where something is promised.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cited {
    /// The document, with heading or flag, or the issue.
    pub document: String,
    /// Its address.
    pub url: String,
}

/// One thing that went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// What, in a sentence.
    pub says: String,
    /// The events that show it.
    pub events: Vec<Shown>,
    /// A few events around them.
    pub around: Vec<Shown>,
    /// What the subject wrote about then, as far as it is near and names the same.
    #[serde(default)]
    pub log: Vec<Shown>,
}

/// An event as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// Its index in the history.
    pub event: usize,
    /// The virtual milliseconds since the run began.
    pub at_ms: u64,
    /// In words.
    pub says: String,
}

/// How many of what came out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// That held, or were convicted as they must be.
    pub held: usize,
    /// That were violated.
    pub violated: usize,
    /// That nobody can say.
    pub unknown: usize,
    /// That do not apply.
    pub not_applicable: usize,
}

impl Telling {
    /// What a run has to tell; `stored` is where its history is.
    pub fn of(history: &History, judgement: &Judgement, stored: Option<&str>) -> Self {
        Self::told(history, judgement, stored, &[])
    }

    /// The same of a subject that is wrong on purpose: what the scenario names under `convicts` is wanted. Whoever gives a history
    /// away writes that name; so this is for those alone who ask for it.
    pub fn of_wrong_subject(history: &History, judgement: &Judgement, stored: Option<&str>) -> Self {
        Self::told(history, judgement, stored, &history.header.scenario.convicts)
    }

    fn told(history: &History, judgement: &Judgement, stored: Option<&str>, convicts: &[Code]) -> Self {
        let header = &history.header;
        let notes = Notes::of(history);
        let findings: Vec<Finding> =
            judgement.judged.iter().map(|judged| finding(history, &notes, judged, convicts)).collect();
        let standing = standing(&findings);
        let account = history.events.iter().rev().find_map(|event| match &event.what {
            What::Account(account) => Some(account.clone()),
            _ => None,
        });
        Self {
            scenario: header.scenario.path.clone(),
            title: header.scenario.title.clone(),
            subject: header.subject.profile.clone(),
            provider: header.subject.provider,
            version: header.subject.version,
            digest: header.subject.digest.clone(),
            deviations: header.subject.deviations.clone(),
            cluster: header.cluster.kind.clone(),
            seed: header.seed,
            time: header.time.clone(),
            lasted_ms: ms(lasted(history)),
            took_ms: history.events.last().map_or(0, |event| event.real_us / 1000),
            standing,
            findings,
            overdue: overdue(history),
            account,
            late: too_late(history)
                .map(|(late, _)| format!("the harness was {} ms late itself", late.as_millis())),
            attempts: Vec::new(),
            cut_short: history.cut_short.clone(),
            repeat: repeat::command(header),
            history: stored.map(str::to_owned),
        }
    }

    /// How many findings of which kind.
    pub fn totals(&self) -> Totals {
        Totals::of(self.findings.iter().map(|finding| finding.standing))
    }

    /// Whether anything that the scenario asks for was decided.
    pub fn is_judged_on_claim(&self) -> bool {
        let decided = [Standing::Held, Standing::Convicted, Standing::Violated];
        self.findings.iter().any(|finding| finding.asked && decided.contains(&finding.standing))
    }

    /// In how many scenarios something was decided that they ask for.
    pub fn judged_on_claim(tellings: &[Telling]) -> usize {
        let judged = tellings.iter().filter(|telling| telling.is_judged_on_claim());
        judged.map(|telling| &telling.scenario).collect::<BTreeSet<_>>().len()
    }

    /// The findings of a standing.
    pub fn that(&self, standing: Standing) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |finding| finding.standing == standing)
    }
}

impl Standing {
    /// Over many runs. Nothing judged is unknown.
    pub fn of_all(tellings: &[Telling]) -> Standing {
        tellings.iter().map(|telling| telling.standing).max().unwrap_or(Standing::Unknown)
    }

    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Standing::Held => "held",
            Standing::Convicted => "convicted",
            Standing::Violated => "violated",
            Standing::Unknown => "unknown",
            Standing::NotApplicable => "not applicable",
        }
    }
}

impl Totals {
    /// Counts.
    pub fn of(standings: impl IntoIterator<Item = Standing>) -> Self {
        let mut totals = Self::default();
        for standing in standings {
            *match standing {
                Standing::Held | Standing::Convicted => &mut totals.held,
                Standing::Violated => &mut totals.violated,
                Standing::Unknown => &mut totals.unknown,
                Standing::NotApplicable => &mut totals.not_applicable,
            } += 1;
        }
        totals
    }
}

/// The worst of what was found. What holds for any scenario is no answer to one of which nothing applies.
fn standing(findings: &[Finding]) -> Standing {
    let asked = || findings.iter().filter(|finding| finding.asked).map(|finding| finding.standing);
    let worst = findings.iter().map(|finding| finding.standing).max().unwrap_or(Standing::Unknown);
    let foreign = asked().next().is_some() && asked().all(|standing| standing == Standing::NotApplicable);
    if foreign && worst <= Standing::Held { Standing::NotApplicable } else { worst }
}

fn finding(history: &History, notes: &Notes<'_>, judged: &Judged, convicts: &[Code]) -> Finding {
    let wanted = judged.code.code().is_some_and(|code| convicts.contains(code));
    // A subject that is wrong on purpose may break more than it is known for.
    let forgiven = wanted || (!convicts.is_empty() && !judged.asked);
    let mut finding = Finding {
        code: judged.code.clone(),
        promise: judged.promise.clone(),
        level: judged.level,
        cited: cited(&judged.code, history.header.subject.provider),
        asked: judged.asked,
        standing: Standing::Unknown,
        exercised: None,
        why: None,
        proofs: Vec::new(),
    };
    match &judged.outcome {
        Outcome::NotApplicable(why) => {
            (finding.standing, finding.why) = (Standing::NotApplicable, Some(why.clone()));
        }
        Outcome::Judged(Verdict::Unknown { why }) => finding.why = Some(why.clone()),
        Outcome::Judged(Verdict::Held { exercised }) => {
            finding.exercised = Some(*exercised);
            finding.standing = if wanted { Standing::Violated } else { Standing::Held };
            finding.why = wanted.then(|| {
                "the scenario wants to see this subject convicted of it, and it was not: the check is blind"
                    .to_owned()
            });
        }
        Outcome::Judged(Verdict::Violated { exercised, evidence }) => {
            finding.exercised = Some(*exercised);
            finding.standing = if forgiven { Standing::Convicted } else { Standing::Violated };
            finding.proofs = evidence.iter().map(|evidence| proof(history, notes, evidence)).collect();
        }
    }
    finding
}

fn overdue(history: &History) -> Vec<Overdue> {
    let told = |(event, step, instead): (usize, &StepEvent, &str)| Overdue {
        step: step.step + 1,
        says: step.says.clone(),
        instead: instead.to_owned(),
        may_fail: step.may_fail,
        event,
        at_ms: of_event(history, event).map_or(0, ms),
    };
    missed(history).map(told).collect()
}

/// Where something is promised; the subject's own documents first.
fn cited(name: &Name, provider: Provider) -> Vec<Cited> {
    let expectation = catalogue().into_iter().find(|expectation| *name == expectation.code);
    let cites = expectation.map_or(&[][..], |expectation| expectation.cite);
    let cited = cites.iter().map(|cite| Cited { document: cite.where_.to_owned(), url: cite.url.to_owned() });
    let mut cited: Vec<Cited> = cited.collect();
    cited.sort_by_key(|cited| (provider == Provider::Karpenter) != cited.document.starts_with("Karpenter"));
    cited
}

fn proof(history: &History, notes: &Notes<'_>, evidence: &Evidence) -> Proof {
    let show = |event: &usize| Shown {
        event: *event,
        at_ms: of_event(history, *event).map_or(0, ms),
        says: notes.says(*event),
    };
    Proof {
        says: evidence.says.clone(),
        events: evidence.events.iter().map(show).collect(),
        around: around(history, notes, &evidence.events, AROUND).iter().map(show).collect(),
        log: written(history, &evidence.events, LOG).iter().map(show).collect(),
    }
}
