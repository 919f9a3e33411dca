//! SF-08. A pod that nothing controls would not come back: it keeps its node, unless it is annotated as safe
//! to evict. Such a pod is neither evicted, nor is the server given back under it.
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

use crate::check::blocked::must_stay;
use crate::check::scene::Scene;
use crate::check::{Expectation, HETZNER, Kind, Level, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::Pod;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SF-08"),
    promise: "A pod without a controller keeps its node",
    cite: &[faq!(
        "What types of pods can prevent CA from removing a node?",
        "what-types-of-pods-can-prevent-ca-from-removing-a-node"
    )],
    level: Level::Must,
    kind: Kind::Safety,
    providers: HETZNER,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    must_stay(
        history,
        blocks,
        "which nothing controls",
        "no pod without a controller was on a node that could otherwise go",
    )
}

fn blocks(_: &Scene<'_>, pod: &Pod, _: Time) -> bool {
    let freed = pod.safe_to_evict() == Some(true);
    pod.owner.is_none() && !freed
}
