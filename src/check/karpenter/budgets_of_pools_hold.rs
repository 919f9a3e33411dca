//! KD-07. When a node is chosen, no more of its pool are on their way out, or not ready, than the budgets of the
//! pool allow: the part of its nodes, rounded up, less those that are already going or not ready.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  the nodes of claims a and b of five are empty; the budget is 10 %
//! 60 s  DELETE /apis/karpenter.sh/v1/nodeclaims/a
//! 60 s  DELETE /apis/karpenter.sh/v1/nodeclaims/b
//! ```
//!
//! It does not catch budgets with a schedule or with reasons.

use std::collections::BTreeSet;

use super::claims::Claims;
use crate::check::scene::TIE;
use crate::check::{Citation, Expectation, KARPENTER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{Claim, Track};

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("KD-07"),
    promise: "No more nodes of a pool are disrupted at a time than its budgets allow",
    cite: &[Citation {
        where_: "Karpenter, Disruption, NodePool Disruption Budgets",
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
    for going in claims.chosen() {
        let at = going.call.began;
        let before = |track: &&Track<Claim>| {
            track.at(at - TIE).is_some_and(|claim| {
                claim.initialized && claim.pool.as_deref() == Some(going.pool.name.as_str())
            })
        };
        let nodes: Vec<&str> =
            claims.all.values().filter(before).filter_map(|it| it.last()?.node.as_deref()).collect();
        let Some(allowed) = Claims::allowed(going.pool, nodes.len()) else { continue };
        tally.exercised();
        let earlier: BTreeSet<&str> = claims
            .going()
            .filter(|other| other.call.event < going.call.event && other.call.began <= at)
            .filter(|other| other.track.ever(at, at + TIE, |_| true) && nodes.contains(&other.node))
            .map(|other| other.node)
            .collect();
        if earlier.len() + 1 > allowed {
            let says = format!(
                "{} was told to go while {} others of {} were going",
                going.call.name,
                earlier.len(),
                going.pool.name
            );
            tally.violated(says, [going.call.event]);
        }
    }
    tally.verdict("no node was chosen")
}
