//! For whom an order was placed, and for whom it cannot have been.

use std::time::Duration;

use mock_clock::Time;

use super::fit::{Fit, Misfit, fit, need};
use super::scene::{Scene, TIE};
use super::{Tally, Verdict};
use crate::history::History;
use crate::history::query::{DISRUPTED_TAINTS, Node, Order, Pod, Spell, Track};
use crate::terms::{Pool, Provider, SubjectOption, Timer};

/// Orders without the repetitions that a client makes of one and the same.
pub(super) fn first_attempts<'s>(scene: &'s Scene<'_>) -> impl Iterator<Item = &'s Order> {
    scene.orders.iter().enumerate().filter_map(|(index, order)| {
        let again =
            scene.orders[..index].iter().any(|earlier| !order.name.is_empty() && earlier.name == order.name);
        (!again).then_some(order)
    })
}

/// The pods that were waiting when an order was decided, with the events that show them: two loops and a few calls back at most.
/// One that was nominated for a part of that time was not for another.
pub(super) fn waiting<'s>(scene: &'s Scene<'_>, order: &Order) -> Vec<(&'s Pod, usize)> {
    let (from, to) = (order.began - scene.slack(), order.began + TIE);
    let waited = |track: &'s Track<Pod>| {
        let spell = waits(track).into_iter().find(|spell| spell.touches(from, to))?;
        Some((track.at(spell.from)?, spell.began))
    };
    scene.pods.values().filter_map(waited).collect()
}

/// When a pod waited, first without being nominated, then being so.
fn waits(track: &Track<Pod>) -> Vec<Spell> {
    let spells = |nominated: bool| track.spells(move |pod| pod.waits() && pod.nominated == nominated);
    [false, true].into_iter().flat_map(spells).collect()
}

/// Those of them for which it may have been placed: pods that its pool can never take have nothing to do with it.
pub(super) fn candidates<'s>(scene: &'s Scene<'_>, order: &Order, pool: &Pool) -> Vec<(&'s Pod, usize)> {
    let mut waiting = waiting(scene, order);
    waiting.retain(|(pod, _)| !fit(scene, pod, pool).impossible());
    waiting
}

/// Whether an order may have been placed to reach the minimum of its pool.
pub(super) fn fills_minimum(scene: &Scene<'_>, order: &Order, pool: &Pool) -> bool {
    let before = scene.live(&pool.name, order.began);
    scene.is_on(SubjectOption::EnforceMin) && before.len() < pool.min as usize + 1
}

/// Judges that pods which do not fit a pool for one reason have nothing bought there: an order there convicts if all that
/// waited were impossible there, one of them for this reason. `matters` can leave out pods.
pub(super) fn never_bought_for(
    history: &History,
    misfit: Misfit,
    everywhere: bool,
    promise: &str,
    never: &str,
) -> Verdict {
    super::scene::timed(history, [Timer::ReactionTime], |scene, [reaction]| {
        let mut tally = Tally::default();
        for order in first_attempts(scene) {
            let Some(pool) = order.pool.as_deref().and_then(|pool| scene.pool(pool)) else { continue };
            let waiting = waiting(scene, order);
            let fits: Vec<Fit> = waiting.iter().map(|(pod, _)| fit(scene, pod, pool)).collect();
            let sure =
                !waiting.is_empty() && fits.iter().all(Fit::impossible) && !fills_minimum(scene, order, pool);
            let convicts = |((pod, _), fit): &(&(&Pod, usize), &Fit)| {
                fit.fails_by(misfit) && (!everywhere || hopeless(scene, pod))
            };
            if sure && let Some(((pod, event), _)) = waiting.iter().zip(&fits).find(convicts) {
                let says = format!(
                    "{} was ordered in {} for nobody but {}, {promise}",
                    order.name,
                    pool.name,
                    pod.key()
                );
                tally.violated(says, [*event, order.event]);
            }
        }
        for track in scene.pods.values() {
            for spell in waits(track) {
                let Some(pod) = track.at(spell.from) else { continue };
                let fails = scene.pools().iter().any(|pool| fit(scene, pod, pool).fails_by(misfit));
                let until = spell.from + reaction + scene.slack();
                let relevant = fails && (!everywhere || hopeless(scene, pod));
                let waited = spell.spans(spell.from, until) && scene.watched(spell.from, until);
                // Where machines come at once, pods do not wait that long: what was bought for them tells as much.
                let served = || {
                    let soon = spell.to.is_some_and(|to| to < until);
                    let for_it = |order: &Order| {
                        let pool = order.pool.as_deref().and_then(|pool| scene.pool(pool));
                        spell.covers(order.began)
                            && pool.is_some_and(|pool| !fit(scene, pod, pool).impossible())
                    };
                    soon && !everywhere && scene.orders.iter().any(for_it)
                };
                if relevant && (waited || served()) {
                    tally.exercised();
                }
            }
        }
        tally.verdict(never)
    })
}

