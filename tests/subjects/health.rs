//! A subject that is unwell is ended and started again, as a kubelet would; one that stands still by plan is not.

use scaleproof::history::{History, SubjectChange, What};
use scaleproof::subject::hosts;

use crate::workshop::{Workshop, events};

const HANGING: &str = "
title: Calls to the cloud hang
expect: [FT-06]
given:
  pools: {small: {min: 0, max: 5}}
steps:
  - hurt: {calls: {on: {to: cloud, method: GET}, fate: hang}, name: hang, lasting: 15m}
  - wait: 30m
";

const PAUSED: &str = "
title: It stands still for a while
expect: [SU-01]
given:
  pools: {small: {min: 0, max: 5}}
steps:
  - subject: {pause: 2m}
  - wait: 1m
";

const KILLED: &str = "
title: It is killed
expect: [SU-01]
given:
  pools: {small: {min: 0, max: 5}}
steps:
  - subject: kill
  - wait: 1m
";

const LOST: &str = "
title: The leader is lost
expect: [FT-10]
given:
  pools: {small: {min: 0, max: 5}}
  replicas: 2
steps:
  - subject: kill_leader
  - wait: 6m
";

fn changes(history: &History) -> Vec<(u64, &SubjectChange)> {
    let changes = events(history, |what| match what {
        What::Subject(subject) => Some(&subject.change),
        _ => None,
    });
    changes.into_iter().map(|(event, change)| ((event.at - history.header.began).as_secs(), change)).collect()
}

#[test]
fn one_that_is_unwell_is_ended_and_started_again() {
    let workshop = Workshop::open("unwell");
    let (_, out, err) = workshop.run(HANGING, None);
    assert_eq!(err, "", "{out}");
    let history = workshop.history();
    let changes = changes(&history);
    let first = |which: fn(&SubjectChange) -> bool| changes.iter().position(|(_, it)| which(it));
    let sick = first(|it| matches!(it, SubjectChange::Health { status: 500 })).expect("it says so");
    let unwell = first(|it| matches!(it, SubjectChange::Unwell { failures: 3 })).expect("it is ended");
    let (exit, start) = (changes[unwell + 1], changes[unwell + 2]);
    assert!((20..25).contains(&(changes[unwell].0 - changes[sick].0)), "{changes:?}");
    assert!(matches!(exit.1, SubjectChange::Exited { .. }), "{changes:?}");
    assert!(matches!(start.1, SubjectChange::Started { .. }), "{changes:?}");
    assert!((10..15).contains(&(start.0 - exit.0)), "{changes:?}");
    let well = &changes[unwell + 3..];
    assert!(well.iter().any(|(_, it)| **it == SubjectChange::Health { status: 200 }), "{changes:?}");
}

#[test]
fn one_that_stands_still_by_plan_is_not_asked() {
    let workshop = Workshop::open("paused");
    let (_, out, err) = workshop.run(PAUSED, None);
    assert_eq!(err, "", "{out}");
    let history = workshop.history();
    let changes = changes(&history);
    assert!(!changes.iter().any(|(_, it)| matches!(it, SubjectChange::Unwell { .. })), "{changes:?}");
}

#[test]
fn one_that_was_killed_comes_again_after_a_kubelets_pause() {
    let workshop = Workshop::open("killed");
    let (_, out, err) = workshop.run(KILLED, None);
    assert_eq!(err, "", "{out}");
    let history = workshop.history();
    let changes = changes(&history);
    let killed = changes.iter().position(|(_, it)| **it == SubjectChange::Killed).unwrap();
    let [(dead, exit), (again, start), ..] = changes[killed + 1..] else { panic!("{changes:?}") };
    assert_eq!(*exit, SubjectChange::Exited { code: None, signal: Some(9) });
    assert!(matches!(start, SubjectChange::Started { .. }));
    assert!(dead - changes[killed].0 <= 1 && (10..12).contains(&(again - dead)), "{changes:?}");
}

#[test]
fn a_leader_that_is_lost_comes_again_when_another_leads() {
    if !hosts::can_be_given() {
        eprintln!("SKIPPED: this takes root");
        return;
    }
    let workshop = Workshop::open("lost");
    let (_, out, err) = workshop.run(LOST, None);
    assert_eq!(err, "", "{out}");
    let history = workshop.history();
    let changes = changes(&history);
    let killed = changes.iter().position(|(_, it)| **it == SubjectChange::Killed).unwrap();
    let again = changes[killed..].iter().find(|(_, it)| matches!(it, SubjectChange::Started { .. })).unwrap();
    assert!((300..305).contains(&(again.0 - changes[killed].0)), "{changes:?}");
    let holders = events(&history, |what| match what {
        What::Object(object) if object.name == "cluster-autoscaler" => {
            object.object["spec"]["holderIdentity"].as_str()
        }
        _ => None,
    });
    let mut holders: Vec<&str> = holders.into_iter().map(|(_, holder)| holder).collect();
    holders.dedup();
    assert_eq!(holders.len(), 2, "one after the other: {holders:?}");
}
