//! FT-15. While so many nodes that are older than their startup time have been unready for two loops, nothing is ordered and no
//! node is removed. Servers that never became nodes may go. The subject of the promise is the whole cluster, nodes of no pool
//! included. Each order, and each decision to remove, is judged. Not counted are nodes younger than their startup time, those
//! unready for less than two loops, and those that are being removed.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  5 of 10 nodes become unready
//! 60 s  POST /servers for pool small
//! ```
//!
//! It does not catch when it resumes: that is SU-01.

use mock_clock::Time;

use crate::check::causes::first_attempts;
use crate::check::scene::{Scene, TIE, timed};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{Node, REMOVAL_TAINT, Track};
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("FT-15"),
    promise: "While more than three and more than 45 % of the nodes are unready nothing is ordered or removed",
    cite: &[
        faq!("How does CA deal with unready nodes?", "how-does-ca-deal-with-unready-nodes"),
        flag!("--max-total-unready-percentage"),
        flag!("--ok-total-unready-count"),
    ],
    level: Level::Must,
    kind: Kind::Safety,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::StartupTime], |scene, [startup]| {
        let mut tally = Tally::default();
        let (count, percent) =
            (number(scene, "ok-total-unready-count", 3), number(scene, "max-total-unready-percentage", 45));
        let too_many = |at: Time| {
            let since = at - scene.slack();
            let there: Vec<&Track<Node>> =
                scene.nodes.values().filter(|track| track.ever(since, at + TIE, |_| true)).collect();
            let unready = there.iter().filter(|track| {
                let old = track.first().is_some_and(|seen| seen.at + startup < since);
                // A node that is being removed goes unready by nature, and does not count.
                old && track.always(since, at + TIE, |node| !node.ready && !node.has_taint(REMOVAL_TAINT))
            });
            let unready = unready.count();
            unready > count && unready * 100 > there.len() * percent
        };
        let orders = first_attempts(scene).map(|order| (order.began, order.event));
        let removals = scene.removals().map(|(back, _, _)| (scene.decided(back), back.event));
        for (at, event) in orders.chain(removals) {
            if too_many(at) {
                let shows = scene.nodes.values().filter_map(|track| {
                    track.sight(at).filter(|seen| seen.state.as_ref().is_some_and(|node| !node.ready))
                });
                tally.violated(
                    "something was ordered or removed while most nodes were unready",
                    shows.map(|seen| seen.event).chain([event]),
                );
            }
        }
        let changes =
            scene.nodes.values().flat_map(|track| track.seen.iter().map(|seen| seen.at + scene.slack()));
        let lasting = |at: Time| {
            scene.watched(at, at + scene.slack() * 2) && too_many(at) && too_many(at + scene.slack() * 2)
        };
        if changes.into_iter().any(lasting) {
            tally.exercised();
        }
        tally.verdict("never were so many nodes unready")
    })
}

fn number(scene: &Scene<'_>, flag: &str, documented: usize) -> usize {
    scene.flag(flag).and_then(|value| value.parse().ok()).unwrap_or(documented)
}
