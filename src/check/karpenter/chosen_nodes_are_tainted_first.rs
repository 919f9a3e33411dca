//! KD-16. A claim with a usable node that nobody else has deleted, that is not too old and whose node is there and
//! ready, is told to go only after the node has got the taint that keeps pods away.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  the node of claim a is ready, and has no taint
//! 60 s  DELETE /apis/karpenter.sh/v1/nodeclaims/a
//! ```
//!
//! Its subject is the claim that is told to go, each by itself. Excused is one whose node was deleted by somebody else, before
//! the call or within a second of it, has its age or is not ready, or whose pool is gone. The taint must be there then: one
//! that was taken off long before is none. A second either way decides nothing.
//!
//! It does not catch a taint that comes within a second of the deletion.

use super::claims::{Claims, is_chosen};
use crate::check::scene::TIE;
use crate::check::{Citation, Expectation, KARPENTER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("KD-16"),
    promise: "A node that is to be disrupted is tainted before its claim is deleted",
    cite: &[Citation {
        where_: "Karpenter, Disruption, Disruption Controller",
        url: "https://karpenter.sh/docs/concepts/disruption/",
    }],
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
    for going in claims.going() {
        let Some(node) = going.track.at(going.call.began - TIE) else { continue };
        let pool_there = query::node_pools(history)
            .get(&going.pool.name)
            .is_some_and(|pool| pool.at(going.call.began).is_some());
        if !node.ready || Claims::forced(&going) || claims.deleted_by_others(&going) || !pool_there {
            continue;
        }
        // What was seen a second later is not told yet.
        if claims.scene.end <= going.call.ended + TIE {
            continue;
        }
        tally.exercised();
        if !going.track.ever(going.call.began - TIE, going.call.ended + TIE, is_chosen) {
            let says = format!("{} was told to go, and its node had no taint", going.call.name);
            tally.violated(says, [going.call.event]);
        }
    }
    tally.verdict("no claim with a usable node was told to go")
}
