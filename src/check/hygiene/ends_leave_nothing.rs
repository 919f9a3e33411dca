//! HY-10. After a process was told to end, and ended by itself, the next one takes away the taints of its removals within a
//! minute after it could act, and two loops; and each server that it had ordered and that had no node yet is registered, given
//! back or gone once the provision time and the listing of machines have passed since the next start. The subject of the promise
//! is the single node or server. While it is there it is judged again; excused is a process that does not run, was refused
//! something or stands in an order, for as long as that, and a pool at its minimum. A minute, or the listing of machines, is
//! more than any latency.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  the subject is told to end while small-a carries ToBeDeletedByClusterAutoscaler, and ends
//!   1 s  it is started again
//! 120 s  small-a still carries the taint
//! ```
//!
//! It does not catch processes that are killed: that is FT-13.

use std::collections::BTreeSet;

use mock_clock::Time;

use crate::check::leftovers::taints_go;
use crate::check::scene::timed;
use crate::check::unregistered::{Fate, fate};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::{History, SubjectChange, What};
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("HY-10"),
    promise: "What a process that is told to end leaves half done is cleared away or finished by the next one",
    cite: &[thread!(5200)],
    level: Level::Should,
    kind: Kind::Hygiene,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::ProvisionTime], |scene, [provision]| {
        let mut tally = Tally::default();
        let mut never = "the subject was not told to end while it had something half done";
        for ended in orderly_ends(history) {
            let next = scene.beginnings().filter(|(started, _)| *started >= ended).min();
            let Some((started, event)) = next else { continue };
            taints_go(scene, &mut tally, started, event);
            for order in scene.orders.iter().filter(|order| order.began <= ended) {
                let Some(id) = scene.server_of(order) else { continue };
                let there = |at: Time| scene.servers.get(&id).is_some_and(|track| track.at(at).is_some());
                let unfinished = there(started)
                    && !scene.given_back(id, started)
                    && scene.registered(id).is_none_or(|at| at > started);
                if !unfinished {
                    continue;
                }
                match fate(scene, id, started.max(order.ended), provision) {
                    Fate::Node if scene.registered(id).is_some() => tally.exercised(),
                    Fate::GivenBack | Fate::Gone => tally.exercised(),
                    Fate::Left => {
                        let says = format!(
                            "server {id}, which the process before had ordered, was left without a node"
                        );
                        tally.violated(says, [order.event, event]);
                    }
                    Fate::Node => {}
                    Fate::Untold => never = "there was no time to clear away what the subject had half done",
                }
            }
        }
        tally.verdict(never)
    })
}

/// When a process ended by itself after it had been told to.
fn orderly_ends(history: &History) -> Vec<Time> {
    let mut told = BTreeSet::new();
    let mut ends = Vec::new();
    for event in &history.events {
        let What::Subject(subject) = &event.what else { continue };
        match subject.change {
            SubjectChange::Killed | SubjectChange::Unwell { .. } => drop(told.insert(subject.replica)),
            SubjectChange::Exited { signal, .. } => {
                let orderly = told.remove(&subject.replica) && signal.is_none();
                ends.extend(orderly.then_some(event.at));
            }
            _ => {}
        }
    }
    ends
}
