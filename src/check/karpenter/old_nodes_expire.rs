//! KT-11. Where a pool says how old its nodes may become, each claim is told to go at that age, and within half a
//! minute of it.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  claim a is made; its pool says expireAfter 300 s
//! 360 s  claim a has not been told to go
//! ```
//!
//! Its subject is the claim, by its own age. It is judged again until it goes: a subject that does not run, or what goes wrong
//! with a call about this claim or about no one object, excuses until two minutes after it, a start until a minute after it.
//! Latency is none of half a minute.
//!
//! It does not catch claims that are told to go before for other reasons.

use std::time::Duration;

use super::claims::{Claims, disruption};
use crate::check::scene::{TIE, Trouble};
use crate::check::{Citation, Expectation, KARPENTER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::terms::Version;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("KT-11"),
    promise: "A node is removed when it is as old as its pool lets it become",
    cite: &[Citation {
        where_: "Karpenter, Disruption, Expiration",
        url: "https://karpenter.sh/docs/concepts/disruption/",
    }],
    level: Level::Must,
    kind: Kind::ScaleDown,
    providers: KARPENTER,
    versions: Versions::since(Version::new(1, 0, 0)),
    always: false,
    check,
};

/// A look, and the calls.
const LOOK: Duration = Duration::from_secs(30);

fn check(history: &History) -> Verdict {
    let claims = Claims::of(history);
    let mut tally = Tally::default();
    for (name, track) in &claims.all {
        let Some(claim) = track.first().and_then(|seen| seen.state.as_ref()) else { continue };
        let pool = claims.pool_of(claim);
        let age = pool.and_then(|pool| disruption(pool).expire_after);
        let Some((created, age)) = claim.created.zip(age) else { continue };
        let due = created + age.0 + LOOK;
        let ends = track.spells(|claim| claim.ending).first().map(|spell| spell.from);
        let gone = track.seen.iter().find(|seen| seen.state.is_none()).map(|seen| seen.at);
        let end = [ends, gone].into_iter().flatten().min();
        if end.is_some_and(|end| created + age.0 <= end + TIE && end <= due) {
            tally.exercised();
            continue;
        }
        let concerns = |trouble: &Trouble| claims.concerns(name, trouble);
        let until = end.unwrap_or(claims.scene.end);
        if claims.scene.calm_from(created + age.0, LOOK, until, concerns).is_some() {
            let event = track.first().map(|seen| seen.event);
            tally.violated(format!("{name} is older than its pool lets it become"), event);
        }
    }
    tally.verdict("no node became as old as its pool lets it")
}
