//! KT-12. Where a pool sets no termination grace period, a pod that says do-not-disrupt is neither evicted nor
//! deleted, however long its node waits for it.
//!
//! The smallest history that violates it:
//!
//! ```text
//! 0 s  claim a is going; web-1 on its node says do-not-disrupt
//! 9 s  POST /api/v1/namespaces/default/pods/web-1/eviction: 201
//! ```
//!
//! Its subject is the pod; each call that was granted is judged. A pod that says so only since three seconds before the call,
//! or less, need not be known of. The grace period of another pool is no excuse.
//!
//! It does not catch pods that say so only for a time.

use std::time::Duration;

use super::claims::{Claims, LATE, disruption, is_pinned};
use crate::check::scene::TIE;
use crate::check::{Citation, Expectation, KARPENTER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{self, Pod};

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("KT-12"),
    promise: "Without a termination grace period a pod with do-not-disrupt blocks for ever, and is not killed",
    cite: &[Citation {
        where_: "Karpenter, Disruption, Pod-Level Controls",
        url: "https://karpenter.sh/docs/concepts/disruption/",
    }],
    level: Level::Must,
    kind: Kind::Safety,
    providers: KARPENTER,
    versions: Versions::ALL,
    always: true,
    check,
};

/// So long must a node have waited for this to mean anything.
const LONG: Duration = Duration::from_secs(120);

fn check(history: &History) -> Verdict {
    let claims = Claims::of(history);
    let mut tally = Tally::default();
    let graced = |node: &str| {
        let pool = claims.claim_of(node).and_then(|(_, track)| claims.pool_of(track.last()?));
        pool.is_none_or(|pool| disruption(pool).grace.is_some())
    };
    let killed = query::pod_deletions(history).into_iter().chain(claims.scene.evictions.iter().cloned());
    for kill in killed.filter(query::Eviction::granted) {
        let Some(track) = claims.scene.pods.get(&kill.pod) else { continue };
        let keeps = |pod: &Pod| is_pinned(pod) && !pod.ending && !pod.finished();
        let known =
            [kill.began - LATE, kill.began - TIE].into_iter().all(|at| track.at(at).is_some_and(keeps));
        let Some(pod) = track.at(kill.began - TIE).filter(|_| known) else { continue };
        if pod.node.as_deref().is_some_and(|node| !graced(node)) {
            tally.violated(format!("{} said do-not-disrupt, and was killed", kill.pod), [kill.event]);
        }
    }
    for (name, track) in claims.scene.nodes.iter().filter(|(name, _)| !graced(name)) {
        for spell in track.spells(|node| node.ending) {
            let pinned = claims.scene.occupants(name, spell.from).into_iter().any(is_pinned);
            if pinned
                && spell.spans(spell.from, spell.from + LONG)
                && claims.scene.watched(spell.from, spell.from + LONG)
            {
                tally.exercised();
            }
        }
    }
    tally.verdict("no node was going on which a pod said do-not-disrupt")
}
