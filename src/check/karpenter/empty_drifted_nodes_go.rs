//! KD-22. While the template of its pool is another than when it was made, a claim whose node is empty is told to go within two
//! minutes, as many times as the budgets make it wait, whatever the pool says of consolidation.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  the node of claim a is empty, and its pool says Never
//! 10 s  a label is added to the template of the pool
//! 150 s  claim a has not been told to go
//! ```
//!
//! Its subject is the claim, whenever its node is empty while its own pool's template says otherwise than when it was made:
//! also one that becomes empty later, and no longer when pods come. It is judged again after each excuse, which are those of
//! KD-19, but that nothing is to be bought for it. Latency is none of two minutes.
//!
//! It does not catch nodes with pods, which are KD-19.

use std::time::Duration;

use super::drift::{Which, drift_is_mended};
use crate::check::{Citation, Expectation, KARPENTER, Kind, Level, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::terms::Version;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("KD-22"),
    promise: "An empty node that drifted is removed even where consolidation is off",
    cite: &[
        Citation {
            where_: "Karpenter, Disruption, Drift",
            url: "https://karpenter.sh/docs/concepts/disruption/",
        },
        Citation {
            where_: "kubernetes-sigs/karpenter #2423",
            url: "https://github.com/kubernetes-sigs/karpenter/issues/2423",
        },
    ],
    level: Level::Must,
    kind: Kind::Config,
    providers: KARPENTER,
    versions: Versions::since(Version::new(1, 0, 0)),
    always: false,
    check,
};

/// How long it takes to find out, and to decide.
const FOUND: Duration = Duration::from_secs(120);

fn check(history: &History) -> Verdict {
    drift_is_mended(
        history,
        Which::Empty,
        FOUND,
        "no node was empty while the template of its pool was another",
    )
}
