//! KD-01. A usable node with nothing on it but daemons is told to go once `consolidateAfter` has passed since
//! the last pod left it, plus the time of a decision; as many times that as its pool has nodes, if budgets let them go one
//! after the other.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  the last pod leaves the node of claim a; consolidateAfter is 60 s
//! 125 s  claim a has not been told to go
//! ```
//!
//! Its subject is the node, for each spell of being empty, ready and unprotected; it is judged again as long as that goes on.
//! An excuse lasts as long as its reason: a subject that does not run, or was refused something (two minutes longer), pods that
//! wait and might be meant for this pool, others of the pool that have used up its budgets, a daemon's pod that may not be
//! disrupted. While a claim of its pool has no machine yet that is one, too, and for half a minute one of another pool. Latency
//! is none of a minute.
//!
//! It does not catch nodes with pods that could move elsewhere.

use std::time::Duration;

use mock_clock::Time;

use super::claims::{Claims, DECISION};
use crate::check::{Citation, Expectation, KARPENTER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{Claim, Pod, Spell, Track};
use crate::terms::Pool;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("KD-01"),
    promise: "A node that has been empty for consolidateAfter is removed",
    cite: &[
        Citation {
            where_: "Karpenter, Disruption, Consolidation",
            url: "https://karpenter.sh/docs/concepts/disruption/",
        },
        Citation {
            where_: "Karpenter, NodePools, spec.disruption",
            url: "https://karpenter.sh/docs/concepts/nodepools/",
        },
        Citation {
            where_: "kubernetes-sigs/karpenter #2033",
            url: "https://github.com/kubernetes-sigs/karpenter/issues/2033",
        },
    ],
    level: Level::Must,
    kind: Kind::ScaleDown,
    providers: KARPENTER,
    versions: Versions::ALL,
    always: true,
    check,
};

fn check(history: &History) -> Verdict {
    let claims = Claims::of(history);
    let mut tally = Tally::default();
    for vacancy in claims.vacancies() {
        let (spell, node, ..) = &vacancy;
        let until = spell.to.unwrap_or(claims.scene.end);
        if let Some(due) = overdue(&claims, &vacancy, until) {
            let lasted = (due - spell.from).as_secs();
            tally.violated(format!("{node} was empty for {lasted} s, and was not told to go"), [spell.began]);
        } else if spell.ended.is_some() && goes(&claims, vacancy.3).is_some() && told(&claims, node, until) {
            tally.exercised();
        }
    }
    tally.verdict("no node of a claim was empty for long enough")
}

/// When a node of a pool that is empty is overdue, before a moment; nothing if it is not.
pub(super) fn overdue(
    claims: &Claims<'_>,
    (spell, node, _, pool): &(Spell, &str, &Track<Claim>, &Pool),
    until: Time,
) -> Option<Time> {
    let after = goes(claims, pool)?;
    let of_pool = |track: &&Track<Claim>| {
        track.at(spell.from).is_some_and(|claim| claim.pool.as_deref() == Some(pool.name.as_str()))
    };
    let nodes = claims.all.values().filter(of_pool).count().max(1);
    let allowed = Claims::allowed(pool, nodes).filter(|allowed| *allowed > 0)?;
    let decision = DECISION * u32::try_from(nodes.div_ceil(allowed)).unwrap_or(u32::MAX);
    claims.overdue((pool, node), spell.from, (after, decision), until, |from, to| {
        claims.kept(pool, node, from, to).max(claims.held_by(node, from, to, Pod::resident))
    })
}

/// After how long empty nodes of a pool go; nothing if they need not.
fn goes(claims: &Claims<'_>, pool: &Pool) -> Option<Duration> {
    claims.after(pool).filter(|_| Claims::allowed(pool, 1).is_some_and(|allowed| allowed > 0))
}

/// Whether the claim of a node was told to go before a moment.
fn told(claims: &Claims<'_>, node: &str, until: Time) -> bool {
    claims.going().any(|going| going.node == node && going.call.began <= until)
}
