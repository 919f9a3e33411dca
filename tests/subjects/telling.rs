//! What a history tells of a subject and of what was done to it: the command that really ran, host names, and faults
//! that heal at their moment.

use scaleproof::history::{FaultChange, SubjectChange, What};
use scaleproof::subject::hosts;

use crate::workshop::{SCALEPROOF, Workshop, events};

const TWO: &str = "
title: Two replicas, and a fault that heals by itself while nobody waits for anything
expect: [SU-01]
given:
  pools: {small: {min: 1, max: 5}}
  replicas: 2
  timers: {unneeded_time: 90s}
steps:
  - hurt: {calls: {on: {to: cloud, method: GET}, fate: {delay: 1s}}, name: slow, lasting: 2m}
  - wait: 10m
";

#[test]
fn the_history_tells_what_really_ran_and_when_faults_healed() {
    if !hosts::can_be_given() {
        eprintln!("SKIPPED: this takes root");
        return;
    }
    let workshop = Workshop::open("telling");
    let (_, out, err) = workshop.run(TWO, None);
    assert_eq!(err, "", "{out}");
    let history = workshop.history();
    let subject = &history.header.subject;
    assert_eq!(subject.command[..2], [SCALEPROOF.to_owned(), "mock-autoscaler".to_owned()]);
    assert!(subject.command.contains(&"--address=127.0.0.1:{port}".to_owned()), "{:?}", subject.command);
    assert!(
        subject.command.contains(&"--scale-down-unneeded-time=1m30s".to_owned()),
        "{:?}",
        subject.command
    );
    assert_eq!(subject.environment["HCLOUD_TOKEN"], "{token}");
    let prepared = events(&history, |what| match what {
        What::Subject(subject) => match &subject.change {
            SubjectChange::Prepared { command, environment } => Some((command, environment)),
            _ => None,
        },
        _ => None,
    });
    assert_eq!(prepared.len(), 2);
    for (_, (command, environment)) in &prepared {
        assert_eq!(command.len(), subject.command.len());
        let kubeconfig = format!("--kubeconfig={}", workshop.path("out/scenario-7/subject-"));
        assert!(command.iter().any(|word| word.starts_with(&kubeconfig)), "{command:?}");
        assert_eq!(environment["HCLOUD_TOKEN"], "(secret)");
    }
    assert_ne!(prepared[0].1.0, prepared[1].1.0, "each has its own port");
    let holders = events(&history, |what| match what {
        What::Object(object) if object.name == "cluster-autoscaler" => {
            object.object["spec"]["holderIdentity"].as_str()
        }
        _ => None,
    });
    assert!(holders.iter().all(|(_, holder)| holder.starts_with("subject-")) && !holders.is_empty());
    let faults =
        events(&history, |what| if let What::Fault(fault) = what { Some(&fault.change) } else { None });
    let at = |which: fn(&FaultChange) -> bool| faults.iter().find(|(_, it)| which(it)).unwrap().0.at;
    let (injected, healed) =
        (at(|it| matches!(it, FaultChange::Injected(_))), at(|it| matches!(it, FaultChange::Healed(_))));
    assert_eq!((healed - injected).as_secs(), 120);
}
