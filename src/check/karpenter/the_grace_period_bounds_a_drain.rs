//! KT-09. Where a pool sets a termination grace period, a node is gone at the latest that long, and half a minute, after
//! its claim began to go, whatever blocks its pods.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  claim a is told to go; its pool grants 60 s, and a pod may not leave
//! 100 s  the node of claim a is still there
//! ```
//!
//! Its subject is the claim with its node. When its time is over half a minute of calm is granted, and again as long as the
//! node stays: a subject that does not run, or what goes wrong with a call about them or about no one object, excuses until two
//! minutes after it, and the cloud for as long as it takes the machine back. Latency is none of half a minute.
//!
//! It does not catch pods that get less than their own grace.

use std::time::Duration;

use super::claims::{Claims, disruption};
use crate::check::scene::Trouble;
use crate::check::{Citation, Expectation, KARPENTER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::terms::Version;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("KT-09"),
    promise: "A node is gone when its termination grace period is over, whatever blocks it",
    cite: &[Citation {
        where_: "Karpenter, Disruption, TerminationGracePeriod",
        url: "https://karpenter.sh/docs/concepts/disruption/",
    }],
    level: Level::Must,
    kind: Kind::ScaleDown,
    providers: KARPENTER,
    versions: Versions::since(Version::new(1, 0, 0)),
    always: false,
    check,
};

/// For the calls, and for the kubelet.
const CALLS: Duration = Duration::from_secs(30);

fn check(history: &History) -> Verdict {
    let claims = Claims::of(history);
    let mut tally = Tally::default();
    for (name, track) in &claims.all {
        let pool = track.last().and_then(|claim| claims.pool_of(claim));
        let Some(grace) = pool.and_then(|pool| disruption(pool).grace) else { continue };
        let Some((node, nodes)) = claims.node_of(name) else { continue };
        for spell in track.spells(|claim| claim.ending) {
            let over = claims.taken_back(name, spell.from + grace.0, CALLS);
            let gone = nodes.seen.iter().find(|seen| seen.state.is_none()).map(|seen| seen.at);
            let until = gone.unwrap_or(claims.scene.end);
            let concerns = |trouble: &Trouble| claims.concerns(name, trouble);
            if gone.is_some_and(|gone| gone <= over + CALLS) {
                tally.exercised();
            } else if claims.scene.calm_from(over, CALLS, until, concerns).is_some() {
                tally.violated(
                    format!("{node} outlived its termination grace period of {grace}"),
                    [spell.began],
                );
            }
        }
    }
    tally.verdict("no node of a pool with a termination grace period was going")
}
