//! KD-17. A claim that the subject makes for a node that it has chosen, while no pod waits for such a claim, is initialised
//! before the claim of the node is told to go.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  the node of claim a is tainted, pods run on it
//!  1 s  POST /apis/karpenter.sh/v1/nodeclaims: claim b
//! 10 s  DELETE /apis/karpenter.sh/v1/nodeclaims/a; claim b is not initialised
//! ```
//!
//! Of nodes that were chosen together any of their replacements may be meant: there must be as many that are initialised as
//! nodes of them that were told to go.
//!
//! Its subject is the node that was chosen, with the claims made since; each deletion is judged. A claim that was made while a
//! pod waited that its pool could take, or for which another node was going, may be for that, and convicts nobody; pods for
//! other pools are no excuse. A replacement that failed was never ready. A second either way decides nothing.
//!
//! It does not catch replacements that are made while pods wait for other reasons.

use mock_clock::Time;

use super::claims::{Claims, is_chosen};
use crate::check::fit::fit;
use crate::check::scene::TIE;
use crate::check::{Citation, Expectation, KARPENTER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{ClaimCall, Node, Pod, Track};

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("KD-17"),
    promise: "A replacement is initialised before the node that it replaces is removed",
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
    for going in claims.chosen() {
        let spells = going.track.spells(is_chosen);
        let Some(chosen) = spells.iter().rev().find(|spell| spell.from <= going.call.began + TIE) else {
            continue;
        };
        // Who has nothing to move needs no replacement.
        if claims.scene.occupants(going.node, chosen.from).is_empty() {
            continue;
        }
        let made = replacements(&claims, chosen.from, going.call);
        let ready = made.iter().filter(|made| made.ready).count();
        let late = made.iter().find(|made| made.sure && !made.ready);
        let gone = claims.chosen().filter(|other| {
            chosen.from <= other.call.began
                && other.call.event <= going.call.event
                && !claims.scene.occupants(other.node, chosen.from).is_empty()
        });
        match late {
            Some(late) if ready < gone.count() => {
                let says =
                    format!("{} was told to go before {} was initialised", going.call.name, late.call.name);
                tally.violated(says, [late.call.event, going.call.event]);
            }
            _ if ready > 0 => tally.exercised(),
            _ => {}
        }
    }
    tally.verdict("no node was replaced")
}

/// A claim that may be meant to replace a node.
struct Made<'c> {
    call: &'c ClaimCall,
    /// It was initialised in time.
    ready: bool,
    /// It was made for nothing else: no pod waited that it could have taken, and no other node was going.
    sure: bool,
}

/// Claims that were made from a moment on until another was told to go. One that failed was never ready.
fn replacements<'c>(claims: &'c Claims<'_>, from: Time, going: &ClaimCall) -> Vec<Made<'c>> {
    let made = claims.creations.iter().filter(|made| made.status < 300);
    let made = made.filter(|made| from - TIE <= made.began && made.began <= going.began);
    made.filter_map(|call| {
        let track = claims.all.get(&call.name)?;
        let ready = track.ever(call.began, going.began + TIE, |claim| claim.initialized);
        let pool = call.pool.as_deref().and_then(|pool| claims.scene.pool(pool));
        let (since, then) = (call.began - claims.scene.slack(), call.began + TIE);
        let moves = |(name, track): (&String, &Track<Node>)| {
            let meant = |pod: &Pod| pool.is_none_or(|pool| !fit(&claims.scene, pod, pool).impossible());
            let moved = |pod: &Pod| pod.occupies(name) && meant(pod);
            track.ever(since, then, |node| node.ending)
                && claims.scene.pods_on(name).any(|(_, pod)| pod.ever(since, then, moved))
        };
        let sure = !claims.pods_waited(pool, since, then) && !claims.scene.nodes.iter().any(moves);
        Some(Made { call, ready, sure })
    })
    .collect()
}
