//! KD-14. A node that says `karpenter.sh/do-not-disrupt: "true"` of itself is not chosen.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  the node of claim a is annotated with do-not-disrupt
//! 90 s  DELETE /apis/karpenter.sh/v1/nodeclaims/a
//! ```
//!
//! Its subject is the node. Each choice is judged, at the moment at which it was made: what was written three seconds before
//! it, or less, need not be known, and what comes after it protects from nothing. Nothing else excuses, a termination grace
//! period neither.
//!
//! It does not catch what happens after somebody else has deleted the node.

use super::claims::is_protected;
use super::stay::{By, protected_nodes_stay};
use crate::check::{Citation, Expectation, KARPENTER, Kind, Level, Verdict, Versions};
use crate::code::Code;
use crate::history::History;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("KD-14"),
    promise: "A node with do-not-disrupt is not disrupted",
    cite: &[Citation {
        where_: "Karpenter, Disruption, Node-Level Controls",
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
        "though it said do-not-disrupt",
        By::Node,
        |claims, node, at| {
            claims.scene.nodes.get(node).and_then(|track| track.at(at)).is_some_and(is_protected)
        },
        "no node of a claim said do-not-disrupt for long enough",
    )
}
