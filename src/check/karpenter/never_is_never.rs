//! KD-06. In a pool with `consolidateAfter: Never` no node is chosen unless it drifted, however long it is empty.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  the node of claim a is empty; consolidateAfter is Never
//! 90 s  DELETE /apis/karpenter.sh/v1/nodeclaims/a
//! ```
//!
//! Its subject is the node, in a pool that says Never; each choice is judged, and nothing but drift excuses it. There is no
//! time that could be late.
//!
//! It does not catch a node that was empty for less than five minutes.

use std::time::Duration;

use super::claims::{Claims, disruption};
use crate::check::{Citation, Expectation, KARPENTER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::terms::{Consolidate, Pool};

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("KD-06"),
    promise: "consolidateAfter: Never disables consolidation",
    cite: &[Citation {
        where_: "Karpenter, NodePools, spec.disruption.consolidateAfter",
        url: "https://karpenter.sh/docs/concepts/nodepools/",
    }],
    level: Level::Must,
    kind: Kind::Config,
    providers: KARPENTER,
    versions: Versions::ALL,
    always: false,
    check,
};

/// So long must a node have been empty for this to mean anything.
const LONG: Duration = Duration::from_secs(300);

fn check(history: &History) -> Verdict {
    let claims = Claims::of(history);
    let never = |pool: &Pool| disruption(pool).consolidate == Consolidate::Never;
    let mut tally = Tally::default();
    for going in claims.chosen().filter(|going| never(going.pool) && !going.claim.drifted) {
        tally.violated(
            format!("{} was told to go though its pool says Never", going.call.name),
            [going.call.event],
        );
    }
    for (spell, _, _, pool) in claims.vacancies() {
        if never(pool)
            && claims.scene.watched(spell.from, spell.from + LONG)
            && spell.spans(spell.from, spell.from + LONG)
        {
            tally.exercised();
        }
    }
    tally.verdict("no node of a pool that says Never was empty for five minutes")
}
