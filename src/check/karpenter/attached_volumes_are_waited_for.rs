//! KT-05. A node of a claim goes only when no volume is attached to it any more.
//!
//! The smallest history that violates it:
//!
//! ```text
//! 0 s  claim a is going; a VolumeAttachment names its node
//! 9 s  the node is gone, the attachment is not
//! ```
//!
//! It does not catch attachments whose pods may not be evicted, for which nobody waits: there are none where pods are drained first.

use mock_clock::Time;

use super::claims::{Claims, disruption};
use crate::check::scene::TIE;
use crate::check::{Citation, Expectation, KARPENTER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query;
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
    let attachments = query::attachments(history);
    let mut tally = Tally::default();
    for (name, track) in &claims.scene.nodes {
        let Some((_, claim)) = claims.claim_of(name) else { continue };
        let graced = claim
            .last()
            .and_then(|claim| claims.pool_of(claim))
            .is_some_and(|pool| disruption(pool).grace.is_some());
        for ending in track.spells(|node| node.ending).into_iter().filter(|_| !graced) {
            for (attachment, on) in &attachments {
                let there = on.spells(|node| node == name);
                let Some(there) =
                    there.iter().find(|spell| spell.touches(ending.from, ending.to.unwrap_or(Time::NEVER)))
                else {
                    continue;
                };
                tally.exercised();
                let Some((gone, event)) = ending.to.zip(ending.ended) else { continue };
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
