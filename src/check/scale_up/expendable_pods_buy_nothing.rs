//! SU-05. Pods of a priority below the cut-off are expendable: nothing is bought for them. An order convicts
//! if all that waited were impossible, one of them for its priority.
//!
//! The subject is each order and its pool, judged once: a pod that waits and that this pool may take acquits. Excused is an order
//! that fills a minimum. Who waited within two loops before it counts as waiting, so latency alone convicts nobody.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  pod batch-1 with priority -100 is unschedulable
//! 10 s  POST /servers for pool small
//! ```
//!
//! It does not catch expendable pods that prevent a removal.

use crate::check::causes::never_bought_for;
use crate::check::fit::Misfit;
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Verdict, Versions};
use crate::code::Code;
use crate::history::History;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SU-05"),
    promise: "Nothing is ordered for pods with a priority below the cut-off",
    cite: &[
        faq!(
            "How does Cluster Autoscaler work with Pod Priority and Preemption?",
            "how-does-cluster-autoscaler-work-with-pod-priority-and-preemption"
        ),
        flag!("--expendable-pods-priority-cutoff"),
    ],
    level: Level::Must,
    kind: Kind::ScaleUp,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: false,
    check,
};

fn check(history: &History) -> Verdict {
    never_bought_for(
        history,
        Misfit::Priority,
        false,
        "whose priority is below the cut-off",
        "no pod waited with a priority below the cut-off",
    )
}
