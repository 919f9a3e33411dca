//! FT-13. A node that carries the taint of removal when the subject is started is given back or free of the
//! taint a minute after that process could act, and two loops.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  the subject is killed while small-a carries ToBeDeletedByClusterAutoscaler
//!   1 s  it is started again
//! 120 s  small-a still carries the taint
//! ```
//!
//! It does not catch nodes of no pool.

use std::time::Duration;

use crate::check::scene::{Scene, TIE};
use crate::check::{Expectation, HETZNER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::query::REMOVAL_TAINT;
use crate::history::{History, query};

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("FT-13"),
    promise: "Taints of removals that a process left behind when it ended are taken away by the next one",
    cite: &[thread!(5200)],
    level: Level::Should,
    kind: Kind::FaultTolerance,
    providers: HETZNER,
    versions: Versions::ALL,
    always: true,
    check,
};

const MINUTE: Duration = Duration::from_secs(60);

fn check(history: &History) -> Verdict {
    let scene = Scene::of(history);
    let mut tally = Tally::default();
    for (at, event, _) in query::starts(history) {
        for (name, track) in &scene.nodes {
            let tainted = track.spells(|node| node.has_taint(REMOVAL_TAINT));
            let Some(spell) = tainted.into_iter().find(|spell| spell.covers(at) && spell.from + TIE < at)
            else {
                continue;
            };
            let Some(awake) = scene.awake_from(at, scene.end) else { continue };
            let (until, server) = (awake + MINUTE + scene.slack(), scene.under(name, at));
            let given =
                scene.give_backs.iter().any(|back| Some(back.server) == server && back.began <= until);
            if given || spell.to.is_some_and(|to| to <= until) {
                tally.exercised();
            } else if scene.free(at, until) && scene.pool_of_node(name, at).is_some() {
                tally.violated(
                    format!("{name} kept a taint that the process before had left"),
                    [spell.began, event],
                );
            }
        }
    }
    tally.verdict("the subject was not started while a node carried its taint")
}
