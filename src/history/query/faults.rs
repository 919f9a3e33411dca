//! When what hurt, when which phase began, and how late the harness was.

use std::time::Duration;

use mock_clock::Time;

use super::Spell;
use crate::code::Code;
use crate::history::{Event, FaultChange, History, Phase, What};

/// A fault for the time it was there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultSpell {
    /// Its code.
    pub code: Code,
    /// The name the scenario gives it.
    pub name: String,
    /// What it does, in the words of the plan.
    pub says: String,
    /// When.
    pub spell: Spell,
    /// The event in which it first hurt somebody.
    pub bit: Option<usize>,
}

impl FaultSpell {
    /// The kind of a trouble of the cloud, if it is one: of `hurt NAME: cloud(…, kind: torn_list, …)`. What it is called says nothing.
    pub fn of_the_cloud(&self) -> Option<&str> {
        self.field("kind")
    }

    /// A field of a trouble of the cloud, if it is one and has it.
    pub fn field(&self, name: &str) -> Option<&str> {
        let says = self.says.strip_prefix("hurt ")?.strip_prefix(self.name.as_str())?;
        let fields = says.strip_prefix(": cloud(")?.strip_suffix(')')?;
        fields.split(", ").find_map(|field| field.strip_prefix(name)?.strip_prefix(": "))
    }
}

/// All faults, in the order in which they were injected.
pub fn fault_spells(history: &History) -> Vec<FaultSpell> {
    let mut faults: Vec<FaultSpell> = Vec::new();
    for (event, happened) in history.events.iter().enumerate() {
        let What::Fault(fault) = &happened.what else { continue };
        let open = faults.iter_mut().rev().find(|open| open.name == fault.name);
        match (&fault.change, open) {
            (FaultChange::Injected(says), _) => faults.push(FaultSpell {
                code: fault.code.clone(),
                name: fault.name.clone(),
                says: says.clone(),
                spell: Spell { from: happened.at, to: None, began: event, ended: None },
                bit: None,
            }),
            (FaultChange::Bit(_), Some(open)) => open.bit = open.bit.or(Some(event)),
            (FaultChange::Healed(hurt), Some(open)) => {
                (open.spell.to, open.spell.ended) = (Some(happened.at), Some(event));
                open.bit = open.bit.or((*hurt > 0).then_some(event));
            }
            (_, None) => {}
        }
    }
    faults
}

/// The event with which a phase began.
pub fn phase_event(history: &History, phase: Phase) -> Option<usize> {
    history.events.iter().position(|event| event.what == What::Phase(phase))
}

/// When a phase began.
pub fn began_phase(history: &History, phase: Phase) -> Option<Time> {
    phase_event(history, phase).map(|event| history.events[event].at)
}

/// The latest the harness ever was in these events, and the event that tells it.
pub fn worst_lag(events: &[Event]) -> Option<(Duration, usize)> {
    let late = |(event, happened): (usize, &Event)| match &happened.what {
        What::Lag(lag) => Some((Duration::from_micros(lag.late_us.max(lag.starved_us)), event)),
        _ => None,
    };
    events.iter().enumerate().filter_map(late).max()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::query::leases::tests::history;
    use crate::history::{FaultEvent, LagEvent};

    #[test]
    fn a_fault_lasts_until_it_is_healed_and_knows_whether_it_bit() {
        let fault = |name: &str, change| {
            What::Fault(FaultEvent { code: Code::new("F101"), name: name.into(), change })
        };
        let history = history(vec![
            (0, What::Phase(Phase::Act)),
            (1, fault("a", FaultChange::Injected("slow".into()))),
            (2, fault("b", FaultChange::Injected("gone".into()))),
            (3, fault("a", FaultChange::Bit("GET /servers".into()))),
            (4, fault("a", FaultChange::Healed(1))),
            (5, fault("b", FaultChange::Healed(0))),
        ]);
        let faults = fault_spells(&history);
        assert_eq!(
            faults.iter().map(|f| (f.spell.began, f.spell.ended, f.bit)).collect::<Vec<_>>(),
            [(1, Some(4), Some(3)), (2, Some(5), None)]
        );
        assert_eq!(began_phase(&history, Phase::Act), Some(history.events[0].at));
    }

    #[test]
    fn a_trouble_of_the_cloud_is_known_by_what_it_is() {
        let kind = |name: &str, says: &str| {
            let change = FaultChange::Injected(says.to_owned());
            let fault = FaultEvent { code: Code::new("F401"), name: name.to_owned(), change };
            fault_spells(&history(vec![(0, What::Fault(fault))]))[0].of_the_cloud().map(str::to_owned)
        };
        assert_eq!(kind("a", "hurt a: cloud(kind: unseen, lag_s: 60)").as_deref(), Some("unseen"));
        assert_eq!(
            kind("a", "hurt a: cloud(count: 3, kind: torn_list, on: (path: /x))").as_deref(),
            Some("torn_list")
        );
        assert_eq!(kind("unseen", "hurt unseen: slow_kubelet(stage: network, takes: 2h)"), None);
    }

    #[test]
    fn the_worst_lag_counts() {
        let lag = |late_us, starved_us| What::Lag(LagEvent { late_us, starved_us });
        let history = history(vec![(0, lag(5, 900)), (1, lag(40, 3))]);
        assert_eq!(worst_lag(&history.events), Some((Duration::from_micros(900), 0)));
    }
}
