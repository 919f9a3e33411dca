//! FT-13. A node that carries the taint of removal when a process of the subject begins to act, as it is started or takes the
//! lease over, is given back or free of the taint a minute after that process could act, and two loops. The subject of the
//! promise is the single node of a pool. While it has the taint it is judged again; excused is a process that was refused
//! something or stood in an order, for as long as that, or ended. A living leader leaves nothing behind, whoever starts beside
//! it.
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

use crate::check::leftovers::taints_go;
use crate::check::scene::Scene;
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("FT-13"),
    promise: "Taints of removals that a process left behind when it ended are taken away by the next one",
    cite: &[thread!(5200)],
    level: Level::Should,
    kind: Kind::FaultTolerance,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    let scene = Scene::of(history);
    let mut tally = Tally::default();
    for (at, event) in scene.beginnings() {
        taints_go(&scene, &mut tally, at, event);
    }
    tally.verdict("the subject was not started while a node carried its taint")
}
