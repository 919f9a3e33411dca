//! Pods that would keep their node, but are freed: then it goes. Several promises are this one, for different reasons.
//!
//! The subject of the promise is the node. While it has the same pods, it is judged again after a time for which the subject was
//! excused: it did not run, was refused something, or ordered. A node that is protected itself, or used by what goes with it,
//! stays.

use std::time::Duration;

use mock_clock::Time;

use super::Tally;
use super::scene::Scene;
use super::vacancy::may_stay;
use crate::history::query::{GiveBack, Node, Pod};
use crate::terms::Timer;

/// Judges that a node with nothing but freed pods, which fit together into what is free on another ready node, is given back
/// once that has lasted: for the unneeded time, the recheck and the drain.
pub(super) fn let_go(
    scene: &Scene<'_>,
    tally: &mut Tally,
    lasting: Duration,
    freed: impl Fn(&Scene<'_>, &Pod, Time) -> bool,
    by: &str,
) {
    let lasting = lasting + scene.timer(Timer::DelayAfterAdd).unwrap_or_default() + scene.slack() * 2;
    for (name, track) in &scene.nodes {
        for spell in track.spells(|node| node.ready) {
            let changes = scene.changes_on(name, spell.from, spell.to.unwrap_or(scene.end));
            for (index, change) in changes.iter().enumerate() {
                let next = changes.get(index + 1).copied().unwrap_or(*change);
                let mut from = scene.awake_from(*change, scene.end);
                while let Some(since) =
                    from.filter(|from| alone(scene, name, *from, &freed) && spell.covers(*from))
                {
                    let until = since + lasting;
                    let decided = decide(scene, tally, name, (since, until), &freed, by);
                    from = if decided || until >= next { None } else { scene.awake_from(until, scene.end) };
                }
            }
        }
    }
}

/// Whether neither a budget nor a wish of its own keeps a pod where it is.
pub(super) fn unprotected(scene: &Scene<'_>, pod: &Pod, at: Time) -> bool {
    let strict = scene.budgets.values().any(|track| {
        let refuses = |allowed: Option<i64>| allowed.is_none_or(|allowed| allowed <= 0);
        track.at(at).is_some_and(|budget| budget.obscure || (budget.covers(pod) && refuses(budget.allowed)))
    });
    !strict && !pod.picky
}

/// Judges a node with nothing but freed pods between two moments, if that can be told.
fn decide(
    scene: &Scene<'_>,
    tally: &mut Tally,
    node: &str,
    (from, until): (Time, Time),
    freed: &impl Fn(&Scene<'_>, &Pod, Time) -> bool,
    by: &str,
) -> bool {
    let Some(server) = scene.under(node, from) else { return false };
    let Some(pool) = scene.pool_of_node(node, from).and_then(|pool| scene.pool(pool)) else { return false };
    let asked = |back: &GiveBack| back.server == server && back.began >= from && back.began <= until;
    if scene.give_backs.iter().any(asked) {
        tally.exercised();
        return true;
    }
    let steady = scene.changes_on(node, from, until).into_iter().all(|at| alone(scene, node, at, freed));
    let spare = scene.live(&pool.name, from).len() > pool.min as usize;
    let ordered = scene.orders.iter().any(|order| order.began >= from && order.began <= until);
    let kept = may_stay(scene, node, pool, from, until);
    let calm = !ordered && !kept && scene.calm(from, until);
    let judged = steady && spare && calm && room_elsewhere(scene, node, from, until);
    if judged {
        let shows = scene.pods_on(node).filter_map(|(_, pod)| pod.sight(from)).map(|seen| seen.event).max();
        tally.violated(format!("{node} was kept by {by}"), shows);
    }
    judged
}

/// Whether there are pods on a node, and all of them are freed.
fn alone(scene: &Scene<'_>, node: &str, at: Time, freed: &impl Fn(&Scene<'_>, &Pod, Time) -> bool) -> bool {
    let pods = scene.occupants(node, at);
    !pods.is_empty()
        && pods.iter().all(|pod| freed(scene, pod, at))
        && scene
            .nodes
            .get(node)
            .and_then(|track| track.at(at))
            .is_some_and(|state| little_used(scene, node, state, at))
}

/// Whether the pods on a node ask for less than the threshold, with all that may go with it.
fn little_used(scene: &Scene<'_>, node: &str, state: &Node, at: Time) -> bool {
    let (asked, resident, threshold) = (scene.asked_of(node, at), scene.residents, scene.threshold());
    (asked.cpu_milli + resident.cpu_milli) * 100 < state.room.cpu_milli * threshold
        && (asked.memory_mib + resident.memory_mib) * 100 < state.room.memory_mib * threshold
}

/// Whether another node without taints had room for all pods of a node all the time.
fn room_elsewhere(scene: &Scene<'_>, node: &str, from: Time, until: Time) -> bool {
    let asked = scene.asked_of(node, from);
    let picky = scene.occupants(node, from).iter().any(|pod| !pod.selector.is_empty() || pod.apart);
    let resident = scene.residents;
    !picky
        && scene.nodes.iter().filter(|(other, _)| *other != node).any(|(other, track)| {
            let mut moments = scene.changes_on(other, from, until).into_iter();
            moments.all(|at| {
                let used = scene.asked_of(other, at);
                track.at(at).is_some_and(|state| {
                    state.takes_pods()
                        && used.cpu_milli + asked.cpu_milli + resident.cpu_milli <= state.room.cpu_milli
                        && used.memory_mib + asked.memory_mib + resident.memory_mib <= state.room.memory_mib
                })
            })
        })
}
