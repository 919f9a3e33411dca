//! SU-15. Nodes that take no pods are no room: as SU-01, for pods that wait while a cordoned node has room for them.
//!
//! The subject is the single pod, asked again as long as it waits and a cordoned node has room for it. What excuses it, and what
//! is granted, is as in SU-01.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  node small-a is cordoned, with nothing on it
//!  1 s  pod web-1 is unschedulable
//! 56 s  nothing has been ordered
//! ```
//!
//! It does not catch pods that keep away from others, or want of their node what the history does not tell.

use crate::check::reaction::{has_barred_room, reactions_while};
use crate::check::scene::timed;
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::Node;
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

/// The taint that cordoned nodes are given.
const CORDONED: &str = "node.kubernetes.io/unschedulable";

fn check(history: &History) -> Verdict {
    timed(history, [Timer::ReactionTime], |scene, [reaction]| {
        let cordoned = |node: &Node| node.unschedulable;
        reactions_while(scene, reaction, |pod, at| has_barred_room(scene, pod, at, CORDONED, cordoned))
            .verdict("no pod waited while a cordoned node had room for it")
    })
}
