//! When the subject's processes run.

use std::collections::BTreeMap;

use mock_clock::Time;

use super::Spell;
use crate::history::{History, SubjectChange, SubjectEvent, What};

fn changes(history: &History) -> impl Iterator<Item = (usize, Time, &SubjectEvent)> {
    history.events.iter().enumerate().filter_map(|(event, happened)| match &happened.what {
        What::Subject(subject) => Some((event, happened.at, subject)),
        _ => None,
    })
}

/// For each replica the times for which it ran: started, not ended, not stopped.
pub fn running(history: &History) -> BTreeMap<u32, Vec<Spell>> {
    let mut replicas: BTreeMap<u32, Vec<Spell>> = BTreeMap::new();
    for (event, at, subject) in changes(history) {
        let spells = replicas.entry(subject.replica).or_default();
        let open = spells.last_mut().filter(|spell| spell.to.is_none());
        match subject.change {
            SubjectChange::Started { .. } | SubjectChange::Resumed if open.is_none() => {
                spells.push(Spell { from: at, to: None, began: event, ended: None });
            }
            SubjectChange::Exited { .. } | SubjectChange::Killed | SubjectChange::Paused => {
                if let Some(spell) = open {
                    (spell.to, spell.ended) = (Some(at), Some(event));
                }
            }
            _ => {}
        }
    }
    replicas
}

/// When, in which event and which replica was started.
pub fn starts(history: &History) -> Vec<(Time, usize, u32)> {
    changes(history)
        .filter(|(_, _, subject)| matches!(subject.change, SubjectChange::Started { .. }))
        .map(|(event, at, subject)| (at, event, subject.replica))
        .collect()
}

/// When which replica was let go on after it had been stopped.
pub fn resumptions(history: &History) -> Vec<(Time, u32)> {
    changes(history)
        .filter(|(_, _, subject)| matches!(subject.change, SubjectChange::Resumed))
        .map(|(_, at, subject)| (at, subject.replica))
        .collect()
}

/// The host name of each replica.
pub fn hosts(history: &History) -> BTreeMap<u32, String> {
    changes(history)
        .filter_map(|(_, _, subject)| match &subject.change {
            SubjectChange::Started { host, .. } => Some((subject.replica, host.clone())),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::query::leases::tests::history;

    #[test]
    fn a_replica_runs_from_its_start_to_its_end_but_not_while_stopped() {
        let change = |change| What::Subject(SubjectEvent { replica: 0, change });
        let history = history(vec![
            (0, change(SubjectChange::Started { pid: 1, host: "ca-0".into() })),
            (5, change(SubjectChange::Paused)),
            (7, change(SubjectChange::Resumed)),
            (8, change(SubjectChange::Killed)),
            (8, change(SubjectChange::Exited { code: None, signal: Some(9) })),
            (9, change(SubjectChange::Started { pid: 2, host: "ca-0".into() })),
        ]);
        let spells = &running(&history)[&0];
        assert_eq!(
            spells.iter().map(|s| (s.began, s.ended)).collect::<Vec<_>>(),
            [(0, Some(1)), (2, Some(3)), (5, None)]
        );
        assert_eq!(starts(&history).len(), 2);
        assert_eq!(hosts(&history)[&0], "ca-0");
    }
}
