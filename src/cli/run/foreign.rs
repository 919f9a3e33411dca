//! Scenarios that are not about their subject: none of what they ask for is its promise, or it cannot be asked for what they need.
//! They are not run, and are told by their reasons.

use std::path::{Path, PathBuf};

use super::subject::Subject;
use crate::check;
use crate::cloud;
use crate::plan::{self, Plan, PlanError};
use crate::scenario::Scenario;

/// The scenarios that are not run, by reason.
#[derive(Debug, Default)]
pub(super) struct Foreign {
    by_reason: Vec<(String, Vec<PathBuf>)>,
}

impl Foreign {
    /// One more.
    pub(super) fn add(&mut self, scenario: PathBuf, reason: String) {
        match self.by_reason.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, scenarios)) => scenarios.push(scenario),
            None => self.by_reason.push((reason, vec![scenario])),
        }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.by_reason.iter().map(|(_, scenarios)| scenarios.len()).sum()
    }

    /// A line for each reason, the most frequent first.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut by_reason: Vec<_> = self.by_reason.iter().collect();
        by_reason.sort_by_key(|(_, scenarios)| std::cmp::Reverse(scenarios.len()));
        let line = |(reason, scenarios): &(String, Vec<PathBuf>)| match scenarios.as_slice() {
            [only] => format!("not applicable {}: {reason}", only.display()),
            several => format!("not applicable, {} scenarios: {reason}", several.len()),
        };
        by_reason.into_iter().map(line).collect()
    }

    /// Why a scenario is one of them, if it is.
    pub(super) fn why(&self, scenario: &Path) -> Option<&str> {
        let is = |(_, scenarios): &&(String, Vec<PathBuf>)| scenarios.iter().any(|one| one == scenario);
        self.by_reason.iter().find(is).map(|(reason, _)| reason.as_str())
    }
}

/// What would happen in a scenario with this subject: the plan, or why there is none for it.
pub(super) fn planned(
    scenario: &Scenario,
    subject: &Subject,
    seed: u64,
) -> Result<Result<Plan, String>, PlanError> {
    let why = check::nothing_applies(scenario.claims(), subject.profile.provider, subject.version);
    if let Some(why) = why.filter(|_| !scenario.expects_something()) {
        return Ok(Err(why));
    }
    match plan::make(scenario, &subject.profile, seed, &cloud::room) {
        Ok(plan) => Ok(Ok(plan)),
        Err(error) if error.is_about_subject() => Ok(Err(format!("failed to {error}"))),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_is_told_once_and_the_most_frequent_first() {
        let mut foreign = Foreign::default();
        for (scenario, reason) in [("a.yaml", "too dear"), ("b.yaml", "too far"), ("c.yaml", "too far")] {
            foreign.add(scenario.into(), reason.to_owned());
        }
        assert_eq!(
            foreign.lines(),
            ["not applicable, 2 scenarios: too far", "not applicable a.yaml: too dear",]
        );
        assert_eq!((foreign.count(), foreign.why(Path::new("c.yaml"))), (3, Some("too far")));
        assert_eq!(foreign.why(Path::new("d.yaml")), None);
    }
}
