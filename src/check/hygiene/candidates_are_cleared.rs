//! HY-05. A node does not keep the soft taint while its pods ask for more of it than the threshold, for
//! longer than half a minute and two loops; unless so many nodes are unready that the subject stands still. If the subject was
//! excused (it stood in an order, or was refused something) while the node is needed on, the same is asked again.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  small-a carries DeletionCandidateOfClusterAutoscaler
//!  60 s  pods that ask for 75 % of small-a run there
//! 120 s  it still carries the taint
//! ```
//!
//! It does not catch nodes that are needed for other reasons, nor the taint of a node that was needed for two loops when it got
//! it and is so on: who removes such a node violates SD-06.

use std::time::Duration;

use mock_clock::Time;

use crate::check::scene::{Scene, TIE};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::CANDIDATE_TAINT;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("HY-05"),
    promise: "The soft taint of a candidate for removal goes when its node is needed again",
    cite: &[thread!(7964)],
    level: Level::Should,
    kind: Kind::Hygiene,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: true,
    check,
};

const HALF_A_MINUTE: Duration = Duration::from_secs(30);

fn check(history: &History) -> Verdict {
    let scene = Scene::of(history);
    let mut tally = Tally::default();
    for (name, track) in &scene.nodes {
        let used =
            |at: &Time| track.at(*at).is_some_and(|node| node.ready && scene.well_used(name, node, *at));
        for spell in track.spells(|node| node.has_taint(CANDIDATE_TAINT)) {
            let ended = spell.to.unwrap_or(scene.end);
            let moments = scene.changes_on(name, spell.from, ended);
            let mut at = spell.from;
            // Who was needed all the time is not needed again before it was not.
            if scene.well_used_throughout(name, spell.from - scene.slack(), spell.from - TIE) {
                let Some(unneeded) = moments.iter().find(|at| !used(at)) else { continue };
                at = *unneeded;
            }
            while let Some(from) = [at].into_iter().chain(later(&moments, at)).find(used) {
                let until = from + HALF_A_MINUTE + scene.slack();
                if ended < until {
                    if spell.to.is_some() {
                        tally.exercised();
                    }
                    break;
                }
                if scene.well_used_throughout(name, from, until)
                    && scene.free(from, until)
                    && ![from, until].into_iter().any(|at| scene.mostly_unready(at))
                {
                    let says = format!("{name} kept its soft taint though it was needed again");
                    tally.violated(says, [spell.began]);
                    break;
                }
                at = until;
            }
        }
    }
    tally.verdict("no candidate for removal was needed again")
}

fn later(moments: &[Time], at: Time) -> impl Iterator<Item = Time> {
    moments.iter().copied().filter(move |moment| *moment > at)
}
