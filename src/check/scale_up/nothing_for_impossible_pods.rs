//! SU-03. Pods that no pool could host, for they ask for more than any of its nodes has or for a label that
//! none has, have nothing bought. An order convicts if all that waited were impossible in its pool, and one
//! of them in every pool.
//!
//! The subject is each order and its pool, judged once: a pod that waits and that this pool may take acquits. Excused is an order
//! that fills a minimum. Who waited within two loops before it counts as waiting, so latency alone convicts nobody.
//!
//! The smallest history that violates it:
//!
//! ```text
//!  0 s  pod huge asks for 1000 processors and is unschedulable
//! 10 s  POST /servers for pool small
//! ```
//!
//! It does not catch orders for pods that are impossible for reasons which the history does not tell, such
//! as affinity.

use crate::check::causes::never_bought_for;
use crate::check::fit::Misfit;
use crate::check::{EVERYBODY, Expectation, Kind, Level, Verdict, Versions};
use crate::code::Code;
use crate::history::History;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SU-03"),
    promise: "Nothing is ordered for pods that no pool could ever host",
    cite: &[
        faq!(
            "I have a couple of pending pods, but there was no scale-up?",
            "i-have-a-couple-of-pending-pods-but-there-was-no-scale-up"
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
        Misfit::Room,
        true,
        "which no pool could host",
        "no pod waited that no pool could host",
    )
}
