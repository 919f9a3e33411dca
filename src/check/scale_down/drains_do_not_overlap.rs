//! SD-04. From the first eviction on a node to the last, or to its give-back, no pod of another node is
//! evicted. Residents do not count, and the flag that allows more is read.
//!
//! The subject is each pair of nodes: every drain is judged against all before it. Excused is only who was allowed more drains. A
//! drain without an eviction for four loops was given up, and an overlap of a second is latency.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  POST …/pods/web-1/eviction, on small-a
//!  5 s  POST …/pods/web-2/eviction, on small-b
//! 20 s  DELETE of the server of small-a, then of small-b
//! ```
//!
//! It does not catch drains that touch by less than a tie.

use mock_clock::Time;

use crate::check::scene::{Scene, TIE};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SD-04"),
    promise: "Nodes with pods on them are removed one at a time",
    cite: &[faq!("How does scale-down work?", "how-does-scale-down-work")],
    level: Level::Must,
    kind: Kind::Safety,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    let scene = Scene::of(history);
    let mut tally = Tally::default();
    if scene.flag("max-drain-parallelism").is_some_and(|at_once| at_once != "1") {
        return tally.verdict("more than one drain at once was allowed");
    }
    let mut drains: Vec<Drain> = Vec::new();
    for eviction in &scene.evictions {
        let Some(pod) = scene.pods.get(&eviction.pod).and_then(|track| track.at(eviction.began)) else {
            continue;
        };
        let Some(node) = pod.node.clone().filter(|_| !pod.resident()) else { continue };
        // A drain that was given up is another one than that of the next attempt.
        let pause = scene.slack() * 2;
        match drains.iter_mut().rev().find(|drain| drain.node == node && eviction.began <= drain.to + pause) {
            Some(drain) => drain.to = drain.to.max(eviction.began),
            None => {
                drains.push(Drain { node, from: eviction.began, to: eviction.began, event: eviction.event });
            }
        }
    }
    for (back, name, _) in scene.removals() {
        let ends = |drain: &&mut Drain| drain.node == name && drain.from <= back.began;
        if let Some(drain) = drains.iter_mut().rev().find(ends) {
            drain.to = drain.to.max(back.began);
        }
    }
    for (index, drain) in drains.iter().enumerate() {
        tally.exercised();
        for other in &drains[..index] {
            let overlap = drain.to.min(other.to) - drain.from.max(other.from);
            if other.node != drain.node && overlap > TIE {
                let says = format!("{} was drained while {} was", drain.node, other.node);
                tally.violated(says, [other.event, drain.event]);
            }
        }
    }
    tally.verdict("no node was drained")
}

struct Drain {
    node: String,
    from: Time,
    to: Time,
    event: usize,
}
