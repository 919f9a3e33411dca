//! KT-05. A node of a claim goes only when no volume is attached to it any more.
//!
//! The smallest history that violates it:
//!
//! ```text
//! 0 s  claim a is going; a VolumeAttachment names its node
//! 9 s  the node is gone, the attachment is not
//! ```
//!
//! Its subject is the node, with each attachment that names it; each end of a node is judged. Excused is a node that went when
//! the termination grace period of its own pool was over, or whose machine had failed, of which nothing can be detached. What
//! went within a second of the node decides nothing.
//!
//! It does not catch attachments whose pods may not be evicted, for which nobody waits: there are none where pods are drained first.

use mock_clock::Time;

use super::claims::{Claims, disruption};
use crate::check::scene::TIE;
use crate::check::{Citation, Expectation, KARPENTER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::terms::Version;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("KT-05"),
    promise: "A node goes only when its volumes are detached",
    cite: &[Citation {
        where_: "Karpenter, Disruption, Termination Controller",
        url: "https://karpenter.sh/docs/concepts/disruption/",
    }],
    level: Level::Must,
    kind: Kind::Safety,
    providers: KARPENTER,
    versions: Versions::since(Version::new(1, 0, 0)),
    always: false,
    check,
};

fn check(history: &History) -> Verdict {
    let claims = Claims::of(history);
    let mut tally = Tally::default();
    for (name, track) in &claims.scene.nodes {
        let Some((name_of_claim, claim)) = claims.claim_of(name) else { continue };
        let grace = claim.last().and_then(|claim| claims.pool_of(claim)).and_then(|it| disruption(it).grace);
        let told = claim.spells(|claim| claim.ending).first().map(|spell| spell.from);
        for ending in track.spells(|node| node.ending) {
            let from = told.unwrap_or(ending.from).min(ending.from);
            let waits = grace.map_or(Time::NEVER, |grace| from + grace.0);
            for (attachment, on) in &claims.attachments {
                let there = on.spells(|node| node == name);
                let Some(there) =
                    there.iter().find(|spell| spell.touches(ending.from, ending.to.unwrap_or(Time::NEVER)))
                else {
                    continue;
                };
                let Some((gone, event)) = ending.to.zip(ending.ended) else {
                    tally.exercised();
                    continue;
                };
                // Of a machine that has failed nothing can be detached.
                let left = claims.asked_back_at(name_of_claim).unwrap_or(gone).min(gone) - TIE;
                if gone + TIE >= waits || !track.at(left).is_some_and(|node| node.ready) {
                    continue;
                }
                tally.exercised();
                if there.to.is_none_or(|to| to > gone + TIE) {
                    tally.violated(
                        format!("{name} went while {attachment} was attached"),
                        [there.began, event],
                    );
                }
            }
        }
    }
    tally.verdict("no volume was attached to a node that was going")
}
