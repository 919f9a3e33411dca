//! SF-06. A pod that is annotated as not safe to evict keeps its node. Such a pod is neither evicted, nor is the server given
//! back under it. The subject of the promise is the single pod; each eviction and each give-back is judged, by the moment at
//! which the removal was decided. Pods below the priority cutoff keep nothing. Seconds around that moment convict nobody.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  web-1 with safe-to-evict=false runs on small-a, and nothing else
//! 600 s  POST …/pods/web-1/eviction
//! ```
//!
//! It does not catch an annotation that came while the node was being removed.

use mock_clock::Time;

use crate::check::blocked::must_stay;
use crate::check::scene::Scene;
use crate::check::{CLUSTER_AUTOSCALER, Expectation, Kind, Level, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::Pod;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("SF-06"),
    promise: "A pod annotated with safe-to-evict false keeps its node",
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
    must_stay(
        history,
        blocks,
        "which is annotated as not safe to evict",
        "no pod annotated as not safe to evict was on a node that could otherwise go",
    )
}

fn blocks(_: &Scene<'_>, pod: &Pod, _: Time) -> bool {
    pod.safe_to_evict() == Some(false)
}
