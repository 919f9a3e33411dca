//! KD-18. The taint of a node that was chosen comes off again, or its claim is told to go, within ten minutes and
//! half a minute; also if the subject was killed in between.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  the node of claim a is tainted
//! 700 s  it still is, and claim a has not been told to go
//! ```
//!
//! Its subject is the node with its claim, for each time that it is tainted. It is judged again as long as the taint stays: a
//! process that is not awake, or what goes wrong with a call about this node or claim or about none, excuses until two minutes
//! after it, and then a minute is granted again. Latency is none of ten minutes.
//!
//! It does not catch what is decided wrongly within that time.

use super::claims::{COMMAND, Claims, DECISION, is_chosen};
use crate::check::scene::Trouble;
use crate::check::{Citation, Expectation, KARPENTER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("KD-18"),
    promise: "A node that was chosen goes, or is let go: no taint is left behind",
    cite: &[Citation {
        where_: "Karpenter, Disruption, Disruption Controller",
        url: "https://karpenter.sh/docs/concepts/disruption/",
    }],
    level: Level::Must,
    kind: Kind::Backoff,
    providers: KARPENTER,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    let claims = Claims::of(history);
    let mut tally = Tally::default();
    for (name, track) in &claims.scene.nodes {
        let Some((name_of_claim, claim)) = claims.claim_of(name) else { continue };
        for spell in track.spells(|node| is_chosen(node) && !node.ending) {
            let ends = claim.spells(|claim| claim.ending).first().map(|spell| spell.from);
            let until = [spell.to, ends].into_iter().flatten().min();
            let due = spell.from + COMMAND;
            if until.is_some_and(|until| until <= due) {
                tally.exercised();
                continue;
            }
            let concerns = |trouble: &Trouble| claims.concerns(name_of_claim, trouble);
            let until = until.unwrap_or(claims.scene.end);
            if claims.scene.calm_from(due - DECISION, DECISION, until, concerns).is_some() {
                tally.violated(format!("{name} was chosen, and neither went nor was let go"), [spell.began]);
            }
        }
    }
    tally.verdict("no node was chosen")
}
