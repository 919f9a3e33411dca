//! Drift: the template of a pool has changed what its nodes are like. Two promises are this one, for different nodes.
//!
//! The subject of the promise is the single claim, from the moment at which its pool's template says something else than when it
//! was made, for as long as it does: one that was changed back is kept, and one that becomes usable later is judged later. What
//! requirements say is left out, which may become wider without any drift.

use std::time::Duration;

use serde_json::Value;

use super::claims::{Claims, DECISION};
use crate::check::{Tally, Verdict};
use crate::history::History;
use crate::history::query::{self, Claim, NodePool, Spell, Track};
use crate::terms::Pool;

/// Which claims are judged.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// All of them. One with pods waits for its replacement.
    All,
    /// Those whose node has nothing on it but what goes with it.
    Empty,
}

/// Judges that each usable claim whose pool's template says something else now is told to go within a time, as often as budgets
/// make it wait.
pub(super) fn drift_is_mended(history: &History, which: Which, within: Duration, never: &str) -> Verdict {
    let claims = Claims::of(history);
    let pools = query::node_pools(history);
    let mut tally = Tally::default();
    for (name, track) in &claims.all {
        let pool = track.last().and_then(|claim| claims.pool_of(claim));
        let Some((pool, of)) = pool.and_then(|pool| Some((pool, pools.get(&pool.name)?))) else { continue };
        let Some((node, drifts)) = claims.node_of(name).zip(drifts(&claims, track, of)) else { continue };
        for spell in drifts {
            for free in idle(&claims, which, node.0, track) {
                judge(&claims, &mut tally, pool, (name, node.0, which), (spell, free), within);
            }
        }
    }
    tally.verdict(never)
}

/// The times for which the template of its pool says something else than when a claim was made; nothing if nobody knows.
fn drifts(claims: &Claims<'_>, claim: &Track<Claim>, pool: &Track<NodePool>) -> Option<Vec<Spell>> {
    let made = claim.first()?.at;
    let like = fixed(pool.at(made)?);
    let before = pool.at(made - claims.scene.slack());
    let known = before.is_none_or(|before| fixed(before) == like);
    known.then(|| pool.spells(|now| fixed(now) != like))
}

/// What a template says that is drift whenever it changes.
fn fixed(pool: &NodePool) -> Value {
    let mut template = pool.template.clone();
    if let Some(spec) = template.get_mut("spec").and_then(Value::as_object_mut) {
        spec.remove("requirements");
    }
    template
}

/// The times for which a claim could be used, and its node is one of those that are judged.
fn idle(claims: &Claims<'_>, which: Which, node: &str, track: &Track<Claim>) -> Vec<Spell> {
    let usable = track.spells(|claim| claim.initialized && !claim.ending);
    let vacant = match which {
        Which::All => return usable,
        Which::Empty => claims.scene.vacant(node),
    };
    let both = usable.iter().flat_map(|one| vacant.iter().filter_map(|other| meet(one, other)));
    both.collect()
}

/// The time of both.
fn meet(one: &Spell, other: &Spell) -> Option<Spell> {
    let later = if one.from < other.from { other } else { one };
    let ends = [one, other].map(|spell| spell.to.zip(spell.ended));
    let (to, ended) = ends.into_iter().flatten().min().unzip();
    to.is_none_or(|to| later.from < to).then_some(Spell { to, ended, ..*later })
}

fn judge(
    claims: &Claims<'_>,
    tally: &mut Tally,
    pool: &Pool,
    (name, node, which): (&str, &str, Which),
    (drift, free): (Spell, Spell),
    within: Duration,
) {
    let Some(spell) = meet(&drift, &free) else { return };
    let ours = claims.all.values().filter(|track| {
        track
            .at(spell.from)
            .is_some_and(|it| it.initialized && !it.ending && it.pool.as_ref() == Some(&pool.name))
    });
    let ours = ours.count().max(1);
    let Some(allowed) = Claims::allowed(pool, ours).filter(|allowed| *allowed > 0) else { return };
    let decision = within * u32::try_from(ours.div_ceil(allowed)).unwrap_or(u32::MAX);
    let until = spell.to.unwrap_or(claims.scene.end);
    let overdue = claims.overdue((pool, node), spell.from, (Duration::ZERO, decision), until, |_, to| {
        let from = to - DECISION;
        let kept = claims.kept(pool, node, from, to).max(claims.held(node, from, to));
        match which {
            Which::Empty => kept,
            Which::All => kept.max(claims.starting(pool, from, to)).max(claims.full(pool, from, to)),
        }
    });
    let went =
        claims.all[name].spells(|claim| claim.ending).first().is_some_and(|it| Some(it.from) == spell.to);
    if overdue.is_some() {
        let says = format!("{name} is not as its pool {} says, and was not told to go", pool.name);
        tally.violated(says, [drift.began]);
    } else if went {
        tally.exercised();
    }
}
