//! KD-12. A node with a running pod that says `karpenter.sh/do-not-disrupt: "true"` is not chosen: neither to
//! consolidate it, nor, if its pool grants no termination grace period, because it drifted.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  web-1 with do-not-disrupt runs on the node of claim a
//! 90 s  DELETE /apis/karpenter.sh/v1/nodeclaims/a
//! ```
//!
//! Its subject is the node, with the pods on it; each choice is judged, at the moment at which it was made. Excused is one that
//! drifted in a pool that grants a termination grace period; a pod that says so only since three seconds before the choice need
//! not be known of, and what comes after the choice protects from nothing.
//!
//! It does not catch what happens after somebody else has deleted the node.

use super::claims::is_pinned;
use super::stay::{By, protected_nodes_stay};
use crate::check::{Citation, Expectation, KARPENTER, Kind, Level, Verdict, Versions};
use crate::code::Code;
use crate::history::History;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("KD-12"),
    promise: "A pod with do-not-disrupt keeps its node from being disrupted",
    cite: &[Citation {
        where_: "Karpenter, Disruption, Pod-Level Controls",
        url: "https://karpenter.sh/docs/concepts/disruption/",
    }],
    level: Level::Must,
    kind: Kind::Safety,
    providers: KARPENTER,
    versions: Versions::ALL,
    always: false,
    check,
};

fn check(history: &History) -> Verdict {
    protected_nodes_stay(
        history,
        "though a pod said do-not-disrupt",
        By::Pods,
        |claims, node, at| {
            claims.scene.occupants(node, at).into_iter().any(|pod| is_pinned(pod) && !pod.ending)
        },
        "no pod said do-not-disrupt on a node of a claim for long enough",
    )
}
