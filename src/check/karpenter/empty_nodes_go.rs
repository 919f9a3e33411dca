//! KD-01. A usable node with nothing on it but daemons is told to go once `consolidateAfter` has passed since
//! the last pod left it, plus the time of a decision; as many times that as its pool has nodes, if budgets let them go one
//! after the other. Excused is a subject that does not run, is refused something, or has pods that wait; and while a claim of
//! its pool has no machine yet, or for half a minute one of another pool.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  the last pod leaves the node of claim a; consolidateAfter is 60 s
//! 125 s  claim a has not been told to go
//! ```
//!
//! It does not catch nodes with pods that could move elsewhere.

use mock_clock::Time;

use super::claims::{Claims, DECISION};
use crate::check::{Citation, Expectation, KARPENTER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{Claim, Spell, Track};
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
        let Some(due) = due(&claims, &vacancy) else { continue };
        let (spell, node, ..) = &vacancy;
        if spell.to.is_some_and(|to| to <= due) {
            if spell.ended.is_some() && told(&claims, node, due) {
                tally.exercised();
            }
            continue;
        }
        let from = spell.from;
        if claims.scene.calm(from, due)
            && !claims.pods_wait(due - DECISION, due)
            && !claims.launching(&vacancy.3.name, due - DECISION, due)
        {
            let says = format!("{node} was empty for {} s, and was not told to go", (due - from).as_secs());
            tally.violated(says, [spell.began]);
        }
    }
    tally.verdict("no node of a claim was empty for long enough")
}

/// When an empty node must have been told to go; nothing if it need not.
pub(super) fn due(
    claims: &Claims<'_>,
    (spell, _, _, pool): &(Spell, &str, &Track<Claim>, &Pool),
) -> Option<Time> {
    let after = claims.after(pool)?;
    let of_pool = |track: &&Track<Claim>| {
        track.at(spell.from).is_some_and(|claim| claim.pool.as_deref() == Some(pool.name.as_str()))
    };
    let nodes = claims.all.values().filter(of_pool).count().max(1);
    let allowed = Claims::allowed(pool, nodes).filter(|allowed| *allowed > 0)?;
    let rounds = u32::try_from(nodes.div_ceil(allowed)).unwrap_or(u32::MAX);
    let awake = claims.scene.awake_from(spell.from, claims.scene.end)?;
    let due = awake + after + DECISION * rounds;
    (due <= claims.scene.end).then_some(due)
}

/// Whether the claim of a node was told to go before a moment.
fn told(claims: &Claims<'_>, node: &str, due: Time) -> bool {
    claims.going().any(|going| going.node == node && going.call.began <= due)
}
