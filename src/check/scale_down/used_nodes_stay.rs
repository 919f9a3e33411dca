//! SD-06. No removal is decided of a ready node whose pods, residents and those that were told to end left out, have asked for
//! more of it than the threshold for two loops and a few calls.
//!
//! The subject is the node, at each removal. Nothing excuses it but that it was used less, or not ready, within two loops before
//! the decision; that is what latency can do.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  pods that ask for 75 % of small-a run there
//! 700 s  DELETE of the server of small-a
//! ```
//!
//! It does not catch nodes that are used more only by their residents.

use mock_clock::Time;

use crate::check::scene::{TIE, timed};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SD-06"),
    promise: "A node whose pods ask for more than the threshold is not removed",
    cite: &[
        faq!("How does scale-down work?", "how-does-scale-down-work"),
        flag!("--scale-down-utilization-threshold"),
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
        for (back, name, _) in scene.removals() {
            let decided = scene.decided(back) - TIE;
            if scene.well_used_throughout(name, decided - scene.slack(), decided) {
                let says = format!(
                    "the server of {name} was given back though more than {} % of it was used",
                    scene.threshold()
                );
                let shows = scene
                    .pods_on(name)
                    .filter_map(|(_, pod)| pod.sight(decided))
                    .map(|seen| seen.event)
                    .max();
                tally.violated(says, shows.into_iter().chain([back.event]));
            }
        }
        for (name, track) in &scene.nodes {
            for spell in track.spells(|node| node.ready) {
                let mut from = scene.changes_on(name, spell.from, spell.to.unwrap_or(scene.end));
                from.retain(|at| scene.pool_of_node(name, *at).is_some());
                let long = |at: &Time| {
                    // A node may have been used before anybody looked.
                    let Some(at) = scene.awake_from(*at, scene.end) else { return false };
                    let until = at + unneeded + scene.slack();
                    spell.spans(at, until)
                        && scene.watched(at, until)
                        && scene.well_used_throughout(name, at, until)
                };
                if from.iter().any(long) {
                    tally.exercised();
                }
            }
        }
        tally.verdict("no node was used more than the threshold for long enough")
    })
}
