//! How soon something is bought for a pod that waits. Several promises are this one, put to the test in different ways.

use std::time::Duration;

use mock_clock::Time;

use super::Tally;
use super::fit::fit;
use super::scene::{Scene, TIE};
use crate::history::What;
use crate::history::query::{Order, Pod, Spell};
use crate::terms::{Api, Pool, SubjectOption, Timer};

/// Judges for each pod that waits, and is chosen, that something is bought within `window` and the slack. Left out is whatever
/// may excuse the subject: it did not run, was refused something, stood in an order, has capacity on the way, is at a
/// limit, or in back-off; or no pool takes the pod for certain.
pub(super) fn reactions(scene: &Scene<'_>, window: Duration, chosen: impl Fn(&Pod, &Spell) -> bool) -> Tally {
    let mut tally = Tally::default();
    for track in scene.pods.values() {
        for spell in track.spells(Pod::waits) {
            let Some(pod) = track.at(spell.from).filter(|pod| chosen(pod, &spell)) else { continue };
            let until = spell.to.unwrap_or(scene.end);
            let Some(awake) = scene.awake_from(spell.from, until) else {
                // Who was served by a process that has just started was served in time.
                let served = |order: &&Order| spell.from <= order.began + TIE && order.began <= until;
                if until <= spell.from + window + scene.slack() && scene.orders.iter().any(|it| served(&it)) {
                    tally.exercised();
                }
                continue;
            };
            let ripe = awake.max(ripe(scene, pod).unwrap_or(awake));
            let deadline = ripe + window + scene.slack();
            let ordered = |order: &&Order| spell.from <= order.began + TIE && order.began <= deadline;
            if scene.orders.iter().any(|order| ordered(&order)) {
                tally.exercised();
            } else if spell.spans(spell.from, deadline) && nothing_excuses(scene, pod, ripe, deadline) {
                let waited = (deadline - ripe).as_secs();
                let says = format!("{} waited {waited} s for a node, and nothing was ordered", pod.key());
                tally.violated(says, [spell.began]);
            }
        }
    }
    tally
}

/// When a pod has the age at which anything is bought for it.
pub(super) fn ripe(scene: &Scene<'_>, pod: &Pod) -> Option<Time> {
    let own = pod.annotations.get("cluster-autoscaler.kubernetes.io/pod-scale-up-delay");
    let own = own.and_then(|delay| delay.parse::<crate::terms::Period>().ok()).map(|period| period.0);
    let delay = own.unwrap_or_default().max(scene.timer(Timer::NewPodScaleUpDelay).unwrap_or_default());
    pod.created.map(|created| created + delay)
}

fn nothing_excuses(scene: &Scene<'_>, pod: &Pod, from: Time, to: Time) -> bool {
    let limits = [SubjectOption::MaxNodesTotal, SubjectOption::CoresTotal, SubjectOption::MemoryTotal];
    let coming = |at| !scene.upcoming(at, Duration::MAX).is_empty() || settling(scene, at);
    scene.free(from, to)
        && limits.iter().all(|limit| scene.option(*limit).is_none())
        && !coming(from)
        && !coming(to)
        && !has_room(scene, pod, from)
        && !has_room(scene, pod, to)
        && !scene.mostly_unready(from)
        && !misses_an_image(scene, from, to)
        && scene.pools().iter().any(|pool| takes(scene, pool, pod, from, to))
}

/// Whether it asked for an image and then ordered nothing: that image is not there, and the pool in back-off.
fn misses_an_image(scene: &Scene<'_>, from: Time, to: Time) -> bool {
    let backoff = scene.timer(Timer::BackoffMax).unwrap_or_default();
    let ordered = |asked: Time| {
        scene.orders.iter().any(|order| asked <= order.began && order.began <= asked + scene.slack())
    };
    scene.history.events.iter().filter(|event| from - backoff <= event.at && event.at <= to).any(|event| {
        match &event.what {
            What::Call(call) => {
                call.to == Api::Cloud && call.path.ends_with("/images") && !ordered(call.began)
            }
            _ => false,
        }
    })
}

/// Whether a node of a pool is there that is not ready, or was not shortly before, or a server whose node is missing: it counts
/// as on its way.
fn settling(scene: &Scene<'_>, at: Time) -> bool {
    let has_node = |server: &u64| scene.nodes_on(*server).any(|(_, node)| node.at(at).is_some());
    let servers = scene.pools().iter().flat_map(|pool| scene.live(&pool.name, at));
    let mut nodeless = servers.filter(|server| !has_node(server));
    nodeless.next().is_some()
        || scene.nodes.iter().any(|(name, track)| {
            let in_pool = scene.pool_of_node(name, at).is_some();
            in_pool && track.ever(at - scene.slack(), at, |node| !node.ready)
        })
}

/// Whether a node that is there might take a pod, whatever the scheduler says of it.
fn has_room(scene: &Scene<'_>, pod: &Pod, at: Time) -> bool {
    scene.nodes.iter().any(|(name, track)| {
        let Some(node) = track.at(at).filter(|node| node.takes_pods()) else { return false };
        let used = scene.asked_of(name, at);
        pod.selector.iter().all(|(key, value)| node.labels.get(key) == Some(value))
            && used.cpu_milli + pod.asks.cpu_milli <= node.room.cpu_milli
            && used.memory_mib + pod.asks.memory_mib <= node.room.memory_mib
    })
}

/// Whether a pool would take a pod for certain: it fits, there is room to the maximum, and no reason to leave it alone.
pub(super) fn takes(scene: &Scene<'_>, pool: &Pool, pod: &Pod, from: Time, to: Time) -> bool {
    let backoff = scene.timer(Timer::BackoffMax).unwrap_or(Duration::MAX);
    let full = |at| {
        scene.servers.values().filter(|track| in_pool(track.at(at), &pool.name)).count()
            >= scene.max(pool, at) as usize
    };
    fit(scene, pod, pool).sure()
        && !full(from)
        && !full(to)
        && !scene.hands_off(&pool.name, from, to)
        && !scene.may_back_off(&pool.name, from - backoff, to)
}

fn in_pool(server: Option<&crate::history::query::Server>, pool: &str) -> bool {
    server.is_some_and(|server| server.pool.as_deref() == Some(pool))
}

/// Pools other than the one of an order that take all pods for which it may have been placed.
pub(super) fn rivals<'s>(scene: &'s Scene<'_>, order: &'s Order) -> Vec<&'s Pool> {
    let waiting = super::causes::waiting(scene, order);
    let takes_all = |pool: &&Pool| {
        let takes = |pod: &Pod| takes(scene, pool, pod, order.began - TIE, order.began);
        waiting.iter().all(|(pod, _)| takes(pod))
    };
    let others = scene.pools().iter().filter(|pool| Some(pool.name.as_str()) != order.pool.as_deref());
    if waiting.is_empty() { Vec::new() } else { others.filter(takes_all).collect() }
}
