//! KP-03. While no pod says that it is unschedulable, and no node with pods is going or chosen, no claim is made.
//!
//! The smallest history that violates it:
//!
//! ```text
//! 0 s  web-1 is pending, and the scheduler has said nothing of it
//! 9 s  POST /apis/karpenter.sh/v1/nodeclaims
//! ```
//!
//! Its subject is the claim that is made, each by itself. A pod that its pool could take, on a node that is going or was
//! chosen, or unschedulable within two loops before, is reason enough; an empty node that goes is none, nor are pods for other
//! pools. Two loops make up for latency.
//!
//! It does not catch claims that are made while anything else could be their reason, nor claims of a pool that somebody made by
//! hand: that may be static, and asks for nodes itself.

use super::claims::{Claims, is_chosen};
use crate::check::fit::fit;
use crate::check::scene::TIE;
use crate::check::{Citation, Expectation, KARPENTER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::Pod;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("KP-03"),
    promise: "A pod that the scheduler has not found unschedulable has nothing bought",
    cite: &[Citation {
        where_: "Karpenter, Scheduling, Scheduling",
        url: "https://karpenter.sh/docs/concepts/scheduling/",
    }],
    level: Level::Must,
    kind: Kind::ScaleUp,
    providers: KARPENTER,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    let claims = Claims::of(history);
    let mut tally = Tally::default();
    for made in claims.creations.iter().filter(|made| made.status < 300) {
        let since = made.began - claims.scene.slack();
        let pool = made.pool.as_deref().map(|pool| claims.scene.pool(pool));
        if pool.is_some_and(|known| known.is_none()) {
            continue;
        }
        let meant = |pod: &Pod| pool.flatten().is_none_or(|pool| !fit(&claims.scene, pod, pool).impossible());
        let waits = |pod: &Pod| pod.waits() && meant(pod);
        let waits = claims.scene.pods.values().any(|track| track.ever(since, made.began + TIE, waits));
        let moves = claims.scene.nodes.iter().any(|(name, track)| {
            let moved = |pod: &Pod| pod.occupies(name) && meant(pod);
            let mut pods = claims.scene.pods_on(name);
            track.ever(since, made.began + TIE, |node| node.ending || is_chosen(node))
                && pods.any(|(_, track)| track.ever(since, made.began + TIE, moved))
        });
        if waits {
            tally.exercised();
        } else if !moves {
            tally.violated(format!("{} was made though no pod was unschedulable", made.name), [made.event]);
        }
    }
    tally.verdict("no claim was made")
}
