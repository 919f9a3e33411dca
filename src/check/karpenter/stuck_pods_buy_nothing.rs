//! KD-26. While no pod waits that it could be for and no node has been chosen, no claim is made for pods of a node that is going if
//! none of them may be evicted: they say do-not-disrupt, or their disruption budget lets none go.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  claim a is going; its only pod web-1 has a disruption budget that allows 0
//! 20 s  POST /apis/karpenter.sh/v1/nodeclaims
//! ```
//!
//! Its subject is the claim that is made, each by itself. Excused it is by a pod that waits and that its pool could take, by a
//! node that was chosen, and by another that is going with pods that may leave, if they were there two loops before: so latency
//! makes none. Pods for other pools are no excuse.
//!
//! It does not catch claims that are made while anything else could be their reason.

use mock_clock::Time;

use super::claims::{Claims, DECISION, is_chosen, is_pinned};
use super::stay::is_blocked;
use crate::check::scene::TIE;
use crate::check::{Citation, Expectation, KARPENTER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{ClaimCall, Node};

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("KD-26"),
    promise: "Pods that cannot be evicted have nothing bought",
    cite: &[
        Citation {
            where_: "Karpenter, Disruption, Disruption Controller",
            url: "https://karpenter.sh/docs/concepts/disruption/",
        },
        Citation {
            where_: "kubernetes-sigs/karpenter #2033",
            url: "https://github.com/kubernetes-sigs/karpenter/issues/2033",
        },
    ],
    level: Level::Should,
    kind: Kind::ScaleUp,
    providers: KARPENTER,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    let claims = Claims::of(history);
    let mut tally = Tally::default();
    let stuck = stuck(&claims);
    for (node, from, to, event) in &stuck {
        if claims.scene.watched(*from, (*from + DECISION).min(*to)) {
            tally.exercised();
        }
        let within = |made: &&ClaimCall| *event < made.event && made.began + TIE < *to;
        for made in claims.creations.iter().filter(within) {
            let since = made.began - claims.scene.slack();
            let chosen =
                claims.scene.nodes.values().any(|track| track.ever(since, made.began, is_chosen_only));
            let free = claims.scene.nodes.iter().any(|(name, track)| {
                track.ever(since, made.began, |node| node.ending)
                    && !stuck.iter().any(|(other, ..)| *other == name)
            });
            let pool = made.pool.as_deref().and_then(|pool| claims.scene.pool(pool));
            if !claims.pods_waited(pool, since, made.began) && !chosen && !free {
                let says = format!(
                    "{} was made though only pods of {node} had no other place, and none of them may leave it",
                    made.name
                );
                tally.violated(says, [*event, made.event]);
            }
        }
    }
    tally.verdict("no node was going whose pods may not be evicted")
}

fn is_chosen_only(node: &Node) -> bool {
    is_chosen(node) && !node.ending
}

/// From when to when nodes were going of which no pod may be evicted.
fn stuck<'s>(claims: &'s Claims<'_>) -> Vec<(&'s String, Time, Time, usize)> {
    let mut stuck = Vec::new();
    for (name, track) in &claims.scene.nodes {
        for spell in track.spells(|node| node.ending) {
            let to = spell.to.unwrap_or(claims.scene.end);
            let moments = claims.scene.changes_on(name, spell.from, to - TIE);
            let held = |at: &Time| {
                let there = claims.scene.occupants(name, *at);
                !there.is_empty()
                    && there.into_iter().all(|pod| is_pinned(pod) || is_blocked(claims, pod, *at))
            };
            if spell.from + DECISION < to && moments.iter().filter(|at| **at < to).all(held) {
                stuck.push((name, spell.from, to, spell.began));
            }
        }
    }
    stuck
}
