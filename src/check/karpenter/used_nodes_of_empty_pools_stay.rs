//! KD-04. In a pool that consolidates only when empty, no node is chosen on which pods run that are not of
//! daemons; unless it drifted.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  web-1 runs on the node of claim a; the pool says WhenEmpty
//! 30 s  DELETE /apis/karpenter.sh/v1/nodeclaims/a
//! ```
//!
//! It does not catch pods that were bound within a second of the decision.

use super::claims::{Claims, disruption};
use crate::check::scene::TIE;
use crate::check::{Citation, Expectation, KARPENTER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::Pod;
use crate::terms::Consolidate;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("KD-04"),
    promise: "WhenEmpty never removes a node that runs workload pods",
    cite: &[
        Citation {
            where_: "Karpenter, NodePools, spec.disruption.consolidationPolicy",
            url: "https://karpenter.sh/docs/concepts/nodepools/",
        },
        Citation {
            where_: "Karpenter, Disruption, Consolidation",
            url: "https://karpenter.sh/docs/concepts/disruption/",
        },
    ],
    level: Level::Must,
    kind: Kind::Safety,
    providers: KARPENTER,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    let claims = Claims::of(history);
    let mut tally = Tally::default();
    for going in claims.chosen() {
        let policy = disruption(going.pool).consolidate;
        if going.claim.drifted || policy == Consolidate::WhenEmptyOrUnderutilized {
            continue;
        }
        tally.exercised();
        let at = going.call.began - TIE;
        let stays =
            |pod: &&Pod| !pod.ending && claims.scene.pods[&pod.key()].at(going.call.ended + TIE).is_some();
        if let Some(pod) = claims.scene.occupants(going.node, at).into_iter().find(stays) {
            let says =
                format!("{} was told to go while {} ran on {}", going.call.name, pod.key(), going.node);
            tally.violated(says, [going.call.event]);
        }
    }
    tally.verdict("no node of a pool that says WhenEmpty was chosen")
}
