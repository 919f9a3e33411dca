//! SD-01. A ready node with nothing on it goes once that has lasted for the unneeded time, counted again
//! from the last order where that puts it off. A machine deployment may have a time of its own; where that changes, nodes may go by the
//! shorter, and must go by the longer one. A node that was used more than the threshold, or not there,
//! at a moment within the unneeded time before its removal was decided has gone too early.
//!
//! The subject is the single node. One that stays vacant is judged again after a time that was excused, and after a give-back
//! that failed. A time is excused by calls that went wrong, mostly unready nodes, a minimum, an annotation, a pause or a roll-out
//! of its own pool, and more than ten vacant nodes of pools. Recheck, taint and four loops are granted, so latency alone convicts
//! nobody.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  the last pod leaves small-a
//! 300 s  DELETE /servers/7
//! ```
//!
//! It does not catch nodes with pods that could move but are not moved, for it cannot prove that they could.

use std::time::Duration;

use mock_clock::Time;

use crate::check::scene::{Scene, TIE, timed};
use crate::check::vacancy::{goes, vacancies};
use crate::check::{CLUSTER_AUTOSCALER, Citation, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{GiveBack, Node, Track};
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SD-01"),
    promise: "A node that has been unneeded for the documented time is removed, and not earlier",
    cite: &[
        faq!("How does scale-down work?", "how-does-scale-down-work"),
        Citation {
            where_: "cluster-autoscaler, clusterapi provider, per-NodeGroup autoscaling options",
            url: "https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/cloudprovider/clusterapi/README.md#per-nodegroup-autoscaling-options",
        },
    ],
    level: Level::Must,
    kind: Kind::ScaleDown,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::UnneededTime], |scene, [unneeded]| {
        let mut tally = Tally::default();
        for (back, name, track) in scene.removals() {
            early(scene, &mut tally, back, (name, track), unneeded);
        }
        for vacancy in vacancies(scene, true) {
            let (from, to) = (vacancy.spell.from, vacancy.spell.to.unwrap_or(scene.end));
            let (_, unneeded) = scene.unneeded_times(Some(&vacancy.pool.name), unneeded, from, to);
            goes(scene, &mut tally, &vacancy, from, unneeded);
        }
        tally.verdict("no node had nothing on it for long enough")
    })
}

fn early(
    scene: &Scene<'_>,
    tally: &mut Tally,
    back: &GiveBack,
    (name, track): (&str, &Track<Node>),
    unneeded: Duration,
) {
    let until = scene.decided(back) - TIE;
    let pool = scene.pool_of_node(name, until);
    let (unneeded, _) = scene.unneeded_times(pool, unneeded, until - scene.slack(), until);
    let from = back.began - unneeded + TIE;
    let ready = |at: Time| track.at(at).is_some_and(|node| node.ready);
    if !ready(until) || !scene.nodes_on(back.server).all(|(other, _)| other == name) {
        return;
    }
    let used = |at: &Time| track.at(*at).is_some_and(|node| node.ready && scene.well_used(name, node, *at));
    let first = track.first().filter(|seen| seen.at > from);
    let needed = scene
        .changes_on(name, from, until)
        .into_iter()
        .rev()
        .find(used)
        .and_then(|at| shows(scene, name, at));
    if let Some(event) = first.map(|seen| seen.event).or(needed) {
        let says = format!(
            "the server of {name} was given back before it had been unneeded for {} s",
            unneeded.as_secs()
        );
        tally.violated(says, [event, back.event]);
    }
}

/// The event that shows what was on a node at a moment.
fn shows(scene: &Scene<'_>, node: &str, at: Time) -> Option<usize> {
    scene.pods_on(node).filter_map(|(_, pod)| pod.sight(at)).map(|seen| seen.event).max()
}
