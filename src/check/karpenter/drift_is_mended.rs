//! KD-19. When the template of a pool changes what its nodes are like, each of its claims is told to go: after five
//! minutes for the boot of a replacement, as many times as the budgets make it wait. Nodes that must stay are excused.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  a label is added to the template of the pool of claim a
//! 900 s  claim a has not been told to go
//! ```
//!
//! Its subject is the claim, from the moment at which its own pool's template says otherwise than when it was made for as long
//! as it does, once it can be used. It is judged again after each excuse: a pod or a budget that kept the node, a replacement
//! that starts, a full pool, a budget used up, a subject that did not run or was refused something. Latency is none of six
//! minutes.
//!
//! It does not catch whether the new node is as the template says.

use std::time::Duration;

use super::drift::{Which, drift_is_mended};
use crate::check::{Citation, Expectation, KARPENTER, Kind, Level, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::terms::Version;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("KD-19"),
    promise: "Nodes that no longer are as their pool says are replaced",
    cite: &[Citation {
        where_: "Karpenter, Disruption, Drift",
        url: "https://karpenter.sh/docs/concepts/disruption/",
    }],
    level: Level::Must,
    kind: Kind::Config,
    providers: KARPENTER,
    versions: Versions::since(Version::new(1, 0, 0)),
    always: false,
    check,
};

/// How long it takes to find out, and to have a replacement.
const REPLACED: Duration = Duration::from_secs(360);

fn check(history: &History) -> Verdict {
    drift_is_mended(history, Which::All, REPLACED, "the template of no pool with usable nodes was changed")
}
