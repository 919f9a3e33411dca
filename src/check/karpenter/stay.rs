//! Nodes that must stay. Three promises are this one, for different reasons.

use mock_clock::Time;

use super::claims::{Claims, DECISION, LATE, disruption};
use crate::check::scene::TIE;
use crate::check::{Tally, Verdict};
use crate::history::History;
use crate::history::query::{Claim, Pod};
use crate::terms::Consolidate;

/// What protects a node.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// Itself.
    Node,
    /// Its pods; but not one that drifted in a pool that grants a termination grace period.
    Pods,
}

/// Judges that no node is chosen while it is protected: when that was decided, and shortly before. What comes after the choice
/// protects from nothing. It was put to the test where a usable node that might have been chosen was protected for as long as it
/// would have taken to remove it.
pub(super) fn protected_nodes_stay(
    history: &History,
    though: &str,
    by: By,
    protected: impl Fn(&Claims<'_>, &str, Time) -> bool,
    never: &str,
) -> Verdict {
    let claims = Claims::of(history);
    let mut tally = Tally::default();
    for going in claims.chosen() {
        let graced = by == By::Pods && going.claim.drifted && disruption(going.pool).grace.is_some();
        let (decided, then) = (claims.decided(&going), going.call.ended + TIE);
        let was = [decided - LATE, decided - TIE].into_iter().all(|at| protected(&claims, going.node, at));
        if !graced && was && going.track.at(then).is_some() {
            tally.violated(format!("{} was told to go {though}", going.call.name), [going.call.event]);
        }
    }
    for track in claims.all.values() {
        let Some(node) = track.last().and_then(|claim| claim.node.as_deref()) else { continue };
        let Some(pool) = track.last().and_then(|claim| claims.pool_of(claim)) else { continue };
        let long = claims.after(pool).unwrap_or_default() + DECISION;
        let policy = disruption(pool);
        let consolidated = match by {
            By::Node => policy.consolidate != Consolidate::Never,
            By::Pods => policy.consolidate == Consolidate::WhenEmptyOrUnderutilized,
        };
        let drifts = by == By::Node || policy.grace.is_none();
        let may_go =
            |claim: &Claim| claim.initialized && !claim.ending && (consolidated || (drifts && claim.drifted));
        for usable in track.spells(may_go) {
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
