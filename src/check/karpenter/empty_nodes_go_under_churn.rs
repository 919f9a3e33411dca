//! KD-02. While new pods come again and again, and each is meant for one empty node, the others still go: of two
//! or more nodes of a pool that are empty all the time, one at least is told to go within `consolidateAfter` and two minutes.
//!
//! The smallest history that violates it:
//!
//! ```text
//!   0 s  the nodes of claims a, b and c are empty; consolidateAfter is 30 s
//! 10 s  a pod waits, and every ten seconds another
//! 150 s  no claim has been told to go
//! ```
//!
//! It does not catch that too few of them go.

use std::time::Duration;

use super::claims::Claims;
use crate::check::{Citation, Expectation, KARPENTER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;

pub(in crate::check) const EXPECTATION: Expectation = Expectation {
    code: Code::new("KD-02"),
    promise: "Empty nodes are removed though new pods keep coming",
    cite: &[
        Citation {
            where_: "Karpenter, Disruption, Empty Node Consolidation",
            url: "https://karpenter.sh/docs/concepts/disruption/",
        },
        Citation {
            where_: "kubernetes-sigs/karpenter #2206",
            url: "https://github.com/kubernetes-sigs/karpenter/issues/2206",
        },
    ],
    level: Level::Must,
    kind: Kind::ScaleDown,
    providers: KARPENTER,
    versions: Versions::ALL,
    always: false,
    check,
};

/// How long it may take beyond `consolidateAfter`.
const CHURN: Duration = Duration::from_secs(120);

fn check(history: &History) -> Verdict {
    let claims = Claims::of(history);
    let vacancies = claims.vacancies();
    let mut tally = Tally::default();
    for (spell, node, _, pool) in &vacancies {
        let Some(after) = claims.after(pool) else { continue };
        let (from, due) = (spell.from, spell.from + after + CHURN);
        let others = vacancies.iter().filter(|(other, name, _, of)| {
            name != node && of.name == pool.name && other.from <= from && other.to.is_none_or(|to| to > from)
        });
        let churn = claims
            .scene
            .pods
            .values()
            .filter(|track| track.first().is_some_and(|it| from <= it.at && it.at <= due));
        if others.count() == 0 || churn.count() < 3 || due > claims.scene.end || !claims.scene.calm(from, due)
        {
            continue;
        }
        let went = claims
            .going()
            .any(|going| going.pool.name == pool.name && from <= going.call.began && going.call.began <= due);
        if went {
            tally.exercised();
        } else if spell.spans(from, due) {
            let says = format!("{node} and others of {} were empty, and none was told to go", pool.name);
            tally.violated(says, [spell.began]);
        }
    }
    tally.verdict("no two nodes of a pool were empty while pods kept coming")
}
