//! SU-01. For a pod that waits, that some pool takes for certain, and that nothing else will help, an order that may be for
//! it is placed within the reaction time of the subject plus two loops: one in a pool that it fits. If it waits on when what
//! was ordered is there, has failed or is overdue, it is asked again. Excused is a subject that does not run, was refused
//! something, stands in an order, has enough capacity on the way, is at a limit or may be in back-off.
//!
//! The subject is the single pod. Two loops and a few calls are granted beside the reaction time, so latency alone convicts
//! nobody.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  pod web-1 is unschedulable, and fits a node of pool small (0 of 3)
//! 55 s  nothing has been ordered
//! ```
//!
//! It does not catch an order of the wrong pool (SU-04, SU-08), nor one that is too big (SU-02).

use crate::check::reaction::reactions_throughout;
use crate::check::scene::timed;
use crate::check::{EVERYBODY, Expectation, Kind, Level, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SU-01"),
    promise: "A pod that is unschedulable and fits a new node of a pool has one ordered within the reaction time",
    cite: &[
        faq!(
            "What are the Service Level Objectives for Cluster Autoscaler?",
            "what-are-the-service-level-objectives-for-cluster-autoscaler"
        ),
        faq!(
            "When does Cluster Autoscaler change the size of a cluster?",
            "when-does-cluster-autoscaler-change-the-size-of-a-cluster"
        ),
        karpenter!("Settings, Batching Parameters", "reference/settings"),
    ],
    level: Level::Must,
    kind: Kind::ScaleUp,
    providers: EVERYBODY,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::ReactionTime], |scene, [reaction]| {
        reactions_throughout(scene, reaction).verdict("no pod waited that a pool was sure to take")
    })
}
