//! SU-15. Nodes that take no pods are no room: as SU-01, for pods that wait while a node is cordoned.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  node small-a is cordoned, with nothing on it
//!  1 s  pod web-1 is unschedulable
//! 56 s  nothing has been ordered
//! ```
//!
//! It does not catch whether the pod would have fitted the cordoned node: that any is cordoned is enough.

use mock_clock::Time;

use crate::check::reaction::reactions;
use crate::check::scene::timed;
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SU-15"),
    promise: "A pod that waits although cordoned nodes have room has a node ordered",
    cite: &[faq!(
        "When does Cluster Autoscaler change the size of a cluster?",
        "when-does-cluster-autoscaler-change-the-size-of-a-cluster"
    )],
    level: Level::Must,
    kind: Kind::ScaleUp,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: false,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::ReactionTime], |scene, [reaction]| {
        let cordoned =
            |at: Time| scene.nodes.values().any(|track| track.at(at).is_some_and(|node| node.unschedulable));
        reactions(scene, reaction, |_, spell| cordoned(spell.from))
            .verdict("no pod waited while a node was cordoned")
    })
}
