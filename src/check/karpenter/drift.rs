//! Drift: the template of a pool has changed what its nodes are like. Two promises are this one, for different nodes.

use std::time::Duration;

use mock_clock::Time;

use super::claims::{Claims, is_pinned, is_protected};
use super::stay::blocked;
use crate::check::{Tally, Verdict};
use crate::history::History;
use crate::history::query;

/// Judges that each usable claim of a pool whose template has changed is told to go within a time, as often as budgets make it
/// wait. `within` chooses the nodes, and says how long each may take.
pub(super) fn drift_is_mended(
    history: &History,
    within: impl Fn(&Claims<'_>, &str, Time) -> Option<Duration>,
    never: &str,
) -> Verdict {
    let claims = Claims::of(history);
    let mut tally = Tally::default();
    for (pool, track) in query::node_pools(history) {
        for pair in track.seen.windows(2) {
            let [before, now] = pair else { continue };
            let (Some(old), Some(new)) = (&before.state, &now.state) else { continue };
            if old.template == new.template {
                continue;
            }
            judge(&claims, &mut tally, &pool, (now.at, now.event), &within);
        }
    }
    tally.verdict(never)
}

fn judge(
    claims: &Claims<'_>,
    tally: &mut Tally,
    pool: &str,
    (at, event): (Time, usize),
    within: &impl Fn(&Claims<'_>, &str, Time) -> Option<Duration>,
) {
    let ours = claims.all.iter().filter(|(_, track)| {
        track.at(at).is_some_and(|it| it.initialized && !it.ending && it.pool.as_deref() == Some(pool))
    });
    let ours: Vec<_> = ours.collect();
    let allowed = claims.scene.pool(pool).and_then(|pool| Claims::allowed(pool, ours.len()));
    let Some(allowed) = allowed.filter(|allowed| *allowed > 0) else { return };
    let rounds = u32::try_from(ours.len().div_ceil(allowed)).unwrap_or(u32::MAX);
    for (name, track) in ours {
        let Some(node) = track.at(at).and_then(|claim| claim.node.as_deref()) else { continue };
        let Some(window) = within(claims, node, at) else { continue };
        let due = at + window * rounds;
        let ends = track.spells(|claim| claim.ending).first().map(|spell| spell.from);
        if ends.is_some_and(|ends| ends <= due) {
            tally.exercised();
        } else if due <= claims.scene.end && claims.scene.calm(at, due) && !must_stay(claims, node, at, due) {
            let says = format!("{name} is not as its pool {pool} says, and was not told to go");
            tally.violated(says, [event]);
        }
    }
}

/// Whether anything kept a node at any moment between two.
fn must_stay(claims: &Claims<'_>, node: &str, from: Time, to: Time) -> bool {
    let kept = |at: Time| {
        blocked(claims, node, at)
            || claims.scene.occupants(node, at).into_iter().any(is_pinned)
            || claims.scene.nodes.get(node).and_then(|track| track.at(at)).is_some_and(is_protected)
    };
    claims.scene.changes_on(node, from, to).into_iter().any(kept)
}
