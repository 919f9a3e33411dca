//! KT-01. When somebody deletes the node of a claim, the claim goes, too, and both are gone within a minute and a half
//! unless a pod may not leave or a volume is attached.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  kubectl delete node of claim a, on which nothing runs
//! 90 s  claim a is still there
//! ```
//!
//! It does not catch how pods left it (KT-03).

use std::time::Duration;

use super::claims::Claims;
use crate::check::scene::TIE;
use crate::check::{Citation, Expectation, KARPENTER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("KT-01"),
    promise: "Deleting a node removes its claim and its machine",
    cite: &[Citation {
        where_: "Karpenter, Disruption, Manual Methods",
        url: "https://karpenter.sh/docs/concepts/disruption/",
    }],
    level: Level::Must,
    kind: Kind::ScaleDown,
    providers: KARPENTER,
    versions: Versions::ALL,
    always: false,
    check,
};

/// How long that may take where pods end at once.
const GONE: Duration = Duration::from_secs(90);

fn check(history: &History) -> Verdict {
    let claims = Claims::of(history);
    let deletions = query::node_deletions(history);
    let attachments = query::attachments(history);
    let mut tally = Tally::default();
    for (name, track) in &claims.scene.nodes {
        let Some((claim, of)) = claims.claim_of(name) else { continue };
        for spell in track.spells(|node| node.ending) {
            let own = deletions.iter().any(|call| call.node == *name && call.began <= spell.from + TIE)
                || of.at(spell.from - TIE).is_none_or(|claim| claim.ending);
            if own {
                continue;
            }
            let due = spell.from + GONE;
            let gone = of.seen.iter().find(|seen| seen.state.is_none()).map(|seen| seen.at);
            let busy = !claims.scene.occupants(name, spell.from + GONE / 3).is_empty()
                || attachments.values().any(|track| track.ever(spell.from, due, |node| node == name));
            if gone.is_some_and(|gone| gone <= due) && spell.to.is_some() {
                tally.exercised();
            } else if due <= claims.scene.end && claims.scene.calm(spell.from, due) && !busy {
                tally.violated(format!("{name} was deleted, and {claim} did not go with it"), [spell.began]);
            }
        }
    }
    tally.verdict("nobody else deleted a node of a claim")
}
