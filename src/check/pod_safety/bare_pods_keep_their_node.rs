//! SF-08. A pod that nothing controls would not come back: it keeps its node, unless it is annotated as safe to evict. Such a
//! pod is neither evicted, nor is the server given back under it. A node with nothing but pods that are annotated so is given
//! back, as in SF-05. The subject of the promise is the single pod, and for the last part the node. Each eviction and each
//! give-back is judged, by the moment at which the removal was decided. Pods below the priority cutoff keep nothing. What
//! excuses a node that is kept stands in SF-05.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  bare-1 without owner runs on small-a, and nothing else
//! 600 s  POST …/pods/bare-1/eviction
//! ```
//!
//! It does not catch pods of controllers that do not exist.

use mock_clock::Time;

use crate::check::blocked::stay;
use crate::check::freed::{let_go, unprotected};
use crate::check::scene::{Scene, timed};
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::Pod;
use crate::terms::Timer;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SF-08"),
    promise: "A pod without a controller keeps its node, unless it is annotated as safe to evict",
    cite: &[faq!(
        "What types of pods can prevent CA from removing a node?",
        "what-types-of-pods-can-prevent-ca-from-removing-a-node"
    )],
    level: Level::Must,
    kind: Kind::Safety,
    providers: CLUSTER_AUTOSCALER,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    timed(history, [Timer::UnneededTime, Timer::UnremovableRecheck, Timer::EvictionTime], |scene, timers| {
        let mut tally = Tally::default();
        stay(scene, &mut tally, timers[0], blocks, "which nothing controls");
        let_go(
            scene,
            &mut tally,
            timers.iter().sum(),
            freed,
            "pods that nothing controls and that are free to go",
        );
        tally.verdict("no pod without a controller was on a node that could otherwise go")
    })
}

fn blocks(_: &Scene<'_>, pod: &Pod, _: Time) -> bool {
    pod.owner.is_none() && pod.safe_to_evict() != Some(true)
}

fn freed(scene: &Scene<'_>, pod: &Pod, at: Time) -> bool {
    pod.owner.is_none() && pod.safe_to_evict() == Some(true) && unprotected(scene, pod, at)
}
