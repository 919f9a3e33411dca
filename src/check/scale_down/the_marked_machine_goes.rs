//! SF-15. The machine whose node was chosen is marked before the size of its machine deployment is reduced: otherwise the
//! controllers choose another, with all that runs on it.
//!
//! The subject is each machine that goes. Nothing excuses it; a mark that is seen a second before or after the write counts, so
//! latency alone convicts nobody.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  PATCH machinedeployments/small/scale with one less; no machine of it carries delete-machine
//!  2 s  machine small-a, which has a ready node, is told to go
//! ```
//!
//! It does not catch a mark on the wrong machine.

use crate::check::scene::{Scene, TIE};
use crate::check::{CLUSTERAPI, Citation, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SF-15"),
    promise: "The machine that shall go is marked before the size of its machine deployment is reduced",
    cite: &[Citation {
        where_: "Cluster API, supported annotations, cluster.x-k8s.io/delete-machine",
        url: "https://cluster-api.sigs.k8s.io/reference/api/labels-and-annotations",
    }],
    level: Level::Must,
    kind: Kind::Safety,
    providers: CLUSTERAPI,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    let scene = Scene::of(history);
    let mut tally = Tally::default();
    for back in scene.give_backs.iter().filter(|back| back.taken()) {
        let had_a_node = scene.ready(back.server).is_some_and(|ready| ready < back.began);
        let mut marks = scene.marks.get(&back.server).into_iter().flatten();
        if !had_a_node {
            continue;
        }
        tally.exercised();
        if !marks.any(|spell| spell.touches(back.began - TIE, back.ended + TIE)) {
            let says = format!(
                "machine {} went because its pool was made smaller, and nobody had marked it",
                back.server
            );
            tally.violated(says, [back.event]);
        }
    }
    tally.verdict("no machine with a node was given back")
}
