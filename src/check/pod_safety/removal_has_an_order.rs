//! SF-10. Of each removal the taint is seen before its first eviction and, by the delay after the taint,
//! before its give-back; and no pod that was on the node two loops before the taint still runs there
//! when the server is given back, unless it was granted to go, or told so without an answer, in this very drain.
//!
//! The smallest history that violates it:
//!
//! ```text
//! 0 s  POST …/pods/web-1/eviction, on small-a, which has no taint
//! 9 s  DELETE of the server of small-a
//! ```
//!
//! It does not catch evictions within a tie of the taint.

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
            if let Some(eviction) = evicted_before(scene, back, name, tainted) {
                tally.violated(
                    format!("{} was evicted from {name} before the taint", eviction.pod),
                    [eviction.event, event],
                );
            }
            if let Some(seen) = forgotten(scene, back, name, tainted) {
                tally.violated(
                    format!("the server of {name} was given back under a pod that nobody had asked to go"),
                    [seen, back.event],
                );
            }
        }
        tally.verdict("no node was removed")
    })
}

fn evicted_before<'s>(
    scene: &'s Scene<'_>,
    back: &GiveBack,
    node: &str,
    tainted: Time,
) -> Option<&'s Eviction> {
    let on_node = |eviction: &&Eviction| {
        let pod = scene.pods.get(&eviction.pod).and_then(|track| track.at(eviction.began));
        pod.is_some_and(|pod| pod.node.as_deref() == Some(node))
    };
    // Drains that were given up before have had a taint of their own.
    let taints = scene
        .nodes
        .get(node)
        .map(|track| track.spells(|node| node.has_taint(REMOVAL_TAINT)))
        .unwrap_or_default();
    let covered = |eviction: &Eviction| {
        taints.iter().any(|spell| spell.touches(eviction.began - TIE, eviction.began + TIE))
    };
    let mut early = scene.evictions.iter().filter(on_node);
    early.find(|eviction| eviction.began + TIE < tainted && eviction.began < back.began && !covered(eviction))
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
