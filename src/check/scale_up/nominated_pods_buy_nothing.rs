//! SU-06. A pod for which the scheduler has found a node that is being cleared for it needs no new one. An
//! order convicts if all that waited were impossible, one of them because it was nominated.
//!
//! The subject is each order and its pool, judged once: a pod that waits and that this pool may take acquits. Excused is an order
//! that fills a minimum. Who waited within two loops before it counts as waiting, so latency alone convicts nobody.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  pod vip-1 is unschedulable, status.nominatedNodeName is small-a
//! 10 s  POST /servers for pool small
//! ```
//!
//! It does not catch a nomination that came while the order was placed.

use crate::check::causes::never_bought_for;
use crate::check::fit::Misfit;
use crate::check::{EVERYBODY, Expectation, Kind, Level, Verdict, Versions};
use crate::code::Code;
use crate::history::History;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SU-06"),
    promise: "Nothing is ordered for a pod that waits for the pre-emption of others",
    cite: &[
        faq!(
            "How does Cluster Autoscaler work with Pod Priority and Preemption?",
            "how-does-cluster-autoscaler-work-with-pod-priority-and-preemption"
        ),
        karpenter!("Scheduling", "concepts/scheduling"),
    ],
    level: Level::Must,
    kind: Kind::ScaleUp,
    providers: EVERYBODY,
    versions: Versions::ALL,
    always: false,
    check,
};

fn check(history: &History) -> Verdict {
    never_bought_for(
        history,
        Misfit::Nominated,
        false,
        "which already had a node nominated",
        "no pod waited with a nominated node",
    )
}
