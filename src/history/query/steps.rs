//! Steps that have waited in vain.

use crate::history::{History, StepChange, StepEvent, What};

/// Steps that had to come to something and did not: the event, the step, and what was there instead.
pub fn overdue(history: &History) -> impl Iterator<Item = (usize, &StepEvent, &str)> {
    missed(history).filter(|(_, step, _)| !step.may_fail)
}

/// All steps that did not come to what they waited for, those included that may fail.
pub fn missed(history: &History) -> impl Iterator<Item = (usize, &StepEvent, &str)> {
    history.events.iter().enumerate().filter_map(|(event, happened)| match &happened.what {
        What::Step(step) => match &step.change {
            StepChange::Overdue(instead) => Some((event, step, instead.as_str())),
            StepChange::Begun | StepChange::Done => None,
        },
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::query::leases::tests::history;

    #[test]
    fn a_step_that_may_fail_is_missed_and_not_overdue() {
        let step = |step, change, may_fail| {
            What::Step(StepEvent { step, says: "until it rains".into(), change, may_fail })
        };
        let history = history(vec![
            (0, step(0, StepChange::Begun, false)),
            (1, step(0, StepChange::Done, false)),
            (2, step(1, StepChange::Overdue("no cloud was there".into()), true)),
            (3, step(2, StepChange::Overdue("no rain was there".into()), false)),
        ]);
        let told = |(event, step, instead): (usize, &StepEvent, &str)| (event, step.step, instead.to_owned());
        assert_eq!(overdue(&history).map(told).collect::<Vec<_>>(), [(3, 2, "no rain was there".to_owned())]);
        assert_eq!(missed(&history).count(), 2);
    }
}