/// Whether no pool could ever host a pod.
pub(super) fn hopeless(scene: &Scene<'_>, pod: &Pod) -> bool {
    scene.pools().iter().all(|pool| fit(scene, pod, pool).impossible())
}

/// If an order is one too many for the pods that wait: those before it in its pool whose servers are on their way, and suffice.
pub(super) fn one_too_many<'s>(
    scene: &'s Scene<'_>,
    order: &Order,
    pool: &Pool,
    provision: Duration,
) -> Option<Vec<&'s Order>> {
    // What is given back in the same moment was not counted on; nobody knows that before the moment is over.
    let moment = order.began + TIE;
    if scene.end < moment {
        return None;
    }
    let waiting = waiting(scene, order);
    let waits = waiting.iter().any(|(pod, _)| !fit(scene, pod, pool).impossible());
    let pods: Vec<&Pod> = waiting.iter().map(|(pod, _)| *pod).chain(displaced(scene, order)).collect();
    let upcoming = scene.upcoming(order.began, provision);
    let coming: Vec<&Order> = upcoming
        .into_iter()
        .filter(|(_, server)| !scene.given_back(*server, moment))
        .map(|(other, _)| other)
        .filter(|other| other.pool == order.pool && knew_of(order, other))
        .filter(|other| !spoilt(scene, other, &pods, pool, order.began))
        .collect();
    let suffices = waits
        && !coming.is_empty()
        && coming.len() >= need(scene, &pods, pool).max(1)
        && !fills_minimum(scene, order, pool);
    suffices.then_some(coming)
}

/// Judges that an order is not one too many.
pub(super) fn not_one_too_many(
    scene: &Scene<'_>,
    tally: &mut Tally,
    order: &Order,
    pool: &Pool,
    provision: Duration,
) {
    if let Some(coming) = one_too_many(scene, order, pool, provision) {
        let says =
            format!("{} was ordered in {}, though what was on its way sufficed", order.name, pool.name);
        tally.violated(says, coming.iter().map(|order| order.event).chain([order.event]));
    }
}

/// The pods of nodes that go, which Karpenter makes room for as well.
fn displaced<'s>(scene: &'s Scene<'_>, order: &Order) -> Vec<&'s Pod> {
    if scene.history.header.subject.provider != Provider::Karpenter {
        return Vec::new();
    }
    let goes = |node: &Node| node.ending || DISRUPTED_TAINTS.iter().any(|taint| node.has_taint(taint));
    let (from, to) = (order.began - scene.slack(), order.began + TIE);
    let going = scene.nodes.iter().filter(|(_, track)| track.ever(from, to, goes));
    let on = |(name, _): (&'s String, _)| scene.occupants(name, order.began - TIE);
    going.flat_map(on).collect()
}

/// Whether somebody has tainted the node of an order meanwhile, so that none of the pods would go there.
fn spoilt(scene: &Scene<'_>, order: &Order, pods: &[&Pod], pool: &Pool, at: Time) -> bool {
    let nodes = scene.server_of(order).into_iter().flat_map(|server| scene.nodes_on(server));
    nodes.filter_map(|(_, track)| track.at(at)).any(|node| {
        node.taints.iter().any(|taint| {
            let declared = pool.taints.iter().chain(&pool.startup_taints).any(|of| of.key == taint.key);
            let passing = ["node.kubernetes.io/", "node.cloudprovider.kubernetes.io/", "karpenter.sh/"];
            !declared
                && taint.effect != "PreferNoSchedule"
                && !passing.iter().any(|group| taint.key.starts_with(group))
                && !pods.iter().any(|pod| pod.tolerations.iter().any(|it| it.tolerates(taint)))
        })
    })
}

/// Whether who placed an order can have known of another one: of what another replica is just doing nobody knows.
pub(super) fn knew_of(order: &Order, other: &Order) -> bool {
    other.replica == order.replica || other.ended + TIE < order.began
}
