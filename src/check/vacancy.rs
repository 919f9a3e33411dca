//! How soon a node with nothing on it goes. Several promises are this one, for different nodes.

use std::time::Duration;

use mock_clock::Time;

use super::Tally;
use super::scene::Scene;
use crate::history::query::{GiveBack, Node, Spell};
use crate::terms::{Pool, SubjectOption, Timer};

/// A node of a pool with nothing on it.
pub(super) struct Vacancy<'s> {
    pub(super) node: &'s str,
    pub(super) server: u64,
    pub(super) pool: &'s Pool,
    /// While it has nothing on it, and is as ready as was asked.
    pub(super) spell: Spell,
}

/// So many empty nodes go at once at most; more take several rounds.
const AT_ONCE: usize = 10;
const DISABLED: &str = "cluster-autoscaler.kubernetes.io/scale-down-disabled";

/// All vacancies of nodes that are ready, or of nodes that are not.
pub(super) fn vacancies<'s>(scene: &'s Scene<'_>, ready: bool) -> Vec<Vacancy<'s>> {
    let mut vacancies = Vec::new();
    for (name, track) in &scene.nodes {
        for vacant in scene.vacant(name) {
            for state in track.spells(|node| node.ready == ready) {
                let from = vacant.from.max(state.from);
                let to = [vacant.to, state.to].into_iter().flatten().min();
                let pool = scene.pool_of_node(name, from).and_then(|pool| scene.pool(pool));
                let (Some(pool), Some(server)) = (pool, scene.under(name, from)) else { continue };
                if to.is_none_or(|to| from < to) {
                    let began = if vacant.from > state.from { vacant.began } else { state.began };
                    let spell = Spell { from, to, began, ended: None };
                    vacancies.push(Vacancy { node: name, server, pool, spell });
                }
            }
        }
    }
    vacancies
}

/// Judges that a vacancy ends with a give-back once it has lasted so long from `since` on. Whatever may excuse the subject
/// leaves that time out; a vacancy that goes on is judged again after it, and after a give-back that failed.
pub(super) fn goes(
    scene: &Scene<'_>,
    tally: &mut Tally,
    vacancy: &Vacancy<'_>,
    since: Time,
    lasting: Duration,
) {
    let until = vacancy.spell.to.unwrap_or(scene.end);
    let failure = scene.timer(Timer::DelayAfterFailure).unwrap_or_default();
    let (mut asked_from, mut from) = (vacancy.spell.from, since.max(vacancy.spell.from));
    while let Some(awake) = scene.awake_from(from, until) {
        let deadline = deadline(scene, awake, lasting);
        let asked: Vec<&GiveBack> = scene
            .give_backs
            .iter()
            .filter(|back| {
                back.server == vacancy.server && back.began >= asked_from && back.began <= deadline
            })
            .collect();
        if let Some(last) = asked.last() {
            tally.exercised();
            if asked.iter().any(|back| back.taken()) {
                return;
            }
            (asked_from, from) = (last.ended, last.ended + failure);
        } else if !vacancy.spell.spans(awake, deadline) {
            return;
        } else if nothing_excuses(scene, vacancy, awake, deadline) {
            let lasted = (deadline - vacancy.spell.from).as_secs();
            let says = format!(
                "{} had nothing on it for {lasted} s, and its server was not given back",
                vacancy.node
            );
            tally.violated(says, [vacancy.spell.began]);
            return;
        } else {
            (asked_from, from) = (deadline, deadline);
        }
    }
}

/// Whatever is bought puts all removals off; a node that could not go before is looked at again only after a while.
fn deadline(scene: &Scene<'_>, awake: Time, lasting: Duration) -> Time {
    let delay = scene.timer(Timer::DelayAfterAdd).unwrap_or_default();
    let recheck = scene.timer(Timer::UnremovableRecheck).unwrap_or_default();
    let taint = scene.timer(Timer::DeleteDelayAfterTaint).unwrap_or_default();
    let slack = recheck + taint + scene.slack() * 2;
    let mut ripe = awake + lasting;
    for order in &scene.orders {
        if order.began <= ripe + slack {
            ripe = ripe.max(order.ended + delay);
        }
    }
    ripe + slack
}

/// Whether somebody wants a node to stay.
pub(super) fn protects(node: &Node) -> bool {
    node.annotations.get(DISABLED).is_some_and(|value| value == "true")
}

fn nothing_excuses(scene: &Scene<'_>, vacancy: &Vacancy<'_>, from: Time, to: Time) -> bool {
    let pool = vacancy.pool;
    let spare = |at| scene.live(&pool.name, at).len() > pool.min as usize;
    let many = scene
        .nodes
        .keys()
        .filter(|node| scene.pool_of_node(node, from).is_some())
        .filter(|node| scene.vacant(node).iter().any(|spell| spell.spans(from, to)))
        .count();
    scene.calm(from, to)
        && spare(from)
        && spare(to)
        && !may_stay(scene, vacancy.node, pool, from, to)
        && many <= AT_ONCE
}

/// Whether something else than the pods on it may keep a node between two moments: somebody wants it or its pool left alone, so
/// many nodes are unready that nothing goes, or cores and memory may not become fewer.
pub(super) fn may_stay(scene: &Scene<'_>, node: &str, pool: &Pool, from: Time, to: Time) -> bool {
    let least = [SubjectOption::CoresTotal, SubjectOption::MemoryTotal];
    scene.nodes.get(node).is_some_and(|track| track.ever(from, to, protects))
        || scene.hands_off(&pool.name, from, to)
        || scene.ever_mostly_unready(from, to)
        || least.into_iter().any(|limit| has_minimum(scene, limit))
}

/// Whether a limit that is written as `min:max` has a minimum, below which nothing goes.
fn has_minimum(scene: &Scene<'_>, limit: SubjectOption) -> bool {
    scene.option(limit).is_some_and(|limit| limit.split(':').next() != Some("0"))
}
