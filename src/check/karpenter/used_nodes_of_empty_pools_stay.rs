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
//! Its subject is the node; each choice is judged, at the moment at which it was made, by pods that were there three seconds
//! before and stay. Nothing but its drift excuses it, and pods that come after the choice do not matter.
//!
//! It does not catch pods that were bound within a second of the decision.

use super::claims::{Claims, LATE, disruption};
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
        let decided = claims.decided(&going);
        let runs = |pod: &Pod| pod.occupies(going.node) && !pod.ending;
        let stays = |pod: &&Pod| {
            let track = &claims.scene.pods[&pod.key()];
            let known = [decided - LATE, decided - TIE].into_iter().all(|at| track.at(at).is_some_and(runs));
            known && track.at(going.call.ended + TIE).is_some_and(|pod| pod.occupies(going.node))
        };
        if let Some(pod) = claims.scene.occupants(going.node, decided - TIE).into_iter().find(stays) {
            let says =
                format!("{} was told to go while {} ran on {}", going.call.name, pod.key(), going.node);
            tally.violated(says, [going.call.event]);
        }
    }
    tally.verdict("no node of a pool that says WhenEmpty was chosen")
}
