//! Runs as `JUnit` XML: a suite for each run, a test case for each expectation.
//!
//! Which cases a suite has does not depend on what came out: the expectations that the scenario asks for, and all that always
//! bind this provider, of which one that was not put to the test is skipped; each step that is judged itself; and `steps`, that none
//! of the others has waited in vain. Violated is a failure, unknown an error of type `unknown`, not applicable is skipped. Times are
//! real; how long a run was in virtual time is a property, and so is each step that waited in vain and may.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};

use super::telling::{Finding, Standing, Telling};
use super::text::{self, Paint};
use crate::check::{Name, catalogue};

/// The report of these runs.
pub fn document(tellings: &[Telling]) -> Result<String, quick_junit::SerializeError> {
    let mut report = Report::new("scaleproof");
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for telling in tellings {
        let time = times.entry(&telling.scenario).or_default();
        *time += 1;
        report.add_test_suite(suite(telling, *time));
    }
    report.to_string()
}

/// A run; of several runs of one scenario, the first keeps its name.
fn suite(telling: &Telling, time: usize) -> TestSuite {
    let name = match time {
        1 => telling.scenario.clone(),
        _ => format!("{} (run {time})", telling.scenario),
    };
    let mut suite = TestSuite::new(name.clone());
    suite.set_time(Duration::from_millis(telling.took_ms));
    let facts = [
        ("title", telling.title.clone()),
        ("subject", telling.subject.clone()),
        ("seed", telling.seed.to_string()),
        ("time", telling.time.clone()),
        ("virtual_ms", telling.lasted_ms.to_string()),
        ("repeat", telling.repeat.clone()),
    ];
    for (name, value) in facts {
        suite.add_property(Property::new(name, value));
    }
    for late in telling.overdue.iter().filter(|late| late.may_fail) {
        suite.add_property(Property::new("overdue", text::overdue(late)));
    }
    for attempt in &telling.attempts {
        suite.add_property(Property::new("given up", text::given_up(attempt)));
    }
    let overdue =
        |finding: &&Finding| telling.overdue.iter().any(|late| finding.code == Name::Step(late.step));
    let found: BTreeMap<&Name, &Finding> = telling
        .findings
        .iter()
        .filter(|finding| !overdue(finding))
        .map(|finding| (&finding.code, finding))
        .collect();
    let binding =
        catalogue().into_iter().filter(|one| one.always && one.providers.contains(&telling.provider));
    let names: BTreeSet<Name> =
        binding.map(|one| one.code.clone().into()).chain(found.keys().copied().cloned()).collect();
    let mut add = |case_name: String, status| {
        let mut case = TestCase::new(case_name, status);
        case.set_classname(&name);
        suite.add_test_case(case);
    };
    for one in names {
        let promise =
            found.get(&one).filter(|_| one.code().is_none()).map(|step| format!(": {}", step.promise));
        add(format!("{one}{}", promise.unwrap_or_default()), status(telling, found.get(&one).copied()));
    }
    let in_vain = telling.findings.iter().find(overdue);
    add(
        "steps".to_owned(),
        in_vain.map_or_else(TestCaseStatus::success, |late| unknown(telling, &steps(late))),
    );
    suite
}

/// That a step has waited in vain.
fn steps(late: &Finding) -> String {
    format!("{}: {}: {}", late.code, late.why.as_deref().unwrap_or_default(), late.promise)
}

fn unknown(telling: &Telling, why: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status.set_type("unknown").set_message(why).set_description(back(telling));
    status
}

fn status(telling: &Telling, finding: Option<&Finding>) -> TestCaseStatus {
    let Some(finding) = finding else {
        let mut status = TestCaseStatus::skipped();
        status.set_message("not put to the test in this run");
        return status;
    };
    let why = finding.why.as_deref().unwrap_or(&finding.promise);
    match finding.standing {
        Standing::Held | Standing::Convicted => TestCaseStatus::success(),
        Standing::NotApplicable => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(why);
            status
        }
        Standing::Unknown => unknown(telling, why),
        Standing::Violated => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            let told = text::violation(finding, Paint::Plain) + &back(telling);
            status.set_type("violated").set_message(&finding.promise).set_description(told);
            status
        }
    }
}

fn back(telling: &Telling) -> String {
    let history = telling.history.as_ref().map(|path| format!("history  {path}\n")).unwrap_or_default();
    format!("repeat   {}\n{history}", telling.repeat)
}
