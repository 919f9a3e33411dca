//! Nodes that must stay. Three promises are this one, for different reasons.

use mock_clock::Time;

use super::claims::{Claims, DECISION};
use crate::check::scene::TIE;
use crate::check::{Tally, Verdict};
use crate::history::History;
use crate::history::query::Pod;

/// Judges that no node is chosen while it is protected, shortly before its claim is told to go and then. It was put to the test
/// where a usable node was protected for as long as it would have taken to remove it.
pub(super) fn protected_nodes_stay(
    history: &History,
    though: &str,
    protected: impl Fn(&Claims<'_>, &str, Time) -> bool,
    never: &str,
) -> Verdict {
    let claims = Claims::of(history);
    let mut tally = Tally::default();
    for going in claims.chosen() {
        let graced = going.claim.drifted && super::claims::disruption(going.pool).grace.is_some();
        let (before, then) = (going.call.began - TIE, going.call.ended + TIE);
        if !graced && protected(&claims, going.node, before) && going.track.at(then).is_some() {
            tally.violated(format!("{} was told to go {though}", going.call.name), [going.call.event]);
        }
    }
    for track in claims.all.values() {
        let Some(node) = track.last().and_then(|claim| claim.node.as_deref()) else { continue };
        let Some(pool) = track.last().and_then(|claim| claims.pool_of(claim)) else { continue };
        let long = claims.after(pool).unwrap_or_default() + DECISION;
        for usable in track.spells(|claim| claim.initialized && !claim.ending) {
            let until = usable.to.unwrap_or(claims.scene.end);
            let moments = claims.scene.changes_on(node, usable.from, until);
            let began = moments.iter().copied().find(|at| protected(&claims, node, *at));
            // It may have been protected before anybody looked.
            let Some((began, from)) = began.and_then(|at| Some((at, claims.scene.awake_from(at, until)?)))
            else {
                continue;
            };
            let over = from + long;
            let kept = moments.iter().filter(|at| began <= **at && **at <= over);
            if over <= until
                && kept.copied().all(|at| protected(&claims, node, at))
                && claims.scene.watched(from, over)
            {
                tally.exercised();
            }
        }
    }
    tally.verdict(never)
}

/// Whether a disruption budget keeps a pod on a node.
pub(super) fn blocked(claims: &Claims<'_>, node: &str, at: Time) -> bool {
    claims.scene.occupants(node, at).into_iter().any(|pod| is_blocked(claims, pod, at))
}

/// Whether a disruption budget covers a pod and lets none go.
pub(super) fn is_blocked(claims: &Claims<'_>, pod: &Pod, at: Time) -> bool {
    let blocks = |budget: &crate::history::query::Budget| budget.covers(pod) && budget.allowed == Some(0);
    claims
        .scene
        .budgets
        .values()
        .any(|track| track.at(at).is_some_and(blocks) && track.at(at - TIE).is_some_and(blocks))
}
