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
//! Its subject is the pool: only its own nodes count, each choice is judged, at the moment at which it was made. A node that
//! somebody else deleted, or that is not ready, counts once that has been so for ten seconds, so latency is none; one whose
//! machine is being given back counts no longer.
//!
//! It does not catch what budgets with a schedule or with reasons forbid beyond the others.

use std::collections::BTreeSet;
use std::time::Duration;

use mock_clock::Time;

use super::claims::{Claims, Going};
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

/// Who has not been ready for so long is known not to be.
const LONG: Duration = Duration::from_secs(10);

fn check(history: &History) -> Verdict {
    let claims = Claims::of(history);
    let mut tally = Tally::default();
    let told: Vec<(Time, Going<'_>)> = claims.going().map(|going| (claims.decided(&going), going)).collect();
    for going in claims.chosen() {
        let at = claims.decided(&going);
        let before = |track: &&Track<Claim>| {
            track.at(at - TIE).is_some_and(|claim| {
                claim.initialized && claim.pool.as_deref() == Some(going.pool.name.as_str())
            })
        };
        let nodes: Vec<&str> =
            claims.all.values().filter(before).filter_map(|it| it.last()?.node.as_deref()).collect();
        let Some(allowed) = Claims::at_most(going.pool, nodes.len()) else { continue };
        if allowed < nodes.len() {
            tally.exercised();
        }
        let earlier: BTreeSet<&str> = told
            .iter()
            .filter(|(decided, other)| (*decided, other.call.event) < (at, going.call.event))
            .filter(|(_, other)| other.track.ever(at, at + TIE, |_| true))
            .map(|(_, other)| other.node)
            .collect();
        let is_out = |node: &&&str| {
            let Some(track) = claims.scene.nodes.get(**node) else { return false };
            let terminating =
                claims.claim_of(node).is_some_and(|(_, it)| it.ever(at, at + TIE, is_terminating));
            let out = earlier.contains(*node) || track.always(at - LONG, at, |it| !it.ready || it.ending);
            **node != going.node && out && !terminating
        };
        let out: Vec<&str> = nodes.iter().filter(is_out).copied().collect();
        if out.len() + 1 > allowed {
            let (name, pool, out_there) = (&going.call.name, &going.pool.name, out.len());
            let says =
                format!("{name} was told to go while {out_there} others of {pool} were going or not ready");
            let shows = out.iter().filter_map(|node| Some(claims.scene.nodes.get(*node)?.sight(at)?.event));
            tally.violated(says, shows.chain([going.call.event]));
        }
    }
    tally.verdict("no node was chosen")
}

/// A machine that is being given back counts for nobody any more.
fn is_terminating(claim: &Claim) -> bool {
    claim.terminating
}
