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
//! It does not catch replacements that are made while pods wait for other reasons.

use super::claims::{Claims, is_chosen};
use crate::check::scene::TIE;
use crate::check::{Citation, Expectation, KARPENTER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;

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
        let made = claims.creations.iter().filter(|made| {
            chosen.from - TIE <= made.began && made.began <= going.call.began && !made.name.is_empty()
        });
        for made in made {
            let Some(track) = claims.all.get(&made.name) else { continue };
            // One that failed is no replacement any more.
            if track.at(going.call.began).is_none_or(|claim| claim.ending) {
                continue;
            }
            tally.exercised();
            if !track.ever(made.began, going.call.began + TIE, |claim| claim.initialized) {
                let says = format!("{} was told to go before {} was initialised", going.call.name, made.name);
                tally.violated(says, [made.event, going.call.event]);
            }
        }
    }
    tally.verdict("no node was replaced")
}
