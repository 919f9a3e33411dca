//! SF-10. The taint is seen before each eviction, whether the removal comes to its end or not, and, by the delay after it,
//! before the give-back of the server; and no pod that was on the node two loops before the taint still runs there when the
//! server is given back, unless it was granted to go, or told so without an answer, in this very drain. The subject of the
//! promise is the node; each eviction and each give-back is judged. Not counted is the clearing away of an order, and pods below
//! the priority cutoff. Nothing else excuses it; seconds are granted on both sides of the taint.
//!
//! The smallest history that violates it:
//!
//! ```text
//! 0 s  POST …/pods/web-1/eviction, on small-a, which has no taint
//! 9 s  DELETE of the server of small-a
//! ```
//!
//! It does not catch evictions within a tie of the taint, or two loops after it was taken away.

use mock_clock::Time;

use crate::check::scene::{Scene, TIE, timed};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{Eviction, GiveBack, Pod, REMOVAL_TAINT};
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SF-10"),
    promise: "A node is tainted before it is drained, and drained before its server is given back",
    cite: &[
        flag!("--node-delete-delay-after-taint"),
        faq!("How does scale-down work?", "how-does-scale-down-work"),
    ],
    level: Level::Must,
    kind: Kind::Safety,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::DeleteDelayAfterTaint], |scene, [delay]| {
        let mut tally = Tally::default();
        for (back, name, track) in scene.removals() {
            tally.exercised();
            let Some((tainted, event)) = scene.tainted(back) else {
                let state = track.sight(back.began).map(|seen| seen.event);
                let says = format!("the server of {name} was given back, and its node never had the taint");
                tally.violated(says, state.into_iter().chain([back.event]));
                continue;
            };
            if back.began + TIE < tainted + delay {
                let says = format!(
                    "the server of {name} was given back sooner than {} s after the taint",
                    delay.as_secs()
                );
                tally.violated(says, [event, back.event]);
            }
            if let Some(seen) = forgotten(scene, back, name, tainted) {
                tally.violated(
                    format!("the server of {name} was given back under a pod that nobody had asked to go"),
                    [seen, back.event],
                );
            }
        }
        for eviction in &scene.evictions {
            let pod = scene.pods.get(&eviction.pod).and_then(|track| track.at(eviction.began));
            let Some(node) = pod.and_then(|pod| pod.node.as_deref()) else { continue };
            if scene.pool_of_node(node, eviction.began).is_none() {
                continue;
            }
            tally.exercised();
            if !tainted_for(scene, node, eviction) {
                let says = format!("{} was evicted from {node}, which had no taint", eviction.pod);
                tally.violated(says, [eviction.event]);
            }
        }
        tally.verdict("no node was drained or removed")
    })
}

/// Whether a node has the taint of removal for an eviction, or had it just before: a drain that is given up may end with a try.
fn tainted_for(scene: &Scene<'_>, node: &str, eviction: &Eviction) -> bool {
    let (from, to) = (eviction.began - scene.slack(), eviction.began + TIE);
    scene.nodes.get(node).is_some_and(|track| track.ever(from, to, |node| node.has_taint(REMOVAL_TAINT)))
}

fn forgotten(scene: &Scene<'_>, back: &GiveBack, node: &str, tainted: Time) -> Option<usize> {
    let from = tainted - scene.slack();
    let mut tracks = scene.pods_on(node);
    tracks.find_map(|(key, track)| {
        let counts = |pod: &Pod| pod.occupies(node) && !pod.ending && !scene.expendable(pod);
        let stays = track.always(from, back.began + TIE, counts);
        // What an earlier drain asked, or was refused, drains nobody.
        let asked = scene.evictions.iter().any(|eviction| {
            let within = from <= eviction.began && eviction.began <= back.began;
            eviction.pod == key && within && !eviction.refused()
        });
        (stays && !asked).then(|| track.sight(from).map(|seen| seen.event))?
    })
}
