//! KD-20. A change of weight, limits or disruption of a pool, while its template stays as it is, makes none of its
//! claims drift within six minutes.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  the weight of the pool of claim a is changed
//! 60 s  claim a says Drifted
//! ```
//!
//! Its subject is the claim, for each change of its own pool. Excused for good is a claim whose template was another at any
//! time since it was made: that may be why. Drift that comes up to six minutes after the change counts, so latency makes none.
//!
//! It does not catch changes of requirements, which may be drift.

use std::time::Duration;

use mock_clock::Time;

use super::claims::Claims;
use crate::check::{Citation, Expectation, KARPENTER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("KD-20"),
    promise: "Weight, limits and disruption of a pool never make its nodes drift",
    cite: &[Citation {
        where_: "Karpenter, Disruption, Drift",
        url: "https://karpenter.sh/docs/concepts/disruption/",
    }],
    level: Level::Must,
    kind: Kind::Config,
    providers: KARPENTER,
    versions: Versions::ALL,
    always: false,
    check,
};

/// How long it takes until every claim has been looked at.
const LOOKED: Duration = Duration::from_secs(360);

fn check(history: &History) -> Verdict {
    let claims = Claims::of(history);
    let mut tally = Tally::default();
    for (name, track) in query::node_pools(history) {
        for pair in track.seen.windows(2) {
            let [before, now] = pair else { continue };
            let (Some(old), Some(new)) = (&before.state, &now.state) else { continue };
            let until = now.at + LOOKED;
            if old.template != new.template || old.behaviour == new.behaviour {
                continue;
            }
            let first = track.first().map_or(now.at, |seen| seen.at);
            let same = |since: Time| {
                let since = first.max(since - claims.scene.slack());
                track.always(since, until.min(claims.scene.end), |pool| pool.template == old.template)
            };
            for (claim, track) in &claims.all {
                let ours =
                    track.at(now.at).is_some_and(|it| it.pool.as_deref() == Some(&*name) && !it.drifted);
                // What its template was like before may be why it drifted.
                if !ours || !track.first().is_some_and(|seen| same(seen.at)) {
                    continue;
                }
                let drifted = track.spells(|claim| claim.drifted);
                if let Some(spell) = drifted.iter().find(|spell| now.at < spell.from && spell.from <= until) {
                    let says = format!("{claim} drifted, though only the behaviour of {name} had changed");
                    tally.violated(says, [now.event, spell.began]);
                } else if claims.scene.watched(now.at, until) {
                    tally.exercised();
                }
            }
        }
    }
    tally.verdict("nothing but the behaviour of a pool with claims was ever changed")
}
