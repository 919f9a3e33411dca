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
//! Its subject is the pool: two of its nodes at least that are empty all the time. It is judged again in each such time that
//! the same node is empty. Excused is a subject that did not run or was refused something, a pool none of whose nodes may go,
//! or whose budgets others have used up, and a launch. Latency is none of two minutes.
//!
//! It does not catch that too few of them go.

use std::time::Duration;

use mock_clock::Time;

use super::claims::Claims;
use crate::check::scene::Trouble;
use crate::check::{Citation, Expectation, KARPENTER, Kind, Level, Tally, Verdict, Versions};
use crate::code::Code;
use crate::history::History;
use crate::history::query::{Claim, Pod, Spell, Track};
use crate::terms::Pool;

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
    for vacancy in &vacancies {
        let (spell, node, _, pool) = vacancy;
        let Some(long) = claims.after(pool).map(|after| after + CHURN) else { continue };
        let concerns = |trouble: &Trouble| claims.concerns_choice(pool, node, trouble);
        let mut from = spell.from;
        while let Some(at) = claims.scene.calm_from(from, long, claims.scene.end, concerns) {
            if spell.to.is_some_and(|to| to <= at) {
                break;
            }
            from = at + long;
            judge(&claims, &mut tally, &vacancies, vacancy, (at, from));
        }
    }
    tally.verdict("no two nodes of a pool were empty while pods kept coming")
}

type Vacancy<'c> = (Spell, &'c str, &'c Track<Claim>, &'c Pool);

fn judge(
    claims: &Claims<'_>,
    tally: &mut Tally,
    vacancies: &[Vacancy<'_>],
    (spell, node, _, pool): &Vacancy<'_>,
    (from, due): (Time, Time),
) {
    let of_pool = |(_, name, _, of): &&Vacancy<'_>| name != node && of.name == pool.name;
    let others = || vacancies.iter().filter(of_pool).map(|(other, ..)| other);
    let churn = claims.scene.pods.values().filter(|track| {
        let comes = track.first().is_some_and(|it| from <= it.at && it.at <= due);
        comes && !track.last().is_some_and(Pod::resident)
    });
    let nodes = others().filter(|other| other.covers(from)).count();
    if nodes == 0 || churn.count() < 3 {
        return;
    }
    let went = claims.going().any(|going| {
        let at = going.call.began;
        let was_empty = vacancies.iter().any(|(spell, name, ..)| *name == going.node && spell.from <= at);
        going.pool.name == pool.name && was_empty && from <= at && at <= due
    });
    if went {
        tally.exercised();
        return;
    }
    let may_go = Claims::allowed(pool, nodes + 1).is_some_and(|allowed| allowed > 0);
    let kept =
        claims.kept_whoever_waits(pool, node, from, due).max(claims.held_by(node, from, due, Pod::resident));
    if may_go && kept.is_none() && spell.spans(from, due) && others().any(|other| other.spans(from, due)) {
        let says = format!("{node} and others of {} were empty, and none was told to go", pool.name);
        tally.violated(says, [spell.began]);
    }
}
