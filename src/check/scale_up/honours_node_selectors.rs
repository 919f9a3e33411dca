//! SU-04. The labels that a pod asks for restrict the pools in which something is bought for it. An order
//! convicts if all that waited were impossible in its pool, one of them for its node selector.
//!
//! The subject is each order and its pool, judged once: a pod that waits and that this pool may take acquits. Excused is an order
//! that fills a minimum. Who waited within two loops before it counts as waiting, so latency alone convicts nobody.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  pod web-1 with nodeSelector disk=fast is unschedulable; only pool big has that label
//! 10 s  POST /servers for pool small
//! ```
//!
//! It does not catch node affinity, which it does not read, nor a missing order (SU-01).

use crate::check::causes::never_bought_for;
use crate::check::fit::Misfit;
use crate::check::{EVERYBODY, Expectation, Kind, Level, Verdict, Versions};
use crate::code::Code;
use crate::history::History;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SU-04"),
    promise: "A node selector restricts the pools in which a node is ordered",
    cite: &[
        faq!(
            "Does CA respect node affinity when selecting node groups to scale up?",
            "does-ca-respect-node-affinity-when-selecting-node-groups-to-scale-up"
        ),
        karpenter!("Scheduling, Selecting nodes", "concepts/scheduling"),
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
        Misfit::Selector,
        false,
        "whose node selector excludes that pool",
        "no pod waited whose node selector excludes a pool",
    )
}
