//! SD-03. After the cloud refused to take the server of a node back, no other node of its pool is tainted for removal before the
//! delay after a failure has passed, and that node is not before the time after which it is looked at again; both counted from the call
//! that failed. What is tainted within a loop of the failure may have been decided before. A restart of the subject forgets it.
//!
//! The subject is the pool of the node, and the node itself, over all of the pause that each failure brings. Excused is only
//! another process, which knows nothing of it. What was decided before may come a loop and a second late.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  DELETE of the server of small-a: 423
//!  1 s  small-a is freed of ToBeDeletedByClusterAutoscaler
//! 10 s  small-a carries it again
//! ```
//!
//! It does not catch removals that fail before the cloud is asked, nor, as the FAQ speaks of the pool and the help of the flag of
//! all, removals in other pools.

use std::time::Duration;

use crate::check::scene::{TIE, timed};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::REMOVAL_TAINT;
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SD-03"),
    promise: "After a removal has failed nothing of its pool is removed for the documented time, and the node itself not for longer",
    cite: &[
        faq!(
            "I have a couple of nodes with low utilization, but they are not scaled down. Why?",
            "i-have-a-couple-of-nodes-with-low-utilization-but-they-are-not-scaled-down-why"
        ),
        flag!("--scale-down-delay-after-failure"),
    ],
    level: Level::Must,
    kind: Kind::Backoff,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: false,
    check,
};

fn check(history: &History) -> Verdict {
    let timers = [Timer::DelayAfterFailure, Timer::UnremovableRecheck, Timer::ScanInterval];
    timed(history, timers, |scene, [delay, recheck, scan]| {
        let mut tally = Tally::default();
        for failure in scene.give_backs.iter().filter(|back| back.status >= 400 && back.status != 404) {
            let Some((tainted, _)) = scene.tainted(failure) else { continue };
            if !scene.same(failure.replica, tainted, failure.began + delay)
                || failure.began + delay > scene.end
            {
                continue;
            }
            tally.exercised();
            let pool = scene.pool_of(failure.server);
            for (name, track) in &scene.nodes {
                if scene.pool_of_node(name, failure.began) != pool {
                    continue;
                }
                let own = scene.under(name, failure.began) == Some(failure.server);
                let (from, pause) = if own {
                    (failure.ended, recheck.max(delay))
                } else {
                    (failure.ended + scan + TIE, delay)
                };
                let spells = track.spells(|node| node.has_taint(REMOVAL_TAINT));
                let soon = spells.into_iter().find(|taint| {
                    from < taint.from
                        && taint.from + TIE < failure.began + pause
                        && scene.same(failure.replica, failure.began, taint.from)
                });
                if let Some(taint) = soon {
                    let after: Duration = taint.from - failure.began;
                    let says = format!(
                        "{name} was to be removed {} s after the removal of server {} had failed",
                        after.as_secs(),
                        failure.server
                    );
                    tally.violated(says, [failure.event, taint.began]);
                }
            }
        }
        tally.verdict("the cloud took back whatever it was given")
    })
}
