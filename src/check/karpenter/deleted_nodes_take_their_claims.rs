//! KT-01. When somebody deletes the node of a claim, the claim goes, too, and both are gone within a minute and a half after
//! the last pod that has to leave it and the last volume.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  kubectl delete node of claim a, on which nothing runs
//! 90 s  claim a is still there
//! ```
//!
//! Its subject is the node with its claim. The time begins when the last pod that has to leave, the last volume and the cloud's
//! own work on its machine are gone, and begins again two minutes after a call went wrong that was about them or about no one
//! object: trouble with other claims is none. Latency is none of a minute and a half.
//!
//! It does not catch how pods left it (KT-03).

use std::time::Duration;

use super::claims::Claims;
use crate::check::scene::{TIE, Trouble};
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
    let mut tally = Tally::default();
    for (name, track) in &claims.scene.nodes {
        let Some((claim, of)) = claims.claim_of(name) else { continue };
        for spell in track.spells(|node| node.ending) {
            let own = deletions.iter().any(|call| call.node == *name && call.began <= spell.from + TIE)
                || of.at(spell.from - TIE).is_none_or(|claim| claim.ending);
            if own {
                continue;
            }
            let free = claims.busy_until(claim, spell.from, GONE);
            let gone = of.seen.iter().find(|seen| seen.state.is_none()).map(|seen| seen.at);
            let gone = gone.zip(spell.to).map(|(claim, node)| claim.max(node));
            let until = gone.unwrap_or(claims.scene.end);
            let concerns = |trouble: &Trouble| claims.concerns(claim, trouble);
            if gone.is_some_and(|gone| gone <= free + GONE) {
                tally.exercised();
            } else if claims.scene.calm_from(free, GONE, until, concerns).is_some() {
                tally.violated(format!("{name} was deleted, and {claim} did not go with it"), [spell.began]);
            }
        }
    }
    tally.verdict("nobody else deleted a node of a claim")
}
