//! KD-17. A claim that the subject makes for a node that it has chosen, while no pod waits, is initialised before
//! the claim of the node is told to go.
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
//! nodes of them that were told to go, or all that were made.
//!
//! It does not catch replacements that are made while pods wait for other reasons.

use mock_clock::Time;

use super::claims::{Claims, is_chosen};
use crate::check::scene::TIE;
use crate::check::{Citation, Expectation, KARPENTER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::ClaimCall;

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
        if claims.pods_wait(chosen.from - claims.scene.slack(), going.call.began) {
            continue;
        }
        // Who has nothing to move needs no replacement.
        if claims.scene.occupants(going.node, chosen.from).is_empty() {
            continue;
        }
        let made = replacements(&claims, chosen.from, going.call);
        let (ready, late): (Vec<_>, Vec<_>) = made.iter().partition(|(_, ready)| *ready);
        let gone = claims.chosen().filter(|other| {
            chosen.from <= other.call.began
                && other.call.event <= going.call.event
                && !claims.scene.occupants(other.node, chosen.from).is_empty()
        });
        match late.first() {
            _ if made.is_empty() => {}
            Some((late, _)) if ready.len() < gone.count().min(made.len()) => {
                let says = format!("{} was told to go before {} was initialised", going.call.name, late.name);
                tally.violated(says, [late.event, going.call.event]);
            }
            _ => tally.exercised(),
        }
    }
    tally.verdict("no node was replaced")
}

/// Claims that were made from a moment on until another was told to go, and whether they were initialised by then. One that
/// failed is no replacement.
fn replacements<'c>(claims: &'c Claims<'_>, from: Time, going: &ClaimCall) -> Vec<(&'c ClaimCall, bool)> {
    let made = claims.creations.iter();
    let made = made.filter(|made| from - TIE <= made.began && made.began <= going.began);
    made.filter_map(|made| {
        let track = claims.all.get(&made.name)?;
        track.at(going.began).filter(|claim| !claim.ending)?;
        Some((made, track.ever(made.began, going.began + TIE, |claim| claim.initialized)))
    })
    .collect()
}
