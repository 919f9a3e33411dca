//! KD-15. A node with a running pod of which a disruption budget lets none go is not chosen.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  web-1 runs on the node of claim a; its disruption budget allows 0
//! 90 s  DELETE /apis/karpenter.sh/v1/nodeclaims/a
//! ```
//!
//! Its subject is the node, with the budgets that cover a pod on it; each choice is judged, at the moment at which it was made.
//! Excused is one that drifted in a pool that grants a termination grace period; what a budget says only since three seconds
//! before the choice need not be known, and what it says after it protects from nothing.
//!
//! It does not catch a budget that changed within a second of the decision.

use super::stay::{By, blocked, protected_nodes_stay};
use crate::check::{Citation, Expectation, KARPENTER, Kind, Level, Verdict, Versions};
use crate::code::Code;
use crate::history::History;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("KD-15"),
    promise: "A pod whose disruption budget allows nothing keeps its node from being disrupted",
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
        "though a disruption budget allowed nothing",
        By::Pods,
        blocked,
        "no disruption budget allowed nothing on a node of a claim for long enough",
    )
}
