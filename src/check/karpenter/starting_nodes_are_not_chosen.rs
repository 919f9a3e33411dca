//! KL-06. A claim that is registered and never was initialised is told to go for no reason but its age, its node,
//! its server, or its pool.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  claim a is registered; its node is not ready
//! 60 s  DELETE /apis/karpenter.sh/v1/nodeclaims/a
//! ```
//!
//! Its subject is the claim, for each time that it is registered and not initialised. Excused is one that has its age, whose
//! node or pool was deleted, or whose server is gone from the cloud. There is no time that could be late.
//!
//! It does not catch claims that never registered: they are given up (HY-02).

use std::time::Duration;

use super::claims::{Claims, disruption};
use crate::check::scene::TIE;
use crate::check::{Citation, Expectation, KARPENTER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("KL-06"),
    promise: "A node that is not initialised is never disrupted by choice",
    cite: &[
        Citation {
            where_: "Karpenter, Troubleshooting, Node not initialized",
            url: "https://karpenter.sh/docs/troubleshooting/",
        },
        Citation {
            where_: "Karpenter, Disruption, Disruption Controller",
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

/// So long must a node have been starting for this to mean anything.
const LONG: Duration = Duration::from_secs(120);

fn check(history: &History) -> Verdict {
    let claims = Claims::of(history);
    let pools = query::node_pools(history);
    let mut tally = Tally::default();
    for (name, track) in &claims.all {
        for spell in track.spells(|claim| claim.registered && !claim.initialized && !claim.ending) {
            let until = spell.to.unwrap_or(claims.scene.end);
            let call = claims.deletions.iter().find(|call| call.name == *name && spell.covers(call.began));
            let Some(call) = call else {
                if spell.from + LONG <= until && claims.scene.watched(spell.from, spell.from + LONG) {
                    tally.exercised();
                }
                continue;
            };
            let Some(claim) = track.before(call.event) else { continue };
            let pool = claims.pool_of(claim);
            let old = pool.and_then(|pool| disruption(pool).expire_after).zip(claim.created);
            let old = old.is_some_and(|(age, created)| call.began + TIE >= created + age.0);
            let node = claims
                .node_of(name)
                .is_some_and(|(_, track)| track.at(call.began).is_some_and(|node| !node.ending));
            let there = pool.is_some_and(|pool| {
                pools.get(&pool.name).is_some_and(|track| track.at(call.began).is_some())
            });
            let vanished = claims.scene.servers.values().any(|track| {
                let ours = track.last().is_some_and(|server| server.claim.as_ref() == Some(name));
                ours && track.at(call.began + TIE).is_none()
            });
            if node && there && !old && !vanished {
                tally.violated(
                    format!("{name} was told to go while its node was starting"),
                    [spell.began, call.event],
                );
            }
        }
    }
    tally.verdict("no node took long to start")
}
